"""Which line of a file a record is, counted by reading the file once more, as far as it goes.

A reader gives the number of a record at best: a record of CSV may have several lines, and blank
lines are none. Where a file is read with options that this does not know, or has other records than
the reader found, the line is unknown.

Records of CSV are those of Arrow's parser. A quote opens a cell only at its start, two within it
are one, and what follows the closing one belongs to the cell. A record whose quote is not closed
before the end of the file, or that the parser finds too long, is its first line alone: reading goes
on at the next. Whoever parses the file says which records those are, so all readers count alike.
"""

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from itertools import islice
from typing import Final

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.files.formats import FileKind
from pykudu_sql.files.reading.json_array import ArrayElements, begins_array
from pykudu_sql.files.reading.row_files import BLOCK_BYTES
from pykudu_sql.files.reading.source_stream import ByteStream, SourceStream
from pykudu_sql.storage.errors import DataError

_READ_BYTES: Final = 1 << 20
# Arrow takes records that end in the block behind the one in which they begin.
_LONGEST_RECORD: Final = 2 * BLOCK_BYTES
_LONGEST_TEXT: Final = 1 << 16
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_LINE_END: Final = re.compile(rb"\r\n?|\n")
_LINE_OPTIONS: Final = frozenset({"header", "sep", "delimiter", "encoding"})
_UNREADABLE: Final = (
    OSError, ValueError, TypeError, LookupError, csv.Error, pa.ArrowException, DataError,
)  # fmt: skip


def lines_of(
    path: str,
    file_format: str,
    options: Mapping[str, str],
    records: int,
    record_numbers: Sequence[int],
) -> dict[int, int]:
    """The lines at which records of a file begin, from 1; empty where that cannot be determined.

    Args:
        path: of the file, which may be packed.
        file_format: csv, json or another.
        options: of the reader, as the user gave them, names in lower case.
        records: of the file, as Spark counted them.
        record_numbers: numbers of records, from 0; a header is none.
    """
    if not options.keys() <= _LINE_OPTIONS or file_format not in ("csv", "json"):
        return {}
    try:
        with pa.input_stream(path, compression="detect") as packed:
            text = TextIOWrapper(packed, options.get("encoding", "utf-8"), newline="")
            starts = _json(text) if file_format == "json" else _csv(path, text, options)
            lines, positions, number = {}, set(record_numbers), -1
            for number, line in enumerate(starts):
                if number in positions:
                    lines[number] = line
    except _UNREADABLE:
        return {}
    return lines if number + 1 == records else {}


def record_lines(
    path: str,
    kind: FileKind,
    columns: int,
    record_numbers: Sequence[int],
    cut: Collection[int] = (),
) -> dict[int, int]:
    """The same for files that COPY reads, as far as the last record that is wanted.

    `columns`: of the file's rows; where there is one, a blank line is a row of CSV; `cut`: records
    of CSV that are their first line alone.
    """
    if not kind.is_text or not record_numbers:
        return {}
    packed = None if kind.compression == "none" else kind.compression
    try:
        with pa.input_stream(path, compression=packed) as stream:
            if kind.format == "json":
                starts = _json_starts(path, kind, stream)
            else:
                starts = csv_records(stream, kind, columns).starts(cut)
            positions = set(record_numbers)
            numbered = enumerate(islice(starts, max(positions) + 1))
            return {number: line for number, line in numbered if number in positions}
    except _UNREADABLE:
        return {}


def _json_starts(path: str, kind: FileKind, stream: pa.NativeFile) -> Iterator[int]:
    packed = None if kind.compression == "none" else kind.compression
    with pa.input_stream(path, compression=packed) as other:
        head = other.read(BLOCK_BYTES)
    if not begins_array(head):
        return _line_starts(stream)
    array = ArrayElements(stream)
    return (array.line for _ in array.elements())


def _json(lines: Iterable[str]) -> Iterator[int]:
    return (number for number, line in enumerate(lines, 1) if line.strip())


def _line_starts(stream: ByteStream) -> Iterator[int]:
    """The lines that are not blank, of any length."""
    number, is_blank = 1, True
    mark = _BYTE_ORDER_MARK
    while data := stream.read(_READ_BYTES):
        first, *others = data.removeprefix(mark).split(b"\n")
        mark = b""
        is_blank = is_blank and not first.strip()
        for piece in others:
            if not is_blank:
                yield number
            number, is_blank = number + 1, not piece.strip()
    if not is_blank:
        yield number


def _csv(path: str, lines: Iterable[str], options: Mapping[str, str]) -> Iterator[int]:
    default = "\t" if ".tsv" in path.rpartition("/")[2].lower() else ","
    sep = options.get("sep", options.get("delimiter", default))
    reader = csv.reader(lines, delimiter="\t" if sep == "\\t" else sep)
    skipped = options.get("header", "true").lower() != "true"
    begin = 1
    for cells in reader:
        if cells:
            if skipped:
                yield begin
            skipped = True
        begin = reader.line_num + 1


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """Where a record begins. `offset`: in bytes, from 0; `line`: from 1."""

    offset: int
    line: int


