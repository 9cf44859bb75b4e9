"""Files of large texts are read a few rows at a time."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pykudu_sql
from pykudu_sql.files.column_rows import ColumnFile
from pykudu_sql.files.file_access import FileAccess

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
