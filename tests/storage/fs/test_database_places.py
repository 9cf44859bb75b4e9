"""Which places belong to databases."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.storage.errors import FileAccessError
from pykudu_sql.storage.fs.database_places import (
    check_around,
    check_other,
    check_replaced,
    check_written,
)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    root = tmp_path / "of" / "my.db"
    root.parent.mkdir()
    with pykudu_sql.connect(root, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY)")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.execute("FLUSH")
    return root


def refused(check: Callable[..., None], *arguments: str) -> str:
    with pytest.raises(FileAccessError) as raised:
        check(*arguments)
    assert (raised.value.sqlstate, bool(raised.value.hint)) == ("42501", True)
    return raised.value.message


def test_all_in_a_database_belongs_to_it(database: Path) -> None:
    for name in ("", "CURRENT", "x", "wal/1.log", "tmp/a/b/c", "../my.db/x"):
        told = refused(check_written, str(database / name), name)
        assert told == f"'{name}' is a place within the database '{database}'"


def test_a_folder_with_a_file_of_that_name_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "CURRENT").write_text("MANIFEST-000001\n")
    (tmp_path / "manifest").mkdir()
    check_replaced(str(tmp_path), "x")


@pytest.mark.parametrize("lost", ["CURRENT", "manifest/1.log"])
def test_a_damaged_database_is_one(database: Path, lost: str) -> None:
    (database / lost).unlink()
    assert "within" in refused(check_written, str(database / "x"), "x")


def test_a_database_that_is_to_be_made_has_its_place(tmp_path: Path) -> None:
    new = str(tmp_path / "new.db")
    check_written(f"{new}/x", "x")
    assert "within the database" in refused(check_written, f"{new}/x", "x", new)


def test_a_link_is_where_it_lies_and_where_it_leads(database: Path, tmp_path: Path) -> None:
    (tmp_path / "in").symlink_to(database / "CURRENT")
    (tmp_path / "folder").symlink_to(database)
    (database / "out").symlink_to(tmp_path / "elsewhere")
    for path in (tmp_path / "in", tmp_path / "folder" / "x", database / "out"):
        assert "within the database" in refused(check_written, str(path), "x")


def test_a_file_of_a_database_is_one_under_each_name(database: Path, tmp_path: Path) -> None:
    files = [path for path in database.rglob("*") if path.is_file() and path.stat().st_size]
    assert {path.suffix for path in files} >= {"", ".log", ".base"}
    for number, path in enumerate(files):
        other = tmp_path / f"{number}"
        os.link(path, other)
        assert "is a file of a database" in refused(check_written, str(other), "x")


def test_a_lock_and_a_lease_are_ones_under_each_name(database: Path, tmp_path: Path) -> None:
    os.link(database / "LOCK", tmp_path / "free")
    assert "may be the lock" in refused(check_written, str(tmp_path / "free"), "x")
    (tmp_path / "free").unlink()
    with pykudu_sql.connect(database):
        os.link(database / "LOCK", tmp_path / "lock")
        assert "is a file of a database" in refused(check_written, str(tmp_path / "lock"), "x")
        (tmp_path / "lock").unlink()
    with pykudu_sql.connect(database, read_only=True) as reader:
        reader.execute("SELECT * FROM t")
        (lease,) = (database / "leases").iterdir()
        os.link(lease, tmp_path / "lease")
        assert "is a file of a database" in refused(check_written, str(tmp_path / "lease"), "x")


def test_an_empty_file_of_one_name_may_be_written(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    check_written(str(tmp_path / "x"), "x")


def test_a_folder_around_a_database_is_not_replaced(database: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "of")
    for path in (tmp_path, database.parent, tmp_path / "link", database / ".."):
        assert f"the database '{database}' lies in" in refused(check_replaced, str(path), "x")
        check_written(str(path), "x")
    for path in (tmp_path, database.parent):
        assert "lies in" in refused(check_around, str(path), "x", str(database))
    check_around(str(tmp_path / "b"), "x", str(database))


def test_one_database_is_not_another(database: Path, tmp_path: Path) -> None:
    check_other(str(database / "CURRENT"), "x", str(tmp_path / "other.db"))
    assert "within" in refused(check_other, str(database / "CURRENT"), "x", str(database))


@pytest.mark.parametrize("target", ["", ".", "..", "/", "a/..", "a/../b/", "//x"])
def test_a_path_of_no_name_is_taken_as_it_is(
    tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_written(target, target)
    check_other(target, target, str(tmp_path / "my.db"))


def test_a_nul_is_in_no_path() -> None:
    assert "is no path" in refused(check_written, "a\0b", "a\0b")