class CsvRecords:
    """A walk over the records of a file.

    `place`: where the next one begins, once `more` says that there is one.
    """

    def __init__(
        self,
        stream: ByteStream,
        delimiter: str,
        quote: str,
        *,
        blank_is_record: bool,
    ) -> None:
        """Nothing is read yet.

        Args:
            stream: of the file's bytes, from the first.
            delimiter, quote: one character each.
            blank_is_record: whether a line without a character is a record.
        """
        d, q = re.escape(delimiter.encode()), re.escape(quote.encode())
        cell = rb"(?:%b(?:[^%b]++|%b%b)*+%b|(?!%b))[^%b\r\n]*+" % (q, q, q, q, q, q, d)
        record = rb"%b(?:%b%b)*+" % (cell, d, cell)
        self._record = re.compile(rb"%b(?:\r\n?|\n)" % record)
        self._last_record = re.compile(rb"%b(?:\r\n?|\n|\Z)" % record)
        self._blank_is_record = blank_is_record
        self._stream = stream
        self._data = b""
        self._at = 0
        self._is_ended = False
        self._read_more()
        mark = len(_BYTE_ORDER_MARK) if self._data.startswith(_BYTE_ORDER_MARK) else 0
        self._at = mark
        self.place = RecordPlace(mark, 1)

    def more(self) -> bool:
        """Whether there is another record; blank lines in front of it are passed."""
        while self._fill():
            end = None if self._blank_is_record else self._line_end()
            if end is None or end.start() > self._at:
                return True
            self._move(end.end())
        return False

    def skip_header(self) -> None:
        """Pass the first record that is not blank."""
        while self._fill() and (end := self._line_end()) is not None:
            self._move(end.end())
        self.skip_next()

    def find_end(self) -> int | None:
        """The bytes of the next record, with its line end; None if that does not end."""
        while True:
            pattern = self._last_record if self._is_ended else self._record
            match = pattern.match(self._data, self._at)
            if match is not None and (self._is_ended or match.end() < len(self._data)):
                return match.end() - self._at
            if self._is_ended or len(self._data) - self._at > _LONGEST_RECORD:
                return None
            self._read_more()

    def skip_next(self) -> None:
        """Pass the next record, or its first line if it does not end."""
        size = self.find_end()
        if size is None:
            self.skip_line()
        else:
            self._move(self._at + size)

    def skip_line(self) -> bytes:
        """Pass the first line of the next record, of any length; its first bytes."""
        text = b""
        while True:
            end = _LINE_END.search(self._data, self._at)
            whole = end is not None and (self._is_ended or end.end() < len(self._data))
            if end is not None and whole:
                text = text or self._data[self._at : min(end.start(), self._at + _LONGEST_TEXT)]
                self._move(end.end())
                return text
            if self._is_ended:
                text = text or self._data[self._at : self._at + _LONGEST_TEXT]
                self._move(len(self._data))
                return text
            if end is None and len(self._data) - self._at > _LONGEST_RECORD:
                text = text or self._data[self._at : self._at + _LONGEST_TEXT]
                self._move(len(self._data))
            self._read_more()

    def starts(self, cut: Collection[int]) -> Iterator[int]:
        """The lines at which all records begin. `cut`: numbers of those that are one line."""
        number = 0
        while self.more():
            yield self.place.line
            if number in cut:
                self.skip_line()
            else:
                self.skip_next()
            number += 1

    def _fill(self) -> bool:
        """Whether there are bytes to come."""
        while self._at == len(self._data) and not self._is_ended:
            self._read_more()
        return self._at < len(self._data)

    def _line_end(self) -> re.Match[bytes] | None:
        """A line end that comes next; None for other bytes."""
        if self._data[self._at :] == b"\r" and not self._is_ended:
            self._read_more()
        return _LINE_END.match(self._data, self._at)

    def _move(self, to: int) -> None:
        passed = self._data[self._at : to]
        lines = passed.count(b"\n") + passed.count(b"\r") - passed.count(b"\r\n")
        self.place = RecordPlace(self.place.offset + len(passed), self.place.line + lines)
        self._at = to

    def _read_more(self) -> None:
        left = self._data[self._at :]
        data = self._stream.read(max(_READ_BYTES, len(left)))
        self._data, self._at, self._is_ended = left + data, 0, not data


class CsvWalk:
    """A walk from the first row of a file to those that its reader asks for, in their order.

    `records`: at the next row; `record`: its number.
    """

    def __init__(self, stream: SourceStream, records: CsvRecords) -> None:
        """Begin at the first row. `stream`: what the records are in, closed by `close`."""
        self._stream = stream
        self.records = records
        self.record = 0

    @classmethod
    def of(cls, stream: SourceStream, kind: FileKind, columns: int) -> "CsvWalk":
        """Begin at the first row of a file. `columns`: of its rows."""
        records = csv_records(stream, kind, columns)
        return cls(stream, records)

    def go_to(self, record: int) -> None:
        """Pass all rows before one."""
        while self.record < record and self.records.more():
            self.records.skip_next()
            self.record += 1
        self.records.more()

    def skip_line(self) -> bytes:
        """Pass the first line of the next row, which does not end; its first bytes."""
        self.record += 1
        return self.records.skip_line()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def csv_records(stream: ByteStream, kind: FileKind, columns: int) -> CsvRecords:
    """The rows of a file of some kind, at the first of them.

    `columns`: of its rows; where there is one, a blank line is a row.
    """
    records = CsvRecords(stream, kind.delimiter, kind.options.quote, blank_is_record=columns == 1)
    if kind.options.header:
        records.skip_header()
    return records
