"""Tables, and what commits did to them, into files in this process."""

import datetime as dt
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pytest

import pykudu_sql
from pykudu_sql.jobs.changes import ChangesOptions, changes
from pykudu_sql.jobs.export import ExportOptions, export
from pykudu_sql.jobs.load import LoadOptions, load
from pykudu_sql.shell.cli import main
from pykudu_sql.storage.errors import (
    DataError,
    Error,
    FileAccessError,
    InvalidValueError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
)
from tests.pykudu_sql.jobs.job_tables import (
    content,
    make_tables_of_all_types,
    run,
)


@pytest.mark.parametrize("file_format", ["parquet", "csv", "json", "orc", "arrow"])
def test_what_was_exported_is_loaded_as_it_was(path: str, tmp_path: Path, file_format: str) -> None:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        rows = make_tables_of_all_types(conn, dt.datetime(1982, 10, 10, 5, 6, 7, 8))
        conn.execute("INSERT INTO t (id, n) VALUES (-2, ?)", [b"\xff\x00"])
        if file_format != "json":
            conn.execute("INSERT INTO t (id, f, e) VALUES (-3, 'nan', '-inf')")
    target = str(tmp_path / "out")
    assert export(path, "t", target, ExportOptions(file_format)).rows > rows
    load(path, "copy", [target])
    as_text = [repr(one) for one in content(path)]
    assert [repr(one) for one in content(path, "SELECT * FROM copy ORDER BY id")] == as_text


@pytest.mark.parametrize(("name", "by_name"), [("out.csv", "csv"), ("OUT.Jsonl", "json")])
def test_a_folder_is_not_named_like_a_file_of_another_format(
    path: str, tmp_path: Path, name: str, by_name: str
) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
    target = tmp_path / name
    with pytest.raises(InvalidValueError, match="would be a folder of parquet files") as refused:
        export(path, "t", str(target))
    assert (refused.value.hint or "").startswith(f"say --format {by_name}, or another name")
    with pytest.raises(InvalidValueError, match="would be a folder of parquet files"):
        changes(path, "t", str(target), "1")
    assert not target.exists()
    export(path, "t", str(target), ExportOptions(by_name))
    assert target.is_dir()


def test_a_moment_of_a_table_is_exported(path: str, tmp_path: Path) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY, name STRING, price DECIMAL(5,2))")
    run(path, "INSERT INTO t VALUES (1, 'a', 1.5), (2, 'b', 2)", "CREATE SNAPSHOT before")
    run(path, "DELETE FROM t")
    target = tmp_path / "out"
    chosen = ExportOptions("csv", ("Name", "id"), "id > 1 -- all but one", "before")
    assert export(path, "t", str(target), chosen).rows == 1
    (part,) = target.iterdir()
    assert part.name == "part-00000.csv"
    assert pa.csv.read_csv(part).to_pylist() == [{"name": "b", "id": 2}]
    with pytest.raises(OperationalError, match="exists already"):
        export(path, "t", str(target))
    assert export(path, "t", str(target), ExportOptions(overwrite=True)).rows == 0
    assert [one.name for one in target.iterdir()] == ["part-00000.parquet"]
    assert ds.dataset(target).schema.names == ["id", "name", "price"]
    assert list(tmp_path.glob(".out*")) == []


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (ExportOptions(where="w = 1"), ProgrammingError, "'w'"),
        (ExportOptions(where="id > 0\nAND id ~~~ 1"), Error, "\nLINE 2: AND id ~~~ 1\n"),
        (ExportOptions(where="id IN (SELECT 1)"), Error, "WHERE|condition|looks at"),
        (ExportOptions(columns=("id", "w")), ProgrammingError, "'w'"),
        (ExportOptions(as_of="no moment"), Error, "no moment"),
        (ExportOptions("xml"), DataError, "not exported as 'xml'"),
        (ExportOptions(writer={"compression": "lzo"}), DataError, "lzo"),
        (ExportOptions(writer={"rows_per_file": "no"}), DataError, "a number of rows"),
        (ExportOptions(writer={"escape": "x"}, engine="local"), NotSupportedError, "needs Spark"),
        (ExportOptions(engine="fast"), DataError, "no engine 'fast'"),
    ],
)
def test_what_cannot_be_exported_leaves_nothing(
    path: str, tmp_path: Path, options: ExportOptions, error: type[Error], message: str
) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)", "INSERT INTO t VALUES (1, 'a')")
    with pytest.raises(error, match=message):
        export(path, "t", str(tmp_path / "out"), options)
    assert [one.name for one in tmp_path.iterdir()] == ["my.db"]


def test_large_tables_are_written_as_several_files(path: str, tmp_path: Path) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
    run(path, "INSERT INTO t SELECT range FROM range(200000)")
    target = tmp_path / "out"
    told: list[str] = []
    options = ExportOptions(
        "csv", writer={"compression": "gzip", "rows_per_file": "65536"}, progress=told.append
    )
    assert export(path, "t", str(target), options).rows == 200_000
    assert len(told) >= 4 and told[-1] == "200,000 rows"
    names = sorted(one.name for one in target.iterdir())
    assert names[0] == "part-00000.csv.gz" and len(names) >= 3
    run(path, "CREATE TABLE copy (id BIGINT PRIMARY KEY)")
    assert load(path, "copy", [str(target)], LoadOptions()).rows == 200_000


