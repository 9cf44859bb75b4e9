"""Records of CSV: Arrow's parser, the walk that counts them, and a model agree."""

import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.files.file_access import PermittedFile
from pykudu_sql.files.formats import FileOptions, file_kind
from pykudu_sql.files.reading import csv_rows, source_lines
from pykudu_sql.files.reading.csv_rows import CsvRows
from pykudu_sql.files.reading.source_lines import CsvRecords
from pykudu_sql.jobs.load import LoadOptions, load
from pykudu_sql.jobs.table_layout import NO_LAYOUT, TableLayout
from pykudu_sql.jobs.target_table import existing_tables
from pykudu_sql.storage.catalog.table_info import TableInfo
from tests.pykudu_sql.jobs.job_tables import content, read_rejects, run

_LINE_END = re.compile(rb"\r\n?|\n")
_PIECES = st.sampled_from(
    [
        b"a",
        b"bb",
        b",",
        b",",
        b"\n",
        b"\n",
        b"\r\n",
        b"\r",
        b'"',
        b'"',
        b'""',
        b" ",
        b"\xc3\xa9",
        b"\0",
    ]
)
_FILES = st.lists(_PIECES, max_size=40).map(b"".join)

Cells = list[bytes] | None


def model(data: bytes, width: int) -> list[tuple[int, Cells]]:
    """Each record's line and cells, None for one that is no row; byte by byte."""
    records: list[tuple[int, Cells]] = []
    place = 0
    while place < len(data):
        end = _LINE_END.match(data, place)
        if end is not None and width > 1:
            place = end.end()
            continue
        before = data[:place]
        line = 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")
        cells, stop = _record(data, place)
        if cells is None:
            end = _LINE_END.search(data, place)
            stop = len(data) if end is None else end.end()
        records.append((line, cells if cells is not None and len(cells) == width else None))
        place = stop
    return records


def _record(data: bytes, place: int) -> tuple[Cells, int]:
    cells = []
    while True:
        cell = b""
        if data[place : place + 1] == b'"':
            place += 1
            while True:
                quote = data.find(b'"', place)
                if quote < 0:
                    return None, place
                cell += data[place:quote]
                place = quote + 1
                if data[place : place + 1] != b'"':
                    break
                cell, place = cell + b'"', place + 1
        stop = place
        while stop < len(data) and data[stop : stop + 1] not in (b",", b"\n", b"\r"):
            stop += 1
        cells.append(cell + data[place:stop])
        end = _LINE_END.match(data, stop)
        if end is not None or stop == len(data):
            return cells, len(data) if end is None else end.end()
        place = stop + 1


@given(_FILES, st.booleans())
def test_records_are_counted_as_the_model_does(data: bytes, blank_is_record: bool) -> None:
    records = CsvRecords(io.BytesIO(data), ",", '"', blank_is_record=blank_is_record)
    expected = [line for line, _ in model(data, 1 if blank_is_record else 2)]
    assert list(records.starts(())) == expected


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> TableInfo:
    path = str(tmp_path_factory.mktemp("records") / "my.db")
    run(path, "CREATE TABLE t (a STRING PRIMARY KEY, b STRING)")
    return existing_tables(path)["t"]


def read(table: TableInfo, path: Path, data: bytes, header: bool) -> tuple[dict[int, Cells], int]:
    """The cells of each record as `CsvRows` reads them, None for no row; how many it counts."""
    path.write_bytes((b"a,b\n" if header else b"") + data)
    kind = file_kind(path.name, FileOptions(header=header))
    rows = CsvRows(PermittedFile(str(path), path.name), kind, table, None)
    records: dict[int, Cells] = {}
    for batch in rows.batches():
        for place, record in enumerate(batch.records.tolist()):
            assert record not in records
            records[record] = [array[place].as_py() or b"" for array in batch.arrays]
        for torn in batch.torn:
            assert torn.record not in records
            records[torn.record] = None
    numbers = range(rows.count)
    lines = rows.lines(numbers)
    rows.close()
    assert sorted(lines) == list(numbers)
    return records, rows.count


