"""COPY to folders of partitions and back, beside DuckDB's reading of them."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pykudu_sql
from pykudu_sql.files.hive_paths import folder_of, partitions_of
from pykudu_sql.files.writing import partitioned_files

ROWS = "(1, 'x/y', 1, '2026-01-01', 1.5), (2, NULL, 1, NULL, NULL), (3, '', 2, '2026-01-02', 0), "
ROWS += "(4, 'x/y', 1, '2026-01-01', -1), (5, 'a=b%2F ü', -3, NULL, 2)"
COLUMNS = "(id INT PRIMARY KEY, a STRING, b INT, d DATE, n DECIMAL(5,2))"


@pytest.fixture
def conn(tmp_path: Path) -> pykudu_sql.Connection:
    made = pykudu_sql.connect(autocommit=True, files=str(tmp_path))
    made.execute(f"CREATE TABLE t {COLUMNS}")
    made.execute(f"CREATE TABLE u {COLUMNS}")
    made.execute(f"INSERT INTO t VALUES {ROWS}")
    return made


def rows(conn: pykudu_sql.Connection, table: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in conn.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()]


@pytest.mark.parametrize("file_format", ["csv", "json", "parquet", "orc", "arrow"])
@pytest.mark.parametrize("by", ["a", "b, a", "d", "n"])
def test_partitions_are_read_back_as_they_were(
    conn: pykudu_sql.Connection, file_format: str, by: str
) -> None:
    copied = conn.execute(f"COPY t TO 'out' (FORMAT {file_format}, PARTITION BY ({by}))")
    assert copied.rowcount == 5
    assert conn.execute("COPY u FROM 'out'").rowcount == 5
    assert rows(conn, "u") == rows(conn, "t")
    conn.execute("DELETE FROM u")
    assert conn.execute(f"COPY u (id, {by}) FROM 'out/**/*.{file_format}'").rowcount == 5
    own = conn.execute(f"SELECT id, {by} FROM t ORDER BY id").fetchall()
    assert conn.execute(f"SELECT id, {by} FROM u ORDER BY id").fetchall() == own


def test_duckdb_reads_the_same(conn: pykudu_sql.Connection, tmp_path: Path) -> None:
    conn.execute("COPY t TO 'out' (FORMAT parquet, PARTITION_BY (a, b), ROW_GROUP_SIZE 1)")
    files = f"read_parquet('{tmp_path}/out/**/*.parquet', hive_types={{'a': VARCHAR}})"
    found = duckdb.sql(f"SELECT id, a, b FROM {files} ORDER BY id").fetchall()
    assert found == conn.execute("SELECT id, a, b FROM t ORDER BY id").fetchall()
    (file,) = (tmp_path / "out" / "a=x%2Fy" / "b=1").iterdir()
    assert pq.ParquetFile(file).num_row_groups == 2
    duckdb.sql(
        f"COPY (SELECT 7 AS id, 'p q' AS a, 3 AS b) TO '{tmp_path}/duck' "
        "(FORMAT parquet, PARTITION_BY (a, b))"
    )
    conn.execute("COPY u FROM 'duck'")
    assert rows(conn, "u") == [(7, "p q", 3, None, None)]


def test_a_glob_below_one_partition_has_its_value(conn: pykudu_sql.Connection) -> None:
    conn.execute("COPY t TO 'out' (FORMAT csv, PARTITION BY (b))")
    assert conn.execute("COPY u FROM 'out/b=1/*.csv'").rowcount == 3
    assert conn.execute("SELECT DISTINCT b FROM u").fetchall() == [(1,)]


def test_a_column_of_the_file_counts_before_that_of_its_folder(
    conn: pykudu_sql.Connection, tmp_path: Path
) -> None:
    (tmp_path / "in" / "b=9").mkdir(parents=True)
    pq.write_table(pa.table({"id": [1], "b": [4]}), tmp_path / "in" / "b=9" / "x.parquet")
    conn.execute("COPY u FROM 'in'")
    assert conn.execute("SELECT id, b FROM u").fetchall() == [(1, 4)]


def test_a_folder_is_replaced_only_where_the_statement_says_so(
    conn: pykudu_sql.Connection, tmp_path: Path
) -> None:
    copy = "COPY (SELECT id, b FROM t WHERE id = {}) TO 'out' (FORMAT csv, PARTITION BY (b){})"
    conn.execute(copy.format(1, ""))
    with pytest.raises(pykudu_sql.OperationalError, match="exists already"):
        conn.execute(copy.format(3, ""))
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    (tmp_path / "out" / "link").symlink_to(outside)
    conn.execute(copy.format(3, ", OVERWRITE"))
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["b=2"]
    assert (outside / "kept").exists()
    assert not list(tmp_path.glob(".*"))
    for target in (".", "..", str(outside)):
        with pytest.raises(pykudu_sql.Error):
            conn.execute(f"COPY t TO '{target}' (FORMAT csv, PARTITION BY (b), OVERWRITE)")
    assert (outside / "kept").exists() and (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("PARTITION BY (w)", "column 'w', which the rows do not have"),
        ("PARTITION BY (a, a)", "names a column twice"),
        ("PARTITION BY (id, a, b, d, n)", "none is left"),
        ("PARTITION BY ()", "a column name"),
        ("ROW_GROUP_SIZE 5", "option of Parquet"),
        ("ROW_GROUP_SIZE 0", "a number of rows"),
    ],
)
def test_what_cannot_be_partitioned_leaves_nothing(
    conn: pykudu_sql.Connection, tmp_path: Path, options: str, message: str
) -> None:
    with pytest.raises(pykudu_sql.Error, match=message):
        conn.execute(f"COPY t TO 'out' (FORMAT csv, {options})")
    assert list(tmp_path.iterdir()) == []


def test_many_partitions_need_few_open_files(
    conn: pykudu_sql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitioned_files, "MOST_OPEN", 2)
    query = "SELECT i AS id, i % 7 AS b FROM range(700) AS r (i)"
    conn.execute(f"COPY ({query}) TO 'out' (FORMAT csv, PARTITION BY (b))")
    assert conn.execute("COPY u (id, b) FROM 'out'").rowcount == 700
    assert conn.execute("SELECT count(*) FROM u WHERE b <> id % 7").fetchall() == [(0,)]


def test_names_and_values_of_folders_are_read_as_they_were_written() -> None:
    values = ["a/b", "=", "", "%41", None, "__HIVE_DEFAULT_PARTITION__"]
    folders = folder_of(["x y", "B", "c", "d", "e", "f"], values).split("/")
    names = ["x y", "b", "c", "d", "e", "f"]
    assert partitions_of(folders) == dict(zip(names, values, strict=True))
