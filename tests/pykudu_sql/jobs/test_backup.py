"""Backups in steps, and restores to each of them."""

import errno
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.jobs.backup import BackupOptions, backup
from pykudu_sql.jobs.backup_manifest import read_steps
from pykudu_sql.jobs.restore import RestoreOptions, restore
from pykudu_sql.shell.cli import main
from pykudu_sql.storage.errors import (
    CorruptionError,
    DuplicateObjectError,
    FileAccessError,
    FormatVersionError,
    InvalidValueError,
    LockedError,
    OperationalError,
    ProgrammingError,
    UndefinedObjectError,
    UndefinedTableError,
)
from pykudu_sql.storage.fs.local_env import LocalEnv

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


def without_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that has no hard links."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no links")

    monkeypatch.setattr(os, "link", refuse)


@pytest.mark.parametrize("links", [True, False])
def test_each_step_restores_what_as_of_shows(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:
        without_links(monkeypatch)
    run(path, *MADE)
    target = tmp_path / "backup"
    for statements in ((), *STEPS):
        run(path, *statements, "FLUSH")
        with written_meanwhile(path):
            backup(path, str(target))
    steps = read_steps(target)
    for step in steps:
        place = str(tmp_path / f"restored{step.number}")
        restore(str(target), place, RestoreOptions(to=str(step.number)))
        assert main(["check", place]) == 0
        assert everything(place) == everything(path, step.bound - 1)
        made = ask(place, "SHOW CREATE TABLE t", "SHOW CREATE TABLE shop.log", "SHOW VIEWS")
        assert ("the table" in str(made)) and (("few" in str(made)) == (step.number < 3))
    second = str(tmp_path / "restored2")
    assert everything(second, steps[1].bound - 1) == everything(path, steps[1].bound - 1)
    run(second, "INSERT INTO shop.log VALUES ('new', NULL)")
    assert ask(second, "SELECT max(auto_incrementing_id) FROM shop.log") == [(5,)]
    pooled = next((target / "files").glob("*/*.base.*"))
    assert (pooled.stat().st_nlink > 1) == links


def test_a_step_reads_only_what_is_new(path: str, tmp_path: Path) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)")
    run(path, "INSERT INTO t SELECT range, 'v' || range FROM range(5000)", "FLUSH")
    target = tmp_path / "backup"
    first = backup(path, str(target))
    assert (first.rows, "1 of 1 files new" in first.note) == (5000, True)
    run(path, "INSERT INTO t VALUES (-1, 'new')", "FLUSH TABLE t")
    second = backup(path, str(target))
    assert (second.rows, "1 of 2 files new" in second.note) == (1, True)
    assert second.bytes < first.bytes
    assert "0 of 2 files new" in backup(path, str(target)).note
    assert "2 of 2 files new" in backup(path, str(target), BackupOptions(full=True)).note
    assert len(list((target / "files").glob("*/*"))) == 2


def test_a_restored_database_goes_on_by_itself(path: str, tmp_path: Path) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)", "INSERT INTO t VALUES (1, 'a')")
    run(path, "FLUSH")
    target, other = str(tmp_path / "backup"), str(tmp_path / "other.db")
    backup(path, target)
    restore(target, other)
    for place, value in ((path, "here"), (other, "there")):
        run(place, f"UPDATE t SET v = '{value}'", f"INSERT INTO t VALUES (2, '{value}')")
        run(place, "OPTIMIZE TABLE t FULL", "VACUUM")
        assert main(["check", place]) == 0
    backup(other, target)
    backup(path, target)
    for number, value in enumerate(("a", "there", "here")):
        place = str(tmp_path / f"r{number}")
        restore(target, place, RestoreOptions(to=str(number)))
        assert ask(place, "SELECT v FROM t WHERE id = 1") == [(value,)]


