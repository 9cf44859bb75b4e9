"""Files into tables and tables into files, as functions and as commands."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql.jobs.on_spark import changes as changes_job
from pykudu_sql.jobs.on_spark import export as export_job
from pykudu_sql.jobs.on_spark import load as load_job
from pykudu_sql.jobs.options import ExportOptions, LoadOptions
from pykudu_sql.jobs.table_layout import TableLayout
from pykudu_sql.shell.cli import main
from pykudu_sql.storage.errors import DataError, IntegrityError, OperationalError, ProgrammingError
from tests.spark.spark_jobs import changes, export, load

KEYED = TableLayout(("id",), ('("id") PARTITIONS 2',))


@pytest.fixture
def csv(tmp_path: Path) -> str:
    """Two good rows, two that do not fit, one with too few cells in it."""
    source = tmp_path / "in.csv"
    source.write_text('name,id,price\n"An, na",1,2.50\nBert,2,\nCid,x,1\nDora,,2\n')
    return str(source)


def all_rows(path: str) -> list[tuple[object, ...]]:
    with pykudu_sql.connect(path) as conn:
        return conn.execute("SELECT * FROM t ORDER BY id").fetchall()


def make_table(path: str) -> None:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, name STRING, price DECIMAL(5,2))")


def test_a_table_is_made_from_parquet_files(spark: SparkSession, path: str, tmp_path: Path) -> None:
    table = pa.table({"id": [1, 2, 3], "name": ["a", None, "c"]})
    pq.write_table(table, tmp_path / "x.parquet")
    report = load(path, "T", [str(tmp_path / "*.parquet")], LoadOptions(layout=KEYED))
    assert (report.rows, report.rejected) == (3, 0)
    assert all_rows(path) == [(1, "a"), (2, None), (3, "c")]
    with pytest.raises(IntegrityError, match="is present already"):
        load(path, "t", [str(tmp_path / "x.parquet")])
    assert load(path, "t", [str(tmp_path)], LoadOptions("parquet", operation="upsert")).rows == 3


def test_rows_that_do_not_fit_end_the_load(spark: SparkSession, path: str, csv: str) -> None:
    make_table(path)
    with pytest.raises(DataError, match="column 'id': 'x' is no BIGINT"):
        load(path, "t", [csv])
    assert all_rows(path) == []


def test_rows_that_do_not_fit_go_to_a_file_with_reasons(
    spark: SparkSession, path: str, csv: str, tmp_path: Path
) -> None:
    make_table(path)
    aside = tmp_path / "rejects.json"
    report = load(path, "t", [csv], LoadOptions(rejects=str(aside)))
    assert (report.rows, report.rejected) == (2, 2)
    assert [(row[0], row[1], str(row[2])) for row in all_rows(path)] == [
        (1, "An, na", "2.50"),
        (2, "Bert", "None"),
    ]
    found = [json.loads(line) for line in aside.read_text().splitlines()]
    assert found == [
        {
            "file": csv,
            "line": 4,
            "reason": "column 'id': 'x' is no BIGINT",
            "row": '{"name":"Cid","id":"x","price":"1"}',
        },
        {
            "file": csv,
            "line": 5,
            "reason": "column 'id' must not be NULL",
            "row": '{"name":"Dora","id":null,"price":"2.00"}',
        },
    ]


def test_lines_that_are_no_json_are_rejected_as_they_are(
    spark: SparkSession, path: str, tmp_path: Path
) -> None:
    make_table(path)
    source, aside = tmp_path / "in.jsonl", tmp_path / "rejects.json"
    source.write_text('{"id": 1, "name": "a", "price": 1.25}\n{"id": 2,\n')
    assert load(path, "t", [str(source)], LoadOptions(rejects=str(aside))).rejected == 1
    assert json.loads(aside.read_text()) == {
        "file": str(source),
        "line": 2,
        "reason": "the line cannot be taken apart: the line is no JSON: "
        "Expecting property name enclosed in double quotes",
        "row": '{"id": 2,',
    }


def test_a_table_without_a_key_is_not_made(spark: SparkSession, path: str, csv: str) -> None:
    with pytest.raises(OperationalError, match="there is no database at"):
        load(path, "t", [csv])
    pykudu_sql.connect(path).close()
    with pytest.raises(ProgrammingError, match="needs a primary key"):
        load(path, "t", [csv])


def test_a_table_that_is_not_there_may_be_one_that_was_meant(path: str, csv: str) -> None:
    make_table(path)
    with pytest.raises(ProgrammingError, match="did you mean 't'") as raised:
        load(path, "tt", [csv])
    assert "--primary-key" in str(raised.value.hint)


def test_a_moment_of_a_table_is_exported(spark: SparkSession, path: str, tmp_path: Path) -> None:
    make_table(path)
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute("INSERT INTO t VALUES (1, 'a', 1.5), (2, 'b', 2)")
        conn.execute("CREATE SNAPSHOT before")
        conn.execute("DELETE FROM t")
    target = tmp_path / "out"
    chosen = ExportOptions("csv", ("Name", "id"), "id > 1", "before")
    assert export(path, "t", str(target), chosen).rows == 1
    (part,) = target.glob("*.csv")
    assert pyarrow.csv.read_csv(part).to_pylist() == [{"name": "b", "id": 2}]
    with pytest.raises(OperationalError, match="exists already"):
        export(path, "t", str(target))
    assert export(path, "t", str(target), ExportOptions(overwrite=True)).rows == 0
    assert list(tmp_path.glob(".out*")) == []


def test_what_cannot_be_read_is_said_before_spark_starts(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)")
        conn.execute("INSERT INTO t VALUES (1, 'a')")
        conn.execute("UPDATE t SET v = 'b'")
        conn.execute("SET DATABASE history_max_age = 0")
        conn.execute("OPTIMIZE TABLE t FULL")
        conn.execute("VACUUM")
    monkeypatch.setattr(export_job, "start_session", _refuse)
    monkeypatch.setattr(changes_job, "start_session", _refuse)
    target = str(tmp_path / "out")
    for options in (
        ExportOptions(where="w = 1"),
        ExportOptions(columns=("id", "w")),
        ExportOptions(as_of="no moment"),
    ):
        with pytest.raises((ProgrammingError, DataError)) as caught:
            export(path, "t", target, options)
        assert caught.value.hint
    with pytest.raises(OperationalError, match="its history goes back to"):
        changes(path, "t", target, "2020-01-01")
    with pytest.raises(ProgrammingError, match="'tt' does not exist"):
        changes(path, "tt", target, "2026-01-01")


@pytest.mark.parametrize("pattern", ["nope/*.csv", "no.csv", "file:/no.csv", "{a,{b,c}}[^x].csv"])
def test_files_that_are_not_there_are_told_before_spark_starts(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    make_table(path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(load_job, "start_session", _refuse)
    with pytest.raises(OperationalError, match="no file matches") as caught:
        load(path, "t", [pattern])
    assert pattern in str(caught.value)


@pytest.mark.parametrize("source", ["s3a://b/x.csv", "{a,{b,c}}[^x].csv", "file:by.csv", "*.csv"])
def test_files_that_are_there_or_elsewhere_are_left_to_spark(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    make_table(path)
    (tmp_path / "by.csv").write_text("id\n1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(load_job, "start_session", _refuse)
    with pytest.raises(AssertionError, match="Spark was started"):
        load(path, "t", [source])


def test_an_operation_that_is_none_is_told_before_spark_starts(
    path: str, csv: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_table(path)
    monkeypatch.setattr(load_job, "start_session", _refuse)
    with pytest.raises(DataError, match="there is no operation 'upzert'"):
        load(path, "t", [csv], LoadOptions(operation="upzert"))
    with pytest.raises(SystemExit) as leaving:
        main(["load", "--engine", "spark", path, "t", csv, "--operation", "upzert"])
    told = capsys.readouterr().err
    assert leaving.value.code == 2 and "upzert" in told and "upsert_ignore" in told


def _refuse(*_: object) -> None:
    raise AssertionError("Spark was started")


def test_the_commands_say_what_they_did(
    spark: SparkSession, path: str, csv: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    aside, target = str(tmp_path / "bad.json"), str(tmp_path / "out")
    made = ["--primary-key", "name", "--hash", "name:2", "--rejects", aside]
    assert main(["load", "--engine", "spark", path, "t", csv, *made]) == 0
    assert capsys.readouterr().out.startswith("load: 4 rows, ")
    assert main(["export", "--engine", "spark", path, "t", target, "--where", "price > 2"]) == 0
    assert capsys.readouterr().out.startswith("export: 1 row, ")
    assert main(["export", "--engine", "spark", path, "nothing", target + "2"]) == 2
    assert "table 'nothing' does not exist" in capsys.readouterr().err
    assert main(["load", "--engine", "spark", path, "t", str(tmp_path / "no.csv")]) == 2
    assert "no file matches" in capsys.readouterr().err


def test_a_job_prints_nothing_but_what_it_did(path: str, csv: str) -> None:
    program = [
        sys.executable,
        "-m",
        "pykudu_sql",
        "load",
        "--engine",
        "spark",
        path,
        "t",
        csv,
        "--primary-key",
        "name",
    ]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("load: ")
    assert done.stderr == ""
