"""How far a file was read, whatever it is packed with; and spans of its lines."""

from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.executor.writing.files.file_rows import open_rows
from pykudu_sql.files.file_access import FileAccess
from pykudu_sql.files.formats import FileOptions, file_kind
from pykudu_sql.files.reading import csv_rows, json_rows, source_stream
from pykudu_sql.files.reading.source_stream import LineSpan, lines_before

ROWS = 100_000  # more blocks than Arrow reads ahead
LINES = b'{"id":1}\n\n  \n{"id":2}\r\n{"id":33}\n{"id":4}'
TEXTS = ["csv", "csv.gz", "json", "json.zst"]


def shares(folder: Path, suffix: str) -> list[float]:
    """The part of a file that its reader says is read, after each batch of its rows."""
    with pykudu_sql.connect(autocommit=True, files=True) as conn:
        conn.execute(
            "CREATE TABLE t PRIMARY KEY (i) AS SELECT i, sha256(i::STRING) AS a "
            f"FROM range({ROWS}) r(i)"
        )
        conn.execute(f"COPY t TO '{folder}/t.{suffix}'")
        table = conn._session.catalog.table("t")
    (file,) = FileAccess(True, None, False).to_read(f"{folder}/t.{suffix}")
    rows = open_rows(file, file_kind(file.path, FileOptions()), table, None)
    read = [rows.bytes_read / file.size for _ in rows.batches()]
    rows.close()
    return read


@pytest.mark.parametrize("suffix", [*TEXTS, "parquet", "orc", "arrow"])
def test_a_reader_ends_at_the_end_of_its_file(tmp_path: Path, suffix: str) -> None:
    assert shares(tmp_path, suffix)[-1] == pytest.approx(1, rel=0.02)


@pytest.mark.parametrize("suffix", TEXTS)
def test_bytes_of_packed_files_are_counted_as_they_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    for module in (csv_rows, json_rows):
        monkeypatch.setattr(module, "BLOCK_BYTES", 1 << 16)
    monkeypatch.setattr(csv_rows, "_HEADER_BYTES", 1 << 16)
    positions = shares(tmp_path, suffix)
    assert positions == sorted(positions)
    assert 0 < positions[0] < 0.75 < positions[-1] <= 1


def read(path: Path, start: int, stop: int) -> bytes:
    lines = LineSpan(str(path), start, stop)
    try:
        return lines.read(3) + lines.read(-1)
    finally:
        lines.close()
        lines.close()


@pytest.mark.parametrize("block", [1, 5, 1 << 20])
def test_spans_have_each_line_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(source_stream, "_READ_BYTES", block)
    path = tmp_path / "a.json"
    path.write_bytes(LINES)
    for size in range(1, len(LINES) + 2):
        parts = [read(path, start, start + size) for start in range(0, len(LINES), size)]
        assert b"".join(parts) == LINES
        assert all(part.endswith(b"\n") or LINES.endswith(part) for part in parts)


def test_lines_before_an_offset_are_counted_without_blank_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(LINES)
    starts = [0, LINES.index(b"\n") + 1, LINES.index(b'{"id":33}'), len(LINES)]
    assert [lines_before(str(path), start) for start in starts] == [0, 1, 2, 4]
