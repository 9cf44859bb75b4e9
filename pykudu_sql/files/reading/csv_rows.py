"""CSV as batches of texts (RFC 4180), by Arrow's parser.

Nothing is inferred: cells are read as bytes, and `text_values` makes values of them. An empty cell
is NULL, a quoted one the empty text. Behind the last line the parser is given one more, that it is
to report: where a quote is never closed it does not, for it leaves out unfinished rows silently.
Then the first line of that record is no row, and another parser begins behind it (`source_lines`).
"""

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from pykudu_sql.files.file_access import PermittedFile
from pykudu_sql.files.formats import FileKind
from pykudu_sql.files.reading.row_files import (
    BLOCK_BYTES,
    FileBatch,
    TornRow,
    positions_of,
    torn_row,
)
from pykudu_sql.files.reading.source_lines import CsvWalk, record_lines
from pykudu_sql.files.reading.source_stream import (
    CsvStream,
    SourceStream,
    escaped,
    restored,
    restored_array,
)
from pykudu_sql.files.reading.text_values import NOT_UTF_8, read_texts
from pykudu_sql.files.text_head import header_names, likely_delimiter, without_mark
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import DataError, UndefinedColumnError

_HEADER_BYTES = 1 << 20
_UNCLOSED = f"a quote is not closed, or a row takes more than {BLOCK_BYTES >> 20} MiB"


