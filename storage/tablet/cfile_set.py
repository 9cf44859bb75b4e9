"""The CFileSet: the base image of a DiskRowSet, its key index and bloom filter.

Kudu's `tablet/cfile_set.h`. Columns are CFiles of one container, named by column id; a column that
the file lacks, because it was added later, reads as its read default. Rows are sorted by key, so a
key is found by bloom filter, then the sparse key index, then a binary search of each key column
within the index's interval.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.bloom_filter import BloomFilter
from pykudu_sql.storage.cfile.cfile_reader import CFileReader
from pykudu_sql.storage.cfile.container import ContainerReader, FileIdentity
from pykudu_sql.storage.cfile.key_index import KeyIndex
from pykudu_sql.storage.cfile.zone_map import ZoneMap
from pykudu_sql.storage.common.arrays import constant_array
from pykudu_sql.storage.common.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.key_encoder import KeyEncoder
from pykudu_sql.storage.common.schema import ColumnSchema
from pykudu_sql.storage.common.types import Cell
from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.tablet.delta_store import Ordinals
from pykudu_sql.storage.tablet.rowset import KeyProbe

BLOOM = "bloom"
KEY_INDEX = "key_index"


class CFileSet:
    """Base data of one rowset, opened on first use. Safe for threads."""

    def __init__(
        self,
        env: Env,
        path: str,
        identity: FileIdentity,
        key_columns: Sequence[ColumnSchema],
        rows: int,
        cache: BlockCache,
    ) -> None:
        """Describe the base file; nothing is read yet.

        Args:
            env: the disk.
            path: of the base file.
            identity: what its checksums cover besides the bytes.
            key_columns: of the table, in key order.
            rows: in the file.
            cache: keeps decoded blocks and the encoded keys.
        """
        self.rows = rows
        self.path = path
        self._env = env
        self._identity = identity
        self._key_columns = tuple(key_columns)
        self._cache = cache
        self._reader: ContainerReader | None = None
        self._columns: dict[int, CFileReader | None] = {}
        self._bloom: BloomFilter | None = None
        self._index: KeyIndex | None = None

    @property
    def container(self) -> ContainerReader:
        """The open base file.

        Raises:
            CorruptionError: its footer is not what was written.
        """
        if self._reader is None:
            self._reader = ContainerReader.open(self._env, self.path, self._identity, self._cache)
        return self._reader

    def close(self) -> None:
        """Close the file; the set is not used afterwards."""
        if self._reader is not None:
            self._reader.close()

    def cfile(self, column_id: int) -> CFileReader | None:
        """The CFile of a column, None when the file has none."""
        if column_id not in self._columns:
            name = str(column_id)
            container = self.container
            found = container.cfile(name) if name in container.names() else None
            self._columns[column_id] = found
        return self._columns[column_id]

    def column(self, column: ColumnSchema, start: int, stop: int) -> pa.Array:
        """The base cells of rows start <= ordinal < stop."""
        cfile = self.cfile(column.id)
        if cfile is None:
            return constant_array(column.read_default, column.type, stop - start)
        if start == 0 and stop == self.rows:
            return cfile.read_all()
        return cfile.read_range(start, stop)

    def cell(self, column: ColumnSchema, ordinal: int) -> Cell:
        """One base cell."""
        cfile = self.cfile(column.id)
        return column.read_default if cfile is None else cfile.cell(ordinal)

    def zone_map(self, column_id: int) -> ZoneMap | None:
        """The zone map of a column, None when the file lacks it."""
        cfile = self.cfile(column_id)
        return None if cfile is None else cfile.zone_map

    @property
    def bloom(self) -> BloomFilter:
        """The bloom filter over the encoded keys."""
        if self._bloom is None:
            self._bloom = BloomFilter.from_bytes(self.container.blob(BLOOM))
        return self._bloom

    @property
    def key_index(self) -> KeyIndex:
        """The sparse index over the encoded keys."""
        if self._index is None:
            self._index = KeyIndex.from_bytes(self.container.blob(KEY_INDEX))
        return self._index

    def keys(self) -> EncodedKeys:
        """All encoded keys, ascending."""
        cached = self._cache.get((self.path, "keys"))
        if isinstance(cached, EncodedKeys):
            return cached
        columns = {c.id: self.column(c, 0, self.rows) for c in self._key_columns}
        keys = KeyEncoder(self._key_columns).encode(columns)
        self._cache.put((self.path, "keys"), keys, keys.nbytes)
        return keys

    def find_one(self, probe: KeyProbe) -> int:
        """The ordinal of a key, or -1."""
        if not self.bloom.may_contain_one(probe.hash):
            return -1
        start, stop = self.key_index.find_range(probe.encoded)
        for column, cell in zip(self._key_columns, probe.cells, strict=True):
            cfile = self._key_cfile(column)
            start = cfile.search(cell, start, stop, "left")
            if start == stop or cfile.cell(start) != cell:
                return -1
            if column is not self._key_columns[-1]:
                stop = cfile.search(cell, start, stop, "right")
        return start

    def _key_cfile(self, column: ColumnSchema) -> CFileReader:
        cfile = self.cfile(column.id)
        if cfile is None:
            raise CorruptionError(f"{self.path}: key column '{column.name}' is missing")
        return cfile

    def find(self, keys: EncodedKeys) -> Ordinals:
        """The ordinals of keys, or -1, int64[n]."""
        found = np.full(len(keys), -1, np.int64)
        maybe = np.flatnonzero(self.bloom.may_contain(keys.hash64()))
        if len(maybe):
            found[maybe] = self.keys().search(keys.take(maybe))
        return found
