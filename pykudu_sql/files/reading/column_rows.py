"""Parquet, ORC and Arrow files as batches of rows; a batch at a time is in memory."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from pykudu_sql.files.file_access import PermittedFile
from pykudu_sql.files.formats import FileKind
from pykudu_sql.files.reading.row_files import FileBatch, positions_of
from pykudu_sql.files.reading.typed_values import check_family, read_values
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.row_allowance import rows_within
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import DataError

_BATCH_ROWS, _BATCH_BYTES = 1 << 16, 16 << 20
_LONGEST_ORC_TAIL = 256
_ORC_VERSION, _ORC_VERSIONS = 4, ((0, 11), (0, 12), (1, 9999))
_FORMAT_NAMES = {"parquet": "Parquet", "orc": "ORC", "arrow": "Arrow"}


def _check_orc_version(source: pa.NativeFile) -> None:
    """Raise ArrowInvalid: a file is of a version of ORC for which its reader prints a warning."""
    source.seek(max(0, source.size() - _LONGEST_ORC_TAIL))
    tail: bytes = source.read()
    source.seek(0)
    version: list[int] = []
    try:
        numbers = iter(tail[-1 - tail[-1] : -1])  # the postscript, a message of Protocol Buffers
        while (key := _varint(numbers)) is not None:
            value = _varint(numbers) or 0
            of_version = key >> 3 == _ORC_VERSION
            if key & 7 == 2:
                inner = iter([next(numbers) for _ in range(value)])
                while of_version and (part := _varint(inner)) is not None:
                    version.append(part)
            elif of_version:
                version.append(value)
    except (IndexError, StopIteration):
        return  # the reader says what is wrong
    if len(version) == 2 and tuple(version) not in _ORC_VERSIONS:
        raise pa.ArrowInvalid(f"version {version[0]}.{version[1]} of ORC is not known")


def _varint(numbers: Iterator[int]) -> int | None:
    """The next number; None at the end. Raises StopIteration: it is cut."""
    number, shift = next(numbers, None), 7
    if number is None or number < 0x80:
        return number
    number &= 0x7F
    while (more := next(numbers)) >= 0x80:
        number, shift = number | (more & 0x7F) << shift, shift + 7
    return number | more << shift


class ColumnFile:
    """A file that has types.

    Attributes:
        name: for messages.
        schema: of its rows.
        names: of its columns.
        bytes_read: about how much of it the rows so far took.
    """

    def __init__(self, file: PermittedFile, file_format: str) -> None:
        """Open it. Raises DataError: it is damaged."""
        self.name = file.name
        self._format = file_format
        self._span = file.span
        self._source = pa.OSFile(file.path)
        self._size = int(self._source.size())
        self.bytes_read = self._parts = 0
        try:
            self._file = self._opened()
            own_schema = getattr(self._file, "schema_arrow", None) or self._file.schema
            self.names: Sequence[str] = own_schema.names
        except (pa.ArrowException, OSError, UnicodeError) as error:
            self.close()
            raise self._damaged(error) from None
        self.schema: pa.Schema = own_schema

    def _opened(self) -> Any:
        if self._format == "parquet":
            from pyarrow.parquet import ParquetFile

            return ParquetFile(self._source, pre_buffer=False)
        if self._format == "orc":
            from pyarrow.orc import ORCFile

            _check_orc_version(self._source)
            return ORCFile(self._source)
        try:
            return pa.ipc.open_file(self._source)
        except pa.ArrowInvalid:
            self._source.seek(0)
            return pa.ipc.open_stream(self._source)

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The columns of some names, of all rows. Raises DataError: the file is damaged."""
        try:
            for batch in self._read(names):
                selected = batch.select(names)
                selected.validate(full=True)  # Arrow's readers take offsets and texts as they are
                yield selected
        except (pa.ArrowException, OSError, UnicodeError) as error:
            raise self._damaged(error) from None

    def _read(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        if self._format == "parquet":
            whole = self._file.metadata.num_rows
            groups = None if self._span is None else range(*self._span)
            for batch in self._file.iter_batches(self._batch_rows(), groups, columns=names):
                self._note(batch.num_rows, whole)
                yield batch
        elif self._format == "orc":
            for stripe in range(self._file.nstripes):
                whole = self._file.read_stripe(stripe, columns=names)
                self._note(1, self._file.nstripes)
                for start in range(0, whole.num_rows, _BATCH_ROWS):
                    yield whole.slice(start, _BATCH_ROWS)
        elif isinstance(self._file, pa.RecordBatchFileReader):
            for index in range(self._file.num_record_batches):
                self._note(1, self._file.num_record_batches)
                yield self._file.get_batch(index)
        else:
            for batch in self._file:
                self.bytes_read = int(self._source.tell())
                yield batch

    def _note(self, parts: int, whole: int) -> None:
        """So many more of the parts that the file has are read: of rows, stripes or batches."""
        self._parts += parts
        self.bytes_read = self._size * self._parts // whole

    def _batch_rows(self) -> int:
        """Rows of a batch, by the bytes that those of the widest row group take unpacked."""
        metadata = self._file.metadata
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        widest = max((g.total_byte_size / max(1, g.num_rows) for g in groups), default=0)
        return rows_within(_BATCH_BYTES, widest, _BATCH_ROWS)

    def _damaged(self, error: Exception) -> DataError:
        if "nanosecond resolution" in str(error):
            return DataError(
                f"'{self.name}' has times that are read of Parquet only: {error!s:.200}",
                hint="ORC files are read with times of 1677-09-21 to 2262-04-11",
                sqlstate="22008",
            )
        return DataError(
            f"'{self.name}' cannot be read as {_FORMAT_NAMES[self._format]}: {error!s:.200}",
            hint="it is damaged, or of another format: (FORMAT ..) says which",
        )

    def close(self) -> None:
        """Give it up. Closing twice is allowed."""
        self._source.close()


class ColumnRows:
    """The rows of a file that has types; a `RowFile`."""

    def __init__(
        self,
        file: PermittedFile,
        kind: FileKind,
        table: TableInfo,
        requested_columns: Sequence[ColumnSchema] | None,
    ) -> None:
        """Open a file and read its schema.

        Raises DataError: it is damaged; UndefinedColumnError, InvalidSchemaError: see
        `positions_of` and `check_family`.
        """
        self.count = 0
        self._file = ColumnFile(file, kind.format)
        schema = self._file.schema
        try:
            positions = positions_of(self._file.names, table, requested_columns, file.name)
            for index, column in positions:
                check_family(column, schema.field(index).type, file.name)
        except BaseException:
            self.close()
            raise
        self.columns: Sequence[ColumnSchema] = [column for _, column in positions]
        self._names = [self._file.names[index] for index, _ in positions]

    def batches(self) -> Iterator[FileBatch]:
        for batch in self._file.batches(self._names):
            first, self.count = self.count, self.count + batch.num_rows
            yield FileBatch(batch.columns, np.arange(first, self.count))

    @property
    def bytes_read(self) -> int:
        return self._file.bytes_read

    def values(self, array: pa.Array, column: ColumnSchema) -> pa.Array:
        return read_values(array, column)

    def lines(self, records: Sequence[int]) -> Mapping[int, int]:
        return {}

    def close(self) -> None:
        self._file.close()
