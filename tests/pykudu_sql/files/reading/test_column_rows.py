"""Files that have types: large texts are read a few rows at a time, damage ends a statement."""

from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

import pykudu_sql
from pykudu_sql.files.file_access import FileAccess
from pykudu_sql.files.reading.column_rows import ColumnFile

ROWS = 600


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    texts = [
        f"{n:06d}" + "".join(chr(97 + (n * k) % 26) for k in range(50)) * 1_000 for n in range(ROWS)
    ]
    return pa.table({"k": list(range(ROWS)), "a": texts})


def test_a_row_group_of_large_texts_is_read_in_batches_of_few_bytes(
    tmp_path: Path, rows: pa.Table
) -> None:
    path = str(tmp_path / "t.parquet")
    pq.write_table(rows, path)
    (file,) = FileAccess(True, None, False).to_read(path)
    opened = ColumnFile(file, "parquet")
    batches = list(opened.batches(["k", "a"]))
    opened.close()
    assert pa.Table.from_batches(batches).equals(rows)
    assert max(batch.nbytes for batch in batches) <= 20 << 20


@pytest.mark.parametrize("suffix", ["parquet", "json"])
def test_large_texts_are_copied_out_and_in(tmp_path: Path, rows: pa.Table, suffix: str) -> None:
    with pykudu_sql.connect(autocommit=True, files=str(tmp_path)) as connection:
        for table in ("t", "u"):
            connection.execute(f"CREATE TABLE {table} (k BIGINT PRIMARY KEY, a STRING)")
        connection.append("t", rows)
        connection.execute(f"COPY t TO '{tmp_path}/t.{suffix}'")
        connection.execute(f"COPY u FROM '{tmp_path}/t.{suffix}'")
        read = connection.execute("SELECT * FROM u ORDER BY k").fetch_arrow_table()
        assert read.column("a").to_pylist() == rows.column("a").to_pylist()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (b"\0\0\0\0\x2c\1\0\0a", b"\0\0\0\0\x2c\1\0\x7fa"),  # where the text ends
        (b"a" * 300, b"a" * 299 + b"\xff"),
    ],
)
@pytest.mark.parametrize("mode", ["fail", "collect"])
def test_texts_that_are_none_end_a_copy_before_they_are_read(
    tmp_path: Path, right: bytes, wrong: bytes, mode: str
) -> None:
    table, path = pa.table({"k": [1], "a": ["a" * 300]}), tmp_path / "x.arrow"
    with pa.OSFile(str(path), "w") as sink, pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)
    data = path.read_bytes()
    assert data.count(right) == 1
    path.write_bytes(data.replace(right, wrong))
    with pykudu_sql.connect(autocommit=True, files=str(tmp_path)) as connection:
        connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, a STRING)")
        connection.execute(f"SET row_errors = '{mode}'")
        with pytest.raises(pykudu_sql.DataError, match="cannot be read as Arrow"):
            connection.execute("COPY t FROM 'x.arrow'")
        assert connection.execute("SELECT * FROM t").fetchall() == []


@pytest.mark.parametrize(
    ("column", "change", "reason"),
    [
        ("k", (b"\x22\x02\x00\x0c", b"\x22\x02\x01\x0c"), "version 1.12 of ORC"),
        ("kö", (b"k\xc3\xb6", b"k\xc3k"), "cannot be read as ORC"),
        ("k", (b"\x08\x0c\x12\x01\x01", b"\x08\x0f\x12\x01\x01"), "cannot be read as ORC"),
    ],
)
def test_an_orc_file_that_its_reader_does_not_know_is_refused_without_another_word(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    column: str,
    change: tuple[bytes, bytes],
    reason: str,
) -> None:
    path = tmp_path / "x.orc"
    orc.write_table(pa.table({column: [1]}), str(path))
    data = path.read_bytes()
    assert change[0] in data
    path.write_bytes(data.replace(*change))
    (file,) = FileAccess(True, None, False).to_read(str(path))
    with pytest.raises(pykudu_sql.DataError, match=reason):
        ColumnFile(file, "orc")
    assert capfd.readouterr() == ("", "")