class CsvRows:
    """The rows of a CSV file; a `RowFile`."""

    def __init__(
        self,
        file: PermittedFile,
        kind: FileKind,
        table: TableInfo,
        requested_columns: Sequence[ColumnSchema] | None,
    ) -> None:
        """Open a file and read its header.

        Raises UndefinedColumnError, InvalidSchemaError: see `positions_of`; DataError: there is no
        header where one must be.
        """
        self.count = 0
        self.columns: Sequence[ColumnSchema] = ()
        self._path = file.path
        self._name = file.name
        self._kind = kind
        self._stream = self._open()
        try:
            head = self._head()
            names = None
            if kind.options.header:
                names, used = self._header(head, {c.name for c in table.schema.visible_columns})
                head = head[used:]
            self._names = [] if names is None else names
            if names is None:
                self.columns = (
                    table.schema.visible_columns
                    if requested_columns is None
                    else tuple(requested_columns)
                )
                self._positions: Sequence[int] = range(len(self.columns))
                self._width = len(self.columns)
            else:
                positions = self._positions_of(names, table, requested_columns)
                self.columns = tuple(column for _, column in positions)
                self._positions = [position for position, _ in positions]
                self._width = len(names)
        except BaseException:
            self._stream.close()
            raise
        self._marker = uuid4().hex + kind.delimiter * self._width
        self._source = CsvStream(head, self._stream, self._marker)
        self._torn: list[TornRow] = []
        self._first = 0
        self._good = 0
        self._truncated_records: list[int] = []
        self._walk: CsvWalk | None = None
        self._is_complete = False

    def _head(self) -> bytes:
        try:
            head: bytes = self._stream.read(_HEADER_BYTES)
        except OSError as error:
            raise self._packed(error) from None
        return without_mark(head, self._name)

    def _packed(self, error: OSError) -> DataError:
        return DataError(f"'{self._name}' cannot be unpacked: {error!s:.200}")

    def _header(self, head: bytes, columns: Collection[str]) -> tuple[list[str], int]:
        """The names in the first line that is not blank, and the bytes up to its end."""
        used = 0

        def lines() -> Iterator[str]:
            nonlocal used
            for line in head.splitlines(keepends=True):
                used += len(line)
                yield line.decode()

        try:
            reader = csv.reader(
                lines(), delimiter=self._kind.delimiter, quotechar=self._kind.options.quote
            )
            names = next((cells for cells in reader if cells), None)
        except (UnicodeDecodeError, csv.Error) as error:
            raise DataError(
                f"the header of '{self._name}' cannot be read: {error}",
                hint=NOT_UTF_8 if isinstance(error, UnicodeDecodeError) else None,
            ) from None
        if names is None:
            raise DataError(
                f"'{self._name}' is empty, and its first line is to name the columns",
                hint="say (HEADER false) for files without such a line",
            )
        return header_names(names, columns), used

    def _positions_of(
        self,
        names: Sequence[str],
        table: TableInfo,
        requested_columns: Sequence[ColumnSchema] | None,
    ) -> list[tuple[int, ColumnSchema]]:
        """`positions_of`, whose error says so if the cells seem to have another delimiter."""
        try:
            return positions_of(names, table, requested_columns, self._name)
        except UndefinedColumnError as error:
            expected, quote = self._kind.delimiter, self._kind.options.quote
            delimiter = likely_delimiter(names[0], expected, quote)
            if len(names) > 1 or delimiter == expected:
                raise
            text = delimiter.replace("\t", "\\t")
            raise UndefinedColumnError(
                error.message,
                hint=f"its cells seem to be separated by '{text}': COPY .. (DELIMITER '{text}')",
            ) from None

    def batches(self) -> Iterator[FileBatch]:
        while not self._is_complete:
            yield from self._section()
            if not self._is_complete:
                yield from self._go_on()

    def _section(self) -> Iterator[FileBatch]:
        """Rows up to the end of the file, or to a record that does not end."""
        self._first, self._torn = self.count, []
        self._good = delivered = 0
        last: FileBatch | None = None
        for batch in self._parsed():
            if not batch.num_rows:
                continue
            if last is not None:
                yield last
            last = self._placed(batch, delivered)
            delivered += len(last.torn)
        if not self._is_complete:
            # What comes behind a row that was not delivered is read again.
            after = self._first + self._good
            self._torn = [one for i, one in enumerate(self._torn) if one.record <= after + i]
        self.count = self._first + self._good + len(self._torn)
        rest = self._torn[delivered:]
        if not self._is_complete and self._has_unfinished():
            self.count -= 1
            if rest and rest[-1].record == self.count:
                rest.pop()
            elif last is not None:
                rows = [array[:-1] for array in last.arrays]
                last = FileBatch(rows, last.records[:-1], last.torn)
        if last is not None:
            yield last
        if rest:
            nothing = [pa.array([], pa.binary()) for _ in self.columns]
            yield FileBatch(nothing, np.empty(0, np.int64), rest)

    def _placed(self, batch: pa.RecordBatch, delivered: int) -> FileBatch:
        """Rows of the parser with their numbers, and the torn ones before the last of them."""
        numbers = np.array([one.record for one in self._torn], np.int64) - self._first
        rows = np.arange(self._good, self._good + batch.num_rows)
        before = np.searchsorted(numbers - np.arange(len(numbers)), rows, side="right")
        self._good += batch.num_rows
        torn = self._torn[delivered : int(before[-1])]
        arrays = batch.columns
        if self._source.has_escapes:
            arrays = [restored_array(array) for array in arrays]
        return FileBatch(arrays, self._first + rows + before, torn)

    def _has_unfinished(self) -> bool:
        """Whether the last record of the parser is one that does not end, which it may deliver."""
        if self.count == self._first:
            return False
        walk = self._walk_to(self.count - 1)
        return walk.records.find_end() is None

    def _walk_to(self, record: int) -> CsvWalk:
        if self._walk is None:
            self._walk = CsvWalk.of(self._open(), self._kind, self._width)
        self._walk.go_to(record)
        return self._walk

    def _go_on(self) -> Iterator[FileBatch]:
        """Begin another section at the record where the parser stopped, or behind its first line.

        Yields that line as a record that is no row.
        """
        walk = self._walk_to(self.count)
        if not walk.records.more():
            self._is_complete = True
            return
        if walk.records.find_end() is None or self.count == self._first:
            line = walk.skip_line().decode(errors="replace")
            self._truncated_records.append(self.count)
            torn = torn_row(self.count, _UNCLOSED, line)
            self.count += 1
            nothing = [pa.array([], pa.binary()) for _ in self.columns]
            yield FileBatch(nothing, np.empty(0, np.int64), [torn])
        self._stream.close()
        self._stream = self._open()
        _skip(self._stream, walk.records.place.offset)
        self._source = CsvStream(b"", self._stream, self._marker)

    def _open(self) -> SourceStream:
        return SourceStream(self._path, self._kind)

    def _parsed(self) -> Iterator[pa.RecordBatch]:
        names = [str(position) for position in range(self._width)]
        included = [str(position) for position in self._positions]
        options = self._kind.options
        try:
            yield from arrow_csv.open_csv(
                self._source,
                read_options=arrow_csv.ReadOptions(
                    # A row's number is known only where one thread reads.
                    use_threads=False, column_names=names, block_size=BLOCK_BYTES
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self._kind.delimiter,
                    quote_char=options.quote,
                    newlines_in_values=True,
                    ignore_empty_lines=self._width > 1,
                    invalid_row_handler=self._invalid,
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(included, pa.binary()),
                    include_columns=included,
                    null_values=[escaped(options.null)],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    check_utf8=False,
                ),
            )  # fmt: skip
        except pa.ArrowInvalid:
            return  # a record does not end within a block
        except OSError as error:
            raise self._packed(error) from None

    def _invalid(self, row: arrow_csv.InvalidRow) -> str:
        if row.text == self._marker:
            self._is_complete = True
        else:
            text = restored(row.text.encode()).decode(errors="replace")
            reason = f"{row.actual_columns} cells where there are {row.expected_columns} columns"
            self._torn.append(torn_row(self._first + row.number - 1, reason, text))
        return "skip"

    @property
    def bytes_read(self) -> int:
        return self._stream.position

    def values(self, array: pa.Array, column: ColumnSchema) -> pa.Array:
        return read_texts(array, column, blank_is_null=True)

    def lines(self, records: Sequence[int]) -> Mapping[int, int]:
        return record_lines(self._path, self._kind, self._width, records, self._truncated_records)

    def close(self) -> None:
        self._stream.close()
        if self._walk is not None:
            self._walk.close()


def _skip(stream: SourceStream, size: int) -> None:
    """Pass the first bytes of a stream."""
    while size:
        size -= len(stream.read(min(size, BLOCK_BYTES)))
