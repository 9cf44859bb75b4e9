"""Which line of a file a record is, counted by reading the file once more, as far as it goes.

Spark gives the number of a record at best: a record of CSV may have several lines, and blank lines
are none. Where a file is read with options that this does not know, or has other records than
Spark found, the line is unknown.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from typing import Final

import pyarrow as pa

_LINE_OPTIONS: Final = frozenset({"header", "sep", "delimiter", "encoding"})


def lines_of(
    path: str, file_format: str, options: Mapping[str, str], records: int, wanted: Sequence[int]
) -> dict[int, int]:
    """The lines at which records of a file begin, from 1; empty where that cannot be determined.

    Args:
        path: of the file, which may be packed.
        file_format: csv, json or another.
        options: of the reader, as the user gave them, names in lower case.
        records: of the file, as Spark counted them.
        wanted: numbers of records, from 0; a header is none.
    """
    if not options.keys() <= _LINE_OPTIONS or file_format not in ("csv", "json"):
        return {}
    try:
        with pa.input_stream(path, compression="detect") as packed:
            text = TextIOWrapper(packed, options.get("encoding", "utf-8"), newline="")
            starts = _json(text) if file_format == "json" else _csv(path, text, options)
            lines, positions, number = {}, set(wanted), -1
            for number, line in enumerate(starts):
                if number in positions:
                    lines[number] = line
    except (OSError, ValueError, TypeError, LookupError, csv.Error, pa.ArrowException):
        return {}
    return lines if number + 1 == records else {}


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
