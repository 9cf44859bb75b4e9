"""CSV as batches of texts (RFC 4180), by Arrow's parser.

Nothing is inferred: cells are read as bytes, and `text_values` makes values of them. An empty cell
is NULL, a quoted one the empty text. Behind the last line the parser is given one more, that it is
to report: where a quote is never closed it does not, for it leaves out unfinished rows silently.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import RawIOBase
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from pykudu_sql.files.file_access import PermittedFile
from pykudu_sql.files.formats import FileKind
from pykudu_sql.files.row_files import (
    BLOCK_BYTES,
    FileBatch,
    TornRow,
    positions_of,
    torn_row,
)
from pykudu_sql.files.source_lines import record_lines
from pykudu_sql.files.source_stream import SourceStream
from pykudu_sql.files.text_values import read_texts
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import DataError, InvalidValueError

_HEADER_BYTES = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


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
        self._stream = SourceStream(file.path, kind)
        try:
            head = self._head()
            names = None
            if kind.options.header:
                names, used = self._header(head)
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
                positions = positions_of(names, table, requested_columns, file.name)
                self.columns = tuple(column for _, column in positions)
                self._positions = [position for position, _ in positions]
                self._width = len(names)
        except BaseException:
            self._stream.close()
            raise
        self._marker = uuid4().hex + kind.delimiter * self._width
        self._source = _MarkedStream(head, self._stream, self._marker)
        self._torn: list[TornRow] = []
        self._is_complete = False

    def _head(self) -> bytes:
        try:
            head: bytes = self._stream.read(_HEADER_BYTES)
        except OSError as error:
            raise self._packed(error) from None
        return head.removeprefix(_BYTE_ORDER_MARK)

    def _packed(self, error: OSError) -> DataError:
        return DataError(f"'{self._name}' cannot be unpacked: {error!s:.200}")

    def _header(self, head: bytes) -> tuple[list[str], int]:
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
            raise DataError(f"the header of '{self._name}' cannot be read: {error}") from None
        if names is None:
            raise DataError(
                f"'{self._name}' is empty, and its first line is to name the columns",
                hint="say (HEADER false) for files without such a line",
            )
        return names, used

    def batches(self) -> Iterator[FileBatch]:
        good = delivered = 0
        for batch in self._parsed():
            numbers = np.array([one.record for one in self._torn], np.int64)
            rows = np.arange(good, good + batch.num_rows)
            before = np.searchsorted(numbers - np.arange(len(numbers)), rows, side="right")
            records = rows + before
            good += batch.num_rows
            last = int(before[-1]) if len(before) else delivered
            yield FileBatch(batch.columns, records, self._torn[delivered:last])
            delivered = last
        if not self._is_complete:
            raise self._unclosed()
        self.count = good + len(self._torn)
        if self._torn[delivered:]:
            nothing = [pa.array([], pa.binary()) for _ in self.columns]
            yield FileBatch(nothing, np.empty(0, np.int64), self._torn[delivered:])

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
                    null_values=[options.null],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    check_utf8=False,
                ),
            )  # fmt: skip
        except pa.ArrowInvalid:
            raise self._unclosed() from None
        except OSError as error:
            raise self._packed(error) from None

    def _invalid(self, row: arrow_csv.InvalidRow) -> str:
        if row.text == self._marker:
            self._is_complete = True
        else:
            reason = f"{row.actual_columns} cells where there are {row.expected_columns} columns"
            self._torn.append(torn_row(row.number - 1, reason, row.text))
        return "skip"

    def _unclosed(self) -> DataError:
        return InvalidValueError(
            f"'{self._name}' cannot be taken apart: a quote is not closed, or a row takes more "
            f"than {BLOCK_BYTES >> 20} MiB",
            hint="QUOTE and DELIMITER say how cells are written",
        )

    @property
    def bytes_read(self) -> int:
        return self._stream.position

    def values(self, array: pa.Array, column: ColumnSchema) -> pa.Array:
        return read_texts(array, column, blank_is_null=True)

    def lines(self, records: Sequence[int]) -> Mapping[int, int]:
        return record_lines(self._path, self._kind, self._width, records)

    def close(self) -> None:
        self._stream.close()


class _MarkedStream(RawIOBase):
    """A stream with a line of its own behind the last one."""

    def __init__(self, head: bytes, rest: SourceStream, marker: str) -> None:
        """`head`: read already; `rest`: what follows; `marker`: the line."""
        self._head = head
        self._rest = rest
        self._end = marker.encode() + b"\n"
        self._last = b"\n"

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._head or self._rest.read(size)
        if self._head:
            data, self._head = (data, b"") if size < 0 else (data[:size], data[size:])
        if data:
            self._last = data[-1:]
            return data
        line_end = b"" if self._last in b"\r\n" else b"\n"
        data, self._end = (line_end + self._end if self._end else b""), b""
        return data
