"""The CFileSet: the base image of a DiskRowSet, its key index and bloom filter.

Kudu's `tablet/cfile_set.h`. Columns are CFiles of one container, named by column id; a column that
the file lacks, because it was added later, reads as its read default. Rows are sorted by key, so a
key is found by bloom filter, then the sparse key index, then a binary search of each key column
within the index's interval.

A major delta compaction writes newer CFiles of some columns to a file of their own, laid over the
base: row ids stay, so any column can be read from whichever file has its newest image.
"""

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

import numpy as np
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.bloom_filter import BloomFilter
from pykudu_sql.storage.cfile.cfile_reader import CFileReader
from pykudu_sql.storage.cfile.column_runs import ColumnRuns
from pykudu_sql.storage.cfile.container import ContainerReader, FileIdentity
from pykudu_sql.storage.cfile.decoded.coded_column import CodedColumn
from pykudu_sql.storage.cfile.decoded.decoded_cells import ColumnMemory
from pykudu_sql.storage.cfile.footer import CFileEntry
from pykudu_sql.storage.cfile.key_index import KeyIndex
from pykudu_sql.storage.cfile.skip_index import SkipIndex, blob_name, equality_values
from pykudu_sql.storage.cfile.zone_map import ZoneMap
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.predicate.column_predicate import Leaf
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.arrays import constant_array
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.common.types.validity_array import all_valid
from pykudu_sql.storage.common.types.widening import in_type, is_related
from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.delta.patched_columns import PatchedColumns
from pykudu_sql.storage.tablet.rowset.base_rows import BaseRows
from pykudu_sql.storage.tablet.rowset.rowset import KeyProbe

BLOOM = "bloom"
KEY_INDEX = "key_index"
_CODE_BYTES = 2
_OFFSET_BYTES = 4
# So many keys are searched for among keys in memory without a question to the bloom filter.
_FEW_KEYS = 256
# Lists of columns by which rows are read.
_COLUMN_LISTS = 32

_Parsed = TypeVar("_Parsed")


@dataclass(frozen=True, slots=True)
class OverlayFile:
    """A file with newer CFiles of some columns.

    Attributes:
        identity: what its checksums cover besides the bytes.
        column_ids: the columns to read from it.
    """

    path: str
    identity: FileIdentity
    column_ids: Collection[int]


