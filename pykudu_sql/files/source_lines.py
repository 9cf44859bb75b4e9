"""Which line of a file a record is, counted by reading the file once more, as far as it goes.

A reader gives the number of a record at best: a record of CSV may have several lines, and blank
lines are none. Where a file is read with options that this does not know, or has other records than
the reader found, the line is unknown.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from itertools import islice
from typing import Final

import pyarrow as pa

from pykudu_sql.files.formats import FileKind
from pykudu_sql.files.json_array import ArrayObjects
from pykudu_sql.storage.errors import DataError

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
    path: str, kind: FileKind, columns: int, record_numbers: Sequence[int]
) -> dict[int, int]:
    """The same for files that COPY reads, as far as the last record that is wanted.

    `columns`: of the file's rows; where there is one, a blank line is a row of CSV.
    """
    if not kind.is_text or not record_numbers:
        return {}
    packed = None if kind.compression == "none" else kind.compression
    try:
        with pa.input_stream(path, compression=packed) as stream:
            if kind.format == "json":
                starts = _json_starts(path, kind, stream)
            else:
                starts = _csv_starts(
                    TextIOWrapper(stream, "utf-8-sig", "replace", ""), kind, columns
                )
            positions = set(record_numbers)
            numbered = enumerate(islice(starts, max(positions) + 1))
            return {number: line for number, line in numbered if number in positions}
    except _UNREADABLE:
        return {}


def _json_starts(path: str, kind: FileKind, stream: pa.NativeFile) -> Iterator[int]:
    packed = None if kind.compression == "none" else kind.compression
    with pa.input_stream(path, compression=packed) as other:
        head = other.read(1 << 16).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] != b"[":
        return _json(TextIOWrapper(stream, "utf-8", "replace", "\n"))
    objects = ArrayObjects(stream, path)
    return (objects.line for _ in objects.objects())


def _csv_starts(lines: Iterable[str], kind: FileKind, columns: int) -> Iterator[int]:
    reader = csv.reader(lines, delimiter=kind.delimiter, quotechar=kind.options.quote)
    is_header = kind.options.header
    begin = 1
    for cells in reader:
        if cells or (columns == 1 and not is_header):
            if not is_header:
                yield begin
            is_header = False
        begin = reader.line_num + 1


def _json(lines: Iterable[str]) -> Iterator[int]:
    return (number for number, line in enumerate(lines, 1) if line.strip())


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
