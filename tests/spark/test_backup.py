"""Backups in steps, and restores to each of them."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql.jobs.backup import backup
from pykudu_sql.jobs.backup_manifest import Content, read_steps
from pykudu_sql.jobs.changes import changes
from pykudu_sql.jobs.restore import RestoreOptions, restore
from pykudu_sql.shell.cli import main
from pykudu_sql.storage.errors import (
    CorruptionError,
    DuplicateObjectError,
    InvalidValueError,
    OperationalError,
    ProgrammingError,
    UndefinedTableError,
)

Rows = list[tuple[object, ...]]

MADE = (
    "CREATE DATABASE shop COMMENT 'of things'",
    "CREATE TABLE t (id BIGINT, day INT, v STRING, w DECIMAL(9,2), PRIMARY KEY (id, day)) "
    "PARTITION BY HASH (id) PARTITIONS 2, RANGE (day) "
    "(PARTITION VALUES < 10, PARTITION 10 <= VALUES < 20) COMMENT 'the table'",
    "CREATE TABLE shop.log (v STRING NOT NULL, at TIMESTAMP, NON UNIQUE PRIMARY KEY (v))",
    "CREATE VIEW few AS SELECT id, v FROM t WHERE id < 3",
    "INSERT INTO t SELECT range, range % 20, 'v' || range, range / 4 FROM range(100)",
    "INSERT INTO shop.log VALUES ('a', '1969-07-20 20:17:40.000001'), ('b', NULL), ('a', NULL)",
)
STEPS = (
    (
        "UPDATE t SET v = 'changed' WHERE id < 10",
        "DELETE FROM t WHERE id BETWEEN 20 AND 29",
        "INSERT INTO shop.log VALUES ('c', now())",
    ),
    (
        "ALTER TABLE t DROP COLUMN w",
        "ALTER TABLE t ADD COLUMN x DATE NOT NULL DEFAULT '2026-01-31'",
        "UPDATE t SET x = '1999-12-31' WHERE id = 50",
        "DELETE FROM t WHERE id = 0",
        "INSERT INTO t (id, day, v) VALUES (0, 0, 'again')",
        "DELETE FROM shop.log WHERE v = 'a'",
    ),
    (
        "ALTER TABLE t DROP RANGE PARTITION 10 <= VALUES < 20",
        "INSERT INTO t (id, day, v) VALUES (1000, 1, 'last')",
        "DROP VIEW few",
    ),
)


def run(path: str, *statements: str) -> None:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        for statement in statements:
            conn.execute(statement)


def ask(path: str, *statements: str) -> Rows:
    with pykudu_sql.connect(path, read_only=True) as conn:
        return [tuple(row) for one in statements for row in conn.execute(one).fetchall()]


def everything(path: str, as_of: int | None = None) -> Rows:
    """All rows, hidden numbers among them, and how the tables were made."""
    moment = "" if as_of is None else f" FOR SYSTEM_TIME AS OF {as_of}"
    return ask(
        path,
        f"SELECT * FROM t{moment} ORDER BY id, day",
        f"SELECT auto_incrementing_id, * FROM shop.log{moment} ORDER BY auto_incrementing_id",
    )


@contextmanager
def written_meanwhile(path: str) -> Iterator[None]:
    """A database that another thread goes on writing to."""
    ended = threading.Event()

    def write() -> None:
        with pykudu_sql.connect(path, autocommit=True) as conn:
            number = 0
            while not ended.wait(0.05):
                number += 1
                conn.execute(
                    "UPSERT INTO t (id, day, v) VALUES (?, 1, ?)", [number % 7, f"{number}"]
                )

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        ended.set()
        writer.join()


def test_each_step_restores_what_as_of_shows(
    spark: SparkSession, path: str, tmp_path: Path
) -> None:
    run(path, *MADE)
    target = tmp_path / "backup"
    for statements in ((), *STEPS):
        run(path, *statements)
        with written_meanwhile(path):
            backup(path, str(target))
    steps = read_steps(target)
    assert [{one.table.name: one.content.value for one in step.tables} for step in steps] == [
        {"t": "rows", "shop.log": "rows"},
        {"t": "changes", "shop.log": "changes"},
        {"t": "changes", "shop.log": "changes"},
        {"t": "rows", "shop.log": "changes"},
    ]
    for step in steps:
        place = str(tmp_path / f"restored{step.number}")
        restore(str(target), place, RestoreOptions(to=str(step.number)))
        assert everything(place) == everything(path, step.bound - 1)
        made = ask(place, "SHOW CREATE TABLE t", "SHOW CREATE TABLE shop.log", "SHOW VIEWS")
        assert ("the table" in str(made)) and (("few" in str(made)) == (step.number < 3))
    run(str(tmp_path / "restored2"), "INSERT INTO shop.log VALUES ('new', NULL)")
    (newest,) = ask(
        str(tmp_path / "restored2"),
        "SELECT max(auto_incrementing_id) FROM shop.log",
    )
    assert newest == (5,)


def test_one_table_is_restored_under_another_name(
    spark: SparkSession, path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)", "INSERT INTO t VALUES (1, 'a')")
    target = str(tmp_path / "backup")
    assert main(["backup", path, target]) == 0
    assert capsys.readouterr().out.startswith("backup: step 0 (rows) as of ")
    run(path, "DELETE FROM t")
    assert main(["restore", target, path]) == 1
    assert "'t' is in the database already" in capsys.readouterr().err
    assert main(["restore", target, path, "--table", "t", "--as", "old", "--to", "0"]) == 0
    assert "1 rows" in capsys.readouterr().out
    assert ask(path, "SELECT * FROM old") == [(1, "a")]
    with pytest.raises(InvalidValueError, match="has no step '7'"):
        restore(target, path, RestoreOptions(to="7"))
    with pytest.raises(InvalidValueError, match="has no step '1999-01-01'"):
        restore(target, path, RestoreOptions(to="1999-01-01"))
    with pytest.raises(UndefinedTableError, match="no table 'u'"):
        restore(target, path, RestoreOptions(table="u"))
    with pytest.raises(DuplicateObjectError):
        restore(target, path, RestoreOptions(table="t"))
    with pytest.raises(ProgrammingError, match="for one table"):
        restore(target, path, RestoreOptions(name="u"))


def test_a_backup_that_was_tampered_with_is_refused(
    spark: SparkSession, path: str, tmp_path: Path
) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    target, place = tmp_path / "backup", tmp_path / "new.db"
    backup(path, str(target))
    (file,) = target.glob("0000/*/*.parquet")
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + b"x")
    with pytest.raises(CorruptionError, match="not what was written"):
        restore(str(target), str(place))
    assert not place.exists()
    file.write_bytes(whole)
    manifest = target / "0000" / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"t"', '"u"'))
    with pytest.raises(CorruptionError, match="its checksum is another"):
        restore(str(target), str(place))
    manifest.write_text(text)
    with pytest.raises(OperationalError, match="there is no backup"):
        restore(str(tmp_path), str(place))
    other = str(tmp_path / "other.db")
    run(other, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
    with pytest.raises(OperationalError, match="of another database"):
        backup(other, str(target))


def test_a_table_whose_history_is_gone_is_copied_whole(
    spark: SparkSession, path: str, tmp_path: Path
) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (1), (2)")
    target = str(tmp_path / "backup")
    backup(path, target)
    run(path, "DELETE FROM t WHERE id = 1", "SET DATABASE history_max_age = 0")
    run(path, "INSERT INTO t VALUES (9)", "OPTIMIZE TABLE t FULL", "VACUUM")
    run(path, "SET DATABASE history_max_age = 1000")
    backup(path, target)
    assert [step.tables[0].content for step in read_steps(Path(target))] == [Content.ROWS] * 2
    restore(target, str(tmp_path / "new.db"))
    assert ask(str(tmp_path / "new.db"), "SELECT * FROM t ORDER BY id") == [(2,), (9,)]


def test_changes_are_written_to_files(
    spark: SparkSession, path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)", "CREATE SNAPSHOT empty")
    run(path, "INSERT INTO t VALUES (1, 'a')", "UPDATE t SET v = 'b'")
    target = tmp_path / "feed"
    assert changes(path, "t", str(target), "empty").rows == 3
    found = spark.read.parquet(str(target)).orderBy("_commit_timestamp", "v").collect()
    assert [(row.v, row._change_type) for row in found] == [
        ("a", "insert"),
        ("a", "update_preimage"),
        ("b", "update_postimage"),
    ]
    command = ["changes", path, "t", str(target), "--since", "empty", "--columns", "id"]
    assert main(command) == 1
    assert "exists already" in capsys.readouterr().err
    assert main([*command, "--overwrite", "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("changes: 3 rows, ")


def test_a_step_that_did_not_end_is_none(spark: SparkSession, path: str, tmp_path: Path) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    target = tmp_path / "backup"
    backup(path, str(target))
    (target / ".0001.77.unfinished").mkdir()
    assert backup(path, str(target)).note.startswith("step 1 (changes)")
    assert json.loads((target / "0001" / "manifest.json").read_text())["manifest"]["number"] == 1