def test_a_database_in_use_by_this_process_is_backed_up(path: str, tmp_path: Path) -> None:
    target, place = str(tmp_path / "backup"), str(tmp_path / "new.db")
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)")
        conn.execute("INSERT INTO t VALUES (1)")
        backup(path, target)
        conn.execute("INSERT INTO t VALUES (2)")
        with pykudu_sql.connect(path) as other:
            other.execute("INSERT INTO t VALUES (3)")
            backup(path, target)
            other.rollback()
    restore(target, place)
    assert ask(place, "SELECT id FROM t ORDER BY id") == [(1,), (2,)]


def test_tables_are_restored_into_a_database_that_is_there(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(path, *MADE)
    target, other = str(tmp_path / "backup"), str(tmp_path / "other.db")
    assert main(["backup", path, target]) == 0
    assert capsys.readouterr().out.startswith("backup: step 0 as of ")
    before = everything(path)
    run(path, "DELETE FROM t")
    assert main(["restore", target, path]) == 1
    assert "'few' is in the database already" in capsys.readouterr().err
    assert main(["restore", target, path, "--table", "t", "--as", "old", "--to", "0"]) == 0
    assert "100 rows" in capsys.readouterr().out
    assert ask(path, "SELECT count(*) FROM old") == [(100,)]
    run(other, "CREATE TABLE mine (id BIGINT PRIMARY KEY)")
    assert restore(target, other).rows == 103
    assert everything(other) == before
    assert ask(other, "SELECT * FROM few ORDER BY id") == [(0, "v0"), (1, "v1"), (2, "v2")]
    some = str(tmp_path / "some.db")
    with pytest.raises(UndefinedObjectError, match="database 'no' does not exist"):
        restore(target, some, RestoreOptions(tables=("t",), name="no.t"))
    assert not Path(some).exists()
    assert main(["restore", target, some, "--table", "t", "--table", "shop.log"]) == 0
    assert everything(some) == before
    assert ask(some, "SHOW VIEWS") == []
    assert not list((tmp_path / "backup").glob(".*"))


def test_what_is_not_in_a_backup_is_said_with_what_is(path: str, tmp_path: Path) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
    target = str(tmp_path / "backup")
    backup(path, target)
    for options, error, message in (
        (RestoreOptions(to="7"), InvalidValueError, "has no step '7'"),
        (RestoreOptions(to="1999-01-01"), InvalidValueError, "has no step '1999-01-01'"),
        (RestoreOptions(to="soon"), InvalidValueError, "neither a step nor a moment"),
        (RestoreOptions(tables=("u",)), UndefinedTableError, "no table 'u'"),
        (RestoreOptions(tables=("t",)), DuplicateObjectError, "'t'"),
        (RestoreOptions(name="u"), ProgrammingError, "for one table"),
        (RestoreOptions(tables=("t", "u"), name="v"), ProgrammingError, "for one table"),
    ):
        with pytest.raises(error, match=message):
            restore(target, path, options)
    with pytest.raises(OperationalError, match="there is no backup"):
        restore(str(tmp_path / "nothing"), path)
    with pytest.raises(OperationalError, match="there is no database"):
        backup(str(tmp_path / "nothing"), target)
    for within in (f"{path}/backup", str(tmp_path)):
        with pytest.raises(FileAccessError, match=r"within the database|lies in"):
            backup(path, within)
    with pytest.raises(FileAccessError, match=r"within the database|lies in"):
        backup(path, f"{target}/../my.db/x")


def _flip(file: Path) -> None:
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 2] ^= 1
    file.unlink()
    file.write_bytes(whole)


def _cut(file: Path) -> None:
    whole = file.read_bytes()
    file.unlink()
    file.write_bytes(whole[:-1])


@pytest.mark.parametrize("damage", [_flip, _cut, Path.unlink])
@pytest.mark.parametrize("pattern", ["files/*/*.base.*", "0001/manifest/*.log", "0001/wal/*.log"])
def test_a_damaged_file_is_named_and_nothing_is_restored(
    path: str, tmp_path: Path, damage: Callable[[Path], None], pattern: str
) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (1)", "FLUSH")
    target, place = tmp_path / "backup", tmp_path / "new.db"
    backup(path, str(target))
    backup(path, str(target))
    file = min(target.glob(pattern))
    damage(file)
    for options in (RestoreOptions(), RestoreOptions(tables=("t",))):
        with pytest.raises(CorruptionError, match="is missing or has changed") as caught:
            restore(str(target), str(place), options)
        assert str(file) in str(caught.value)
        assert not place.exists()
    assert {entry.name for entry in tmp_path.iterdir()} == {"my.db", "backup"}