def test_a_file_or_a_link_is_no_folder_to_export_to(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
    target, elsewhere = tmp_path / "out", tmp_path / "else"
    target.write_text("mine")
    assert main(["export", path, "t", str(target), "--overwrite"]) == 1
    assert "is a file" in capsys.readouterr().err
    assert target.read_text() == "mine"
    target.unlink()
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("x")
    target.symlink_to(elsewhere)
    assert main(["export", path, "t", str(target), "--overwrite"]) == 1
    assert (elsewhere / "kept").read_text() == "x"
    assert main(["export", path, "nothing", str(tmp_path / "out2")]) == 2
    assert "table 'nothing' does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["{db}", "{db}/tablets", "{db}/new/x", "{db}/..", "{other}"])
def test_no_job_writes_over_a_database(path: str, tmp_path: Path, place: str) -> None:
    other, source = tmp_path / "other.db", tmp_path / "rows.csv"
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    run(str(other), "CREATE TABLE t (id BIGINT PRIMARY KEY)")
    source.write_text("id\nx\n")
    target = place.format(db=path, other=other)
    with pytest.raises(FileAccessError, match="database"):
        export(path, "t", target, ExportOptions(overwrite=True))
    with pytest.raises(FileAccessError, match="database"):
        changes(path, "t", target, "2000-01-01", ChangesOptions(overwrite=True))
    if place.startswith("{db}"):
        with pytest.raises(Error, match=r"within the database|is a folder, and a file"):
            load(path, "t", [str(source)], LoadOptions(rejects=f"{target}"))
    assert content(path, "SELECT id FROM t") == [(1,)]


def test_rejects_replace_no_file_that_is_loaded(path: str, tmp_path: Path) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
    source, link = tmp_path / "rows.csv", tmp_path / "link"
    source.write_text("id\nx\n1\n")
    link.symlink_to(source)
    for name in (source, link):
        with pytest.raises(FileAccessError, match="is one of the files to load"):
            load(path, "t", [str(tmp_path / "*.csv")], LoadOptions(rejects=str(name)))
    assert source.read_text() == "id\nx\n1\n"


def test_changes_are_written_to_files(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)", "CREATE SNAPSHOT empty")
    run(path, "INSERT INTO t VALUES (1, 'a')", "UPDATE t SET v = 'b'")
    target = tmp_path / "feed"
    assert changes(path, "t", str(target), "empty").rows == 3
    found = ds.dataset(target).to_table().sort_by([("_commit_timestamp", "ascending")]).to_pylist()
    assert {(row["v"], row["_change_type"]) for row in found} == {
        ("a", "insert"),
        ("a", "update_preimage"),
        ("b", "update_postimage"),
    }
    assert found[0]["_change_type"] == "insert"
    command = ["changes", path, "t", str(target), "--since", "empty", "--columns", "id"]
    assert main(command) == 1
    assert "exists already" in capsys.readouterr().err
    assert main([*command, "--overwrite", "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("changes: 3 rows, ")
    now = str(found[-1]["_commit_timestamp"])
    assert changes(path, "t", str(target), now, ChangesOptions(overwrite=True)).rows == 0
    until = ChangesOptions(overwrite=True, until=str(found[0]["_commit_timestamp"]))
    assert changes(path, "t", str(target), "empty", until).rows == 1
    everything = changes(path, "t", str(target), "2020-01-01", ChangesOptions(overwrite=True))
    assert everything.rows == changes(path, "t", str(tmp_path / "all"), "empty").rows
    with pytest.raises(ProgrammingError, match="'tt' does not exist"):
        changes(path, "tt", str(tmp_path / "no"), "empty")


def test_commands_run_without_spark_beside_a_writer(path: str, tmp_path: Path) -> None:
    code = (
        "import sys\nsys.modules['pyspark'] = None\n"
        "from pykudu_sql.shell.cli import main\n"
        "sys.exit(max(main(one.split()) for one in sys.argv[1:]))\n"
    )
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)")
        conn.execute("INSERT INTO t VALUES (1)")
        commands = [
            f"export {path} t {tmp_path}/out",
            f"changes {path} t {tmp_path}/feed --since {conn.snapshot_timestamp()}",
            f"backup {path} {tmp_path}/backup",
            f"restore {tmp_path}/backup {tmp_path}/new.db",
        ]
        done = subprocess.run(
            [sys.executable, "-c", code, *commands], capture_output=True, text=True, check=False
        )
    assert (done.stderr, done.returncode) == ("", 0)
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == [
        "export", "changes", "backup", "restore",
    ]  # fmt: skip
    assert content(f"{tmp_path}/new.db") == [(1,)]