@given(data=_FILES, header=st.booleans())
def test_rows_and_rejects_are_those_of_the_model(
    table: TableInfo, tmp_path_factory: pytest.TempPathFactory, data: bytes, header: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "model.csv"
    records, count = read(table, path, data, header)
    expected = [cells for _, cells in model(data, 2)]
    assert (count, records) == (len(expected), dict(enumerate(expected)))


@given(data=_FILES)
def test_where_rows_are_too_long_each_record_is_read_once(
    table: TableInfo, tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "long.csv"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_rows, "BLOCK_BYTES", 48)
        patch.setattr(source_lines, "_LONGEST_RECORD", 96)
        records, count = read(table, path, data * 3, False)
    assert sorted(records) == list(range(count))


def test_a_load_goes_on_behind_a_quote_that_is_never_closed(tmp_path: Path) -> None:
    path, source, rejects = str(tmp_path / "my.db"), tmp_path / "a.csv", tmp_path / "rejects"
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)")
    source.write_text('id,v\n1,"two\nlines"\n2,"never\n3,c\n4\n5,""\n')
    load(path, "t", [str(source)], LoadOptions(rejects=str(rejects), engine="local"))
    assert content(path) == [(1, "two\nlines"), (3, "c"), (5, "")]
    assert [(one["line"], one["row"]) for one in read_rejects(rejects)] == [
        (4, '2,"never'),
        (6, "4"),
    ]


def test_a_line_of_any_length_that_does_not_end_is_passed_in_bounded_memory() -> None:
    class Endless(io.RawIOBase):
        left = 64

        def read(self, size: int = -1) -> bytes:
            self.left -= 1
            data = b'"' if self.left == 63 else b"a" * size
            return data if self.left > 0 else b"\nb,c\n" if self.left == 0 else b""

    records = CsvRecords(Endless(), ",", '"', blank_is_record=False)
    assert (records.more(), records.find_end()) == (True, None)
    assert len(records.skip_line()) == 1 << 16
    assert (records.more(), records.place.line, records.find_end()) == (True, 2, 4)


def test_a_quote_beside_a_nul_is_no_less_a_quote(
    table: TableInfo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", 1000)
    cells = [(b"%d\0" % n + b"x" * (n % 17), b"y\n" * (n % 23) + b'\0"\n') for n in range(400)]
    data = b"".join(b'%s,"%s"\n' % (a, b.replace(b'"', b'""')) for a, b in cells)
    records, count = read(table, tmp_path / "nul.csv", data, False)
    assert (count, list(records.values())) == (400, [list(pair) for pair in cells])


@pytest.mark.parametrize("mark", ["a", "\U0010ffff", "\U0010ffff\u0100", "\0"])
@pytest.mark.parametrize("is_new", [False, True])
def test_a_row_of_the_wrong_width_that_is_not_utf_8_is_a_reject_without_another_word(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], mark: str, is_new: bool
) -> None:
    path, source, rejects = str(tmp_path / "my.db"), tmp_path / "a.csv", tmp_path / "rejects"
    rows = (b"id,v", b"x1,%s", b"2\xff%s,b,c", b"\xff3", b"x4,\xff%s", b"x5,\xc3\xa9", b"6,%s,\xc3")
    source.write_bytes(b"\n".join(rows).replace(b"%s", mark.encode()))
    layout = TableLayout(("id",)) if is_new else NO_LAYOUT
    options = LoadOptions(rejects=str(rejects), engine="local", layout=layout)
    if not is_new:
        run(path, "CREATE TABLE t (id STRING PRIMARY KEY, v STRING)")
    load(path, "t", [str(source)], options)
    assert content(path) == [("x1", mark), ("x5", "é")]
    assert [(one["line"], one["row"]) for one in read_rejects(rejects)] == [
        (3, f"2\ufffd{mark},b,c"),
        (4, "\ufffd3"),
        (
            5,
            json.dumps(
                {"id": "x4", "v": f"\ufffd{mark}"}, ensure_ascii=False, separators=(",", ":")
            ),
        ),
        (7, f"6,{mark},\ufffd"),
    ]
    assert capfd.readouterr() == ("", "")