def test_a_chain_with_a_gap_or_a_changed_manifest_is_refused(path: str, tmp_path: Path) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    target, place = tmp_path / "backup", str(tmp_path / "new.db")
    for _ in range(3):
        backup(path, str(target))
    (target / "0001").rename(tmp_path / "away")
    with pytest.raises(CorruptionError, match=r"backup/0002.*backup/0001' is missing"):
        restore(str(target), place, RestoreOptions(to="0"))
    (tmp_path / "away").rename(target / "0001")
    manifest = target / "0002" / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"t"', '"u"'))
    with pytest.raises(CorruptionError, match="its checksum does not match"):
        restore(str(target), place)
    manifest.write_text(text[: len(text) // 2])
    with pytest.raises(CorruptionError, match="is no manifest of a backup"):
        restore(str(target), place)
    manifest.write_text(text)
    other = str(tmp_path / "other.db")
    run(other, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
    with pytest.raises(OperationalError, match="of another database"):
        backup(other, str(target))
    shutil.rmtree(target / "0002")
    restore(str(target), place)


def test_steps_of_another_format_are_refused(path: str, tmp_path: Path) -> None:
    from pykudu_sql.jobs import backup_manifest

    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
    target = tmp_path / "backup"
    backup(path, str(target))
    manifest = target / "0000" / "manifest.json"
    content = json.loads(manifest.read_text())["manifest"] | {"format": 1}
    whole = {"checksum": backup_manifest.checksum_of(content), "manifest": content}
    manifest.write_text(json.dumps(whole))
    with pytest.raises(FormatVersionError, match="has format 1, this release reads 2"):
        restore(str(target), str(tmp_path / "new.db"))


def test_what_a_killed_job_left_is_no_step_and_is_swept(path: str, tmp_path: Path) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (1)", "FLUSH")
    target = tmp_path / "backup"
    backup(path, str(target))
    (target / ".0001.77.unfinished" / "wal").mkdir(parents=True)
    pool = next((target / "files").iterdir())
    (pool / ".ab.unfinished").write_bytes(b"half")
    (pool / "9.base.00000000").write_bytes(b"of no step")
    (target / ".reading-1" / "db").mkdir(parents=True)
    assert backup(path, str(target)).note.startswith("step 1 as of ")
    assert sorted(one.name for one in target.iterdir()) == ["0000", "0001", "LOCK", "files"]
    assert len(list(pool.iterdir())) == 1


def test_one_process_at_a_time_adds_a_step(path: str, tmp_path: Path) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
    target = tmp_path / "backup"
    backup(path, str(target))
    lock = LocalEnv().lock(str(target / "LOCK"))
    with pytest.raises(LockedError, match="another process adds a step"):
        backup(path, str(target))
    lock.release()
    assert backup(path, str(target)).note.startswith("step 1")


def test_a_step_behind_the_drop_of_a_range_has_the_changes_before_it(tmp_path: Path) -> None:
    path, target = str(tmp_path / "my.db"), str(tmp_path / "backup")
    run(path, *MADE)
    with pykudu_sql.connect(path, read_only=True) as conn:
        since = conn.snapshot_timestamp()
    backup(path, target)
    run(path, "UPDATE t SET v = 'late' WHERE id = 11", *STEPS[2])
    backup(path, target)
    restored = str(tmp_path / "again.db")
    restore(target, restored)
    told = f"SELECT id, day, v, _change_type FROM CHANGES(t, {since}) ORDER BY ALL"
    changes = ask(path, told)
    assert ask(restored, told) == changes
    assert (11, 11, "late", "update_postimage") in changes
    assert [row[-1] for row in changes].count("delete") == 50