class CFileSet:
    """Base data of one rowset, opened on first use. Safe for threads.

    Attributes:
        rows: of every column.
        path: of the base file.
        patched_columns: those with the newest deltas applied.
    """

    def __init__(
        self,
        env: Env,
        path: str,
        identity: FileIdentity,
        key_columns: Sequence[ColumnSchema],
        rows: int,
        cache: BlockCache,
        overlays: Sequence[OverlayFile] = (),
    ) -> None:
        """Describe the files; nothing is read yet.

        Args:
            identity: what its checksums cover besides the bytes.
            rows: in the file.
            cache: keeps decoded blocks and the encoded keys.
            overlays: files laid over the base file; the last that has a column counts.
        """
        self.rows = rows
        self.path = path
        self._env = env
        self._identity = identity
        self._key_columns = tuple(key_columns)
        self._cache = cache
        self._overlays = tuple(overlays)
        self._readers: dict[str, ContainerReader] = {}
        self._columns: dict[int, CFileReader | None] = {}
        self._decoded: dict[int, int] = {}
        self._skips: dict[int, SkipIndex | None] = {}
        self._bloom: BloomFilter | None = None
        self._index: KeyIndex | None = None
        # By the identity of the columns' tuple, which each of them holds.
        self._base_rows: dict[int, BaseRows] = {}
        self.patched_columns = PatchedColumns(cache)

    @property
    def container(self) -> ContainerReader:
        """The open base file. Raises CorruptionError: its footer is not what was written."""
        return self._open(self.path, self._identity)

    def _open(self, path: str, identity: FileIdentity) -> ContainerReader:
        reader = self._readers.get(path)
        if reader is None:
            opened = ContainerReader.open(self._env, path, identity, self._cache)
            reader = self._readers.setdefault(path, opened)
            if reader is not opened:
                opened.close()
        return reader

    def close(self) -> None:
        """Close the files; the set is not used afterwards."""
        for reader in self._readers.values():
            reader.close()

    def cfile(self, column_id: int) -> CFileReader | None:
        """The newest CFile of a column, None when there is none.

        Raises CorruptionError: it is not what was written, an overlay lacks it, or it is of the key
        and missing.
        """
        if column_id not in self._columns:
            self._columns[column_id] = self._find_cfile(column_id)
        return self._columns[column_id]

    def is_ordered_by(self, column_id: int) -> bool:
        """Whether the cells of a column are integers of 64 bits or fewer, and ascend."""
        first = self._key_columns[0]
        return first.id == column_id and first.type.has_one_word

    def _find_cfile(self, column_id: int) -> CFileReader | None:
        name = str(column_id)
        container = self._newest_file(column_id)
        is_key = any(column.id == column_id for column in self._key_columns)
        if name not in container.names():
            if is_key or container is not self.container:
                what = "key column" if is_key else "column"
                raise CorruptionError(f"{container.path}: {what} {column_id} is missing")
            return None
        reader = container.cfile(name)
        if reader.row_count != self.rows:
            raise CorruptionError(
                f"{container.path}: column {column_id} has {reader.row_count} rows "
                f"instead of {self.rows}"
            )
        if is_key and reader.null_count:
            raise CorruptionError(f"{container.path}: key column {column_id} has NULLs")
        return reader

    def entry(self, column_id: int) -> CFileEntry | None:
        """The footer's entry of the newest CFile of a column; its index is not read.

        Raises CorruptionError: the footer is not what was written.
        """
        return self._newest_file(column_id).entry(str(column_id))

    def decoded_bytes(self, column: ColumnSchema) -> int:
        """Bytes of a column in memory; its index is not read.

        Raises CorruptionError: the footer is not what was written.
        """
        if not column.type.is_variable:
            return self.rows * column.type.width
        size = self._decoded.get(column.id)
        if size is None:
            size = self._decoded[column.id] = self._decoded_texts(column.id)
        return size

    def _decoded_texts(self, column_id: int) -> int:
        entry = self.entry(column_id)
        if entry is None:
            return 0
        if entry.dictionary is not None:
            return entry.rows * _CODE_BYTES
        return entry.raw_size + entry.rows * _OFFSET_BYTES

    def _newest_file(self, column_id: int) -> ContainerReader:
        """The file that has the newest image of a column, if any has one."""
        for overlay in reversed(self._overlays):
            if column_id in overlay.column_ids:
                return self._open(overlay.path, overlay.identity)
        return self.container

    def excludes(self, leaf: Leaf) -> bool:
        """Whether a skip index excludes that any base cell satisfies a comparison.

        Raises CorruptionError: the index is not what was written.
        """
        key_values = equality_values(leaf)
        skip = None if key_values is None else self.skip_index(leaf.column_id)
        return skip is not None and key_values is not None and skip.excludes(key_values)

    def skip_index(self, column_id: int) -> SkipIndex | None:
        """The skip index of a column's newest image, None where it was written without."""
        if column_id not in self._skips:
            self._skips[column_id] = self._find_skip_index(column_id)
        return self._skips[column_id]

    def _find_skip_index(self, column_id: int) -> SkipIndex | None:
        cfile, container = self.cfile(column_id), self._newest_file(column_id)
        name = blob_name(column_id)
        if cfile is None or name not in container.blob_names():
            return None
        try:
            return SkipIndex.from_bytes(container.blob(name), cfile.type)
        except CorruptionError as error:
            raise CorruptionError(f"{container.path}: {name}: {error.message}") from error

    def _cfile_of(self, column: ColumnSchema) -> CFileReader | None:
        """The newest CFile of a column, of a type that the column has or had or got later."""
        cfile = self.cfile(column.id)
        # Types parsed from one text are one object, and comparing takes ten times as long.
        if cfile is None or cfile.type is column.type or is_related(cfile.type, column.type):
            return cfile
        raise CorruptionError(
            f"{self.path}: column '{column.name}' of type {column.type} is stored as {cfile.type}"
        )

    def column(
        self, column: ColumnSchema, start: int, stop: int, stats: ScanStats | None = None
    ) -> pa.Array:
        """The base cells of rows start <= ordinal < stop."""
        cfile = self._cfile_of(column)
        if cfile is None:
            return constant_array(column.read_default, column.type, stop - start)
        is_whole = start == 0 and stop == self.rows
        cells = cfile.read_all(stats) if is_whole else cfile.read_range(start, stop, stats)
        return cells if cfile.type is column.type else in_type(cells, column.type.arrow)

    def validity(
        self, column: ColumnSchema, start: int, stop: int, stats: ScanStats | None = None
    ) -> pa.BooleanArray:
        """Where the base cells of rows start <= ordinal < stop are NULL; see `validity_array`."""
        cfile = self._cfile_of(column)
        if cfile is not None:
            return cfile.validity(start, stop, stats)
        if column.read_default is None:
            return pa.nulls(stop - start, pa.bool_())
        return all_valid(stop - start)

    def take_memory(self, column: ColumnSchema) -> ColumnMemory | None:
        """The memory of a whole column that was read; see `CFileReader.take_memory`.

        None also where its cells have another type than the column.
        """
        cfile = self._cfile_of(column)
        return None if cfile is None or cfile.type != column.type else cfile.take_memory()

    def column_once(
        self, column: ColumnSchema, start: int, stop: int, stats: ScanStats | None = None
    ) -> pa.Array:
        """The base cells of rows start <= ordinal < stop, for who passes over them only once."""
        cfile = self._cfile_of(column)
        if cfile is None:
            return constant_array(column.read_default, column.type, stop - start)
        return in_type(cfile.read_once(start, stop, stats), column.type.arrow)

    def take(
        self, column: ColumnSchema, ordinals: Ordinals, stats: ScanStats | None = None
    ) -> pa.Array:
        """The base cells of some rows.

        `ordinals`: ascending; `stats`: counts the blocks that had to be decoded.
        """
        cfile = self._cfile_of(column)
        if cfile is None:
            return constant_array(column.read_default, column.type, len(ordinals))
        return in_type(cfile.take(ordinals, stats), column.type.arrow)

    def take_once(
        self, column: ColumnSchema, ordinals: Ordinals, stats: ScanStats | None = None
    ) -> pa.Array:
        """The base cells of some rows, as `take`, for who passes over the column only once."""
        cfile = self._cfile_of(column)
        if cfile is None:
            return constant_array(column.read_default, column.type, len(ordinals))
        return in_type(cfile.take_once(ordinals, stats), column.type.arrow)

    def runs(self, column: ColumnSchema, stats: ScanStats | None = None) -> ColumnRuns | None:
        """The base cells of a column as runs, None where they are not kept so."""
        cfile = self._cfile_of(column)
        runs = None if cfile is None else cfile.runs(stats)
        return None if runs is None else runs.in_type(column.type.arrow)

    def coded(self, column: ColumnSchema, start: int, stop: int) -> CodedColumn | None:
        """The base cells of rows start <= ordinal < stop in codes, None where no memory has them.

        None also where its cells have another type than the column.
        """
        cfile = self._cfile_of(column)
        return None if cfile is None or cfile.type != column.type else cfile.coded(start, stop)

    def words(self, column: ColumnSchema) -> pa.Array | None:
        """At least the values that a column's base cells have, None without a dictionary."""
        cfile = self._cfile_of(column)
        if cfile is None:
            return constant_array(column.read_default, column.type, 1)
        return cfile.words()

    def cells(self, columns: Sequence[ColumnSchema], ordinal: int) -> tuple[Cell, ...]:
        """The base cells of one row.

        `columns`: where they are the same tuple at each call, rows asked for often are kept.
        """
        rows = self._base_rows.get(id(columns))
        if rows is None or rows.columns is not columns:
            rows = self._rows_of(columns)
        return rows.read(ordinal)

    def _rows_of(self, columns: Sequence[ColumnSchema]) -> BaseRows:
        """The base cells of some columns, row by row."""
        cfiles = [self._cfile_of(column) for column in columns]
        rows = BaseRows(columns, cfiles, self.path, self._cache)
        if isinstance(columns, tuple):
            if len(self._base_rows) >= _COLUMN_LISTS:
                self._base_rows.clear()
            self._base_rows[id(columns)] = rows
        return rows

    def zone_map(self, column_id: int) -> ZoneMap | None:
        """The zone map of a column, None when the file lacks it."""
        cfile = self.cfile(column_id)
        return None if cfile is None else cfile.zone_map

    @property
    def bloom(self) -> BloomFilter:
        """The bloom filter over the encoded keys."""
        if self._bloom is None:
            self._bloom = self._parse(BLOOM, BloomFilter.from_bytes)
        return self._bloom

    @property
    def key_index(self) -> KeyIndex:
        """The sparse index over the encoded keys."""
        if self._index is None:
            self._index = self._parse(KEY_INDEX, self._parse_key_index)
        return self._index

    def _parse(self, name: str, parse: Callable[[bytes], _Parsed]) -> _Parsed:
        try:
            return parse(self.container.blob(name))
        except CorruptionError as error:
            raise CorruptionError(f"{self.path}: {name}: {error.message}") from error

    def _parse_key_index(self, data: bytes) -> KeyIndex:
        index = KeyIndex.from_bytes(data)
        if index.rows != self.rows or index.min_key > index.max_key:
            raise CorruptionError(f"it is over {index.rows} rows instead of {self.rows}")
        return index

    def keys(self) -> EncodedKeys:
        """All encoded keys, ascending."""
        cached = self._cached_keys()
        if cached is not None:
            return cached
        columns = {c.id: self.column(c, 0, self.rows) for c in self._key_columns}
        keys = KeyEncoder(self._key_columns).encode(columns)
        self._cache.put((self.path, "keys"), keys, keys.nbytes)
        return keys

    def _cached_keys(self) -> EncodedKeys | None:
        """All encoded keys if the cache has them."""
        cached = self._cache.get((self.path, "keys"))
        return cached if isinstance(cached, EncodedKeys) else None

    def find_one(self, probe: KeyProbe) -> int:
        """The ordinal of a key, or -1.

        The first rowset that is asked for a key is as a rule the one that has it: if its keys are
        in memory, they are searched at once. Of more rowsets most do not have it, which their bloom
        filters say sooner.
        """
        if not probe.was_sought:
            probe.was_sought = True
            ordinal = self._find_in_memory(probe)
            if ordinal is not None:
                return ordinal
        if not self.bloom.may_contain_one(probe.hash):
            return -1
        start, stop = self.key_index.find_range(probe.encoded)
        last = self._key_columns[-1]
        opened = self._columns
        for column, cell in zip(self._key_columns, probe.cells, strict=True):
            cfile = opened.get(column.id)
            if cfile is None or cfile.type is not column.type:
                cfile = self._key_cfile(column)
            start = cfile.search(cell, start, stop, "left")
            if start == stop or cfile.cell(start) != cell:
                return -1
            if column is not last:
                stop = cfile.search(cell, start, stop, "right")
        return start

    def _find_in_memory(self, probe: KeyProbe) -> int | None:
        """The ordinal of a key, or -1; None where more than decoded cells of one column say it."""
        if len(self._key_columns) > 1:
            return None
        column = self._key_columns[0]
        cfile = self._columns.get(column.id)
        if cfile is None or cfile.type is not column.type:
            cfile = self._key_cfile(column)
        ordinal = cfile.find_in_column(probe.cells[0])
        if ordinal is not None:
            return ordinal
        index = self._index or self.key_index
        start, stop = index.find_range(probe.encoded)
        return cfile.find_in_memory(probe.cells[0], start, stop)

    def _key_cfile(self, column: ColumnSchema) -> CFileReader:
        cfile = self._cfile_of(column)
        if cfile is None:
            raise CorruptionError(f"{self.path}: key column '{column.name}' is missing")
        return cfile

    def find(self, keys: EncodedKeys) -> Ordinals:
        """The ordinals of keys, or -1, int64[n]."""
        if len(keys) <= _FEW_KEYS:
            cached = self._cached_keys()
            if cached is not None:  # to ask the bloom filter first costs as much
                return cached.search(keys)
        ordinals = np.full(len(keys), -1, np.int64)
        maybe = np.flatnonzero(self.bloom.may_contain(keys.hash64()))
        if len(maybe):
            ordinals[maybe] = self.keys().search(keys.take(maybe))
        return ordinals
