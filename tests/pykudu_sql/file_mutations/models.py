"""What the rows of a text file are, in plain Python; where that is arguable it is left open.

A record is a row, no row, or open: of cells that conversions take in more ways than this model
has.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.pykudu_sql.files.reading.test_source_lines import model as csv_model

Row = tuple[int, str, float | None]
_ID: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,6})?", re.ASCII)
# Of texts that could be numbers to somebody.
_OPEN: Final = re.compile(r"[\s0-9+\-.eExXinfatyINFATYbBoO_]*")


@dataclass(frozen=True, slots=True)
class Record:
    """One record. `line`: where it begins; `row`: of it; `is_open`: whether it may be another."""

    line: int
    row: Row | None
    is_open: bool = False


def records_of(name: str, data: bytes) -> list[Record] | None:
    """All records of a file; None where it is no file of its format, or arguable as a whole."""
    if ".csv" in name or ".tsv" in name:
        return _csv_records(data, b"\t" if ".tsv" in name else b",")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if re.match(rb"[ \t\r\n]*\[", data):
        return _array_records(data)
    lines = enumerate(data.split(b"\n"), 1)
    return [_json_record(number, line) for number, line in lines if line.strip()]


def objects_of(data: bytes) -> list[Record]:
    """All objects anywhere in a text, which is at most what a broken array has."""
    text = data.decode(errors="surrogateescape")
    return list(_objects(text))


def _objects(text: str) -> Iterator[Record]:
    decoder = json.JSONDecoder(object_pairs_hook=_pairs)
    for place in re.finditer(r"\{", text):
        try:
            value, end = decoder.raw_decode(text, place.start())
        except (ValueError, RecursionError):
            continue
        if "\udc80" <= max(text[place.start() : end]) <= "\udcff":
            continue
        yield _record(0, value)


def _csv_records(data: bytes, delimiter: bytes) -> list[Record] | None:
    data = data.removeprefix(b"\xef\xbb\xbf")
    header = delimiter.join((b"id", b"v", b"n")) + b"\n"
    if not data.startswith(header) or (delimiter == b"\t" and b"," in data):
        return None
    body = data.removeprefix(header).replace(delimiter, b",")
    return [_csv_record(line + 1, cells, delimiter) for line, cells in csv_model(body, 3)]


def _csv_record(line: int, cells: list[bytes] | None, delimiter: bytes) -> Record:
    if cells is None:
        return Record(line, None)
    try:
        key, text, number = (cell.replace(b",", delimiter).decode() for cell in cells)
    except UnicodeDecodeError:
        return Record(line, None)
    row = (int(key) if _ID.fullmatch(key) else 0, text, _float(number))
    is_known = _ID.fullmatch(key) and (not number or _NUMBER.fullmatch(number))
    could_be = _OPEN.fullmatch(key) and _OPEN.fullmatch(number)
    return Record(line, row if is_known else None, not is_known and could_be is not None)


def _float(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _array_records(data: bytes) -> list[Record] | None:
    try:
        values = json.loads(data, object_pairs_hook=_pairs)
    except (ValueError, RecursionError):
        return None
    return [_record(0, value) for value in values]


def _pairs(pairs: list[tuple[str, object]]) -> object:
    document = {key.lower(): value for key, value in pairs}
    return document if len(document) == len(pairs) else "a key is there twice"


def _json_record(line: int, data: bytes) -> Record:
    try:
        return _record(line, json.loads(data.decode().strip(), object_pairs_hook=_pairs))
    except (ValueError, RecursionError):
        return Record(line, None)


def _record(line: int, value: object) -> Record:
    if not isinstance(value, dict) or not value.keys() <= {"id", "v", "n"}:
        return Record(line, None)
    key, text, number = value.get("id"), value.get("v"), value.get("n")
    if key is None or any(isinstance(one, dict | list) for one in value.values()):
        return Record(line, None)
    is_plain = type(key) is int and abs(key) < 1 << 62 and isinstance(text, str | None)
    is_plain = is_plain and (number is None or type(number) in (int, float))
    if not is_plain or (number is not None and abs(number) > 1e15):
        return Record(line, None, is_open=True)
    try:
        (text or "").encode()
    except UnicodeEncodeError:
        return Record(line, None)
    return Record(line, (key, text or "", None if number is None else float(number)))
