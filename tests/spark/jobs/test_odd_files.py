"""Files as people have them: nothing is loaded under a wrong name, cut off or left out unseen."""

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql.jobs.options import ExportOptions, LoadOptions
from pykudu_sql.jobs.table_layout import TableLayout
from pykudu_sql.shell.cli import main
from pykudu_sql.storage.errors import Error
from tests.pykudu_sql.jobs.job_tables import (
    PLAIN_TABLE,
    Rows,
    content,
    make_tables_of_all_types,
    run,
    write_texts,
)
from tests.spark.spark_jobs import export, load

KEYED = TableLayout(("id",))


@pytest.fixture
def table(path: str) -> str:
    run(path, PLAIN_TABLE)
    return path


@pytest.mark.parametrize(
    ("files", "options", "expected"),
    [
        ({"a.csv": ""}, {}, []),
        ({"a.csv": "id,v\n"}, {}, []),
        ({"a.csv": "1,x\n2,y\n"}, {"header": "false"}, [(1, "x", None), (2, "y", None)]),
        ({"a.csv": "1;x\n"}, {"Header": "false", "SEP": ";"}, [(1, "x", None)]),
        ({"a.tsv": "id\tv\n1\tx,y\n"}, {}, [(1, "x,y", None)]),
        ({"a.csv": 'id,v,i\n1,"",""\n2,,\n'}, {}, [(1, "", None), (2, None, None)]),
        ({"a.csv": "ID,V\n1, x \n"}, {}, [(1, " x ", None)]),
        ({"a [1] {b}.json": '{"id":1}\n'}, {}, [(1, None, None)]),
        ({"a.csv": "", "b.csv": "id,i\n2,20\n"}, {}, [(2, None, 20)]),
        ({"a.json": '{"ID":1,"V":"x"}\n'}, {}, [(1, "x", None)]),
        ({"a.json": '{"id":1,"i":2}\n{"v":"x","id":3}\n'}, {}, [(1, None, 2), (3, "x", None)]),
        ({"a.json": ""}, {}, []),
        ({"a.csv": "id,i\n1,10\n", "b.csv": "i,id\n20,2\n"}, {}, [(1, None, 10), (2, None, 20)]),
        ({"a.csv": "id,i\n1,1\n", "b.csv": "id,v\n2,z\n"}, {}, [(1, None, 1), (2, "z", None)]),
        ({"a[1].csv": "id\n1\n"}, {}, [(1, None, None)]),
        ({"a.json": '[{"id":1},\n{"id":2,"v":"x"}]'}, {}, [(1, None, None), (2, "x", None)]),
    ],
)
def test_text_files_are_read_by_the_names_in_them(
    spark: SparkSession,
    table: str,
    tmp_path: Path,
    files: dict[str, str],
    options: dict[str, str],
    expected: Rows,
) -> None:
    report = load(table, "t", write_texts(tmp_path, files), LoadOptions(reader=options))
    assert report.rows == len(expected)
    assert content(table, "SELECT id, v, i FROM t ORDER BY id") == expected


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.csv": "id,i\n1,10\n2\n"}, "cannot be taken apart"),
        ({"a.csv": "id\n1\n", "b.json": '{"id":2}\n'}, "several formats: csv, json"),
        ({"a.json": '{"id":1,"more":1}\n'}, "a key 'more' that table 't' has not"),
        ({"a.json": '{"id":1,"ID":2}\n'}, "a key is given twice"),
        ({"a.json": "{oops\n"}, "cannot be taken apart"),
        ({"a.csv": "id,i\n1,1.5\n"}, "'1.5' is no INT"),
        ({"a.parquet": "hello"}, "cannot be read as Parquet"),
    ],
)
def test_text_files_that_do_not_fit_are_refused(
    spark: SparkSession,
    table: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    files: dict[str, str],
    message: str,
) -> None:
    assert main(["load", "--engine", "spark", table, "t", *write_texts(tmp_path, files)]) == 1
    said = [line for line in capfd.readouterr().err.splitlines() if message in line]
    assert said, message
    assert content(table) == []


def test_parquet_files_may_have_different_columns(
    spark: SparkSession, table: str, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"id": [1], "v": ["a"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"id": [2], "i": pa.array([3], pa.int32())}), tmp_path / "b.parquet")
    load(table, "t", [str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")])
    assert content(table, "SELECT id, v, i FROM t ORDER BY id") == [(1, "a", None), (2, None, 3)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": [1], "i": [1.5]}, "cannot read 1.5 as INT"),
        ({"id": [1], "i": [2**40]}, "is out of range for INT"),
        ({"id": [1], "d": [dt.datetime(2026, 1, 31, 12)]}, "is more than a day"),
        ({"id": [1], "v": [[1]]}, "is STRING, and in .* it is list"),
        ({"id": [1], "v": [{"a": 1}]}, "is STRING, and in .* it is struct"),
    ],
)
def test_cells_that_would_be_cut_are_refused(
    spark: SparkSession, table: str, tmp_path: Path, columns: dict[str, object], message: str
) -> None:
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(Error, match=message):
        load(table, "t", [str(tmp_path / "a.parquet")])


def test_names_of_columns_may_be_anything(spark: SparkSession, path: str, tmp_path: Path) -> None:
    (source,) = write_texts(tmp_path, {"a.csv": 'id,a.b,ü`x,"q""r",_reason\n1,2,3,4,5\n'})
    load(path, "t", [source], LoadOptions(layout=KEYED))
    assert content(path) == [(1, 2, 3, 4, 5)]
    assert content(path, 'SELECT "a.b", "ü`x", "q""r", _reason FROM t') == [(2, 3, 4, 5)]


def test_a_load_that_fails_leaves_neither_table_nor_database(
    spark: SparkSession, path: str, tmp_path: Path
) -> None:
    (source,) = write_texts(tmp_path, {"a.csv": "id,v\n1,x\n1,y\n"})
    with pytest.raises(Error, match="given twice"):
        load(path, "t", [source], LoadOptions(layout=KEYED))
    assert not Path(path).exists()
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute("CREATE TABLE other (id BIGINT PRIMARY KEY)")
    with pytest.raises(Error, match="given twice"):
        load(path, "t", [source], LoadOptions(layout=KEYED))
    assert content(path, "SHOW TABLES") == [("other",)]


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_what_was_exported_is_loaded_as_it_was(
    spark: SparkSession, path: str, tmp_path: Path, file_format: str
) -> None:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        rows = make_tables_of_all_types(conn, dt.datetime(1582, 10, 10, 5, 6, 7, 8))
        conn.execute("INSERT INTO t (id, f, e, n) VALUES (-2, 'nan', '-inf', ?)", [b"\xff\x00"])
    target = str(tmp_path / "out")
    assert export(path, "t", target, ExportOptions(file_format)).rows == rows + 1
    load(path, "copy", [target], LoadOptions(file_format))
    as_text = [repr(one) for one in content(path)]
    assert [repr(one) for one in content(path, "SELECT * FROM copy ORDER BY id")] == as_text


def test_a_file_is_no_folder_to_export_to(
    spark: SparkSession, table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (target,) = write_texts(tmp_path, {"out": "mine"})
    assert main(["export", "--engine", "spark", table, "t", target, "--overwrite"]) == 1
    assert "is a file" in capsys.readouterr().err
    assert Path(target).read_text() == "mine"
