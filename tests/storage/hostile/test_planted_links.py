"""Links planted in a database lead nowhere; what they point to is untouched."""

import logging
import os
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.storage.fs import layout


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "my.db"
    with pykudu_sql.connect(str(path)) as conn:
        conn.execute("CREATE TABLE t (a INT PRIMARY KEY, b STRING)")
        conn.execute("INSERT INTO t VALUES (1, 'x')")
        conn.commit()
        conn.execute("FLUSH TABLE t")
    return path


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    path = tmp_path / "foreign"
    path.mkdir()
    (path / "1.log").write_bytes(b"precious")
    (path / "keep").write_bytes(b"precious")
    return path


@pytest.mark.parametrize("name", layout.DIRECTORIES)
@pytest.mark.parametrize("read_only", [False, True])
def test_a_directory_behind_a_link_is_refused(
    database: Path, foreign: Path, name: str, read_only: bool
) -> None:
    place = database / name
    if place.exists():
        place.rename(database.parent / f"moved-{name}")
    place.symlink_to(foreign)
    lock = (database / "LOCK").read_bytes()
    with pytest.raises(pykudu_sql.OperationalError, match=name):
        pykudu_sql.connect(str(database), read_only=read_only)
    assert {p.name: p.read_bytes() for p in foreign.iterdir()} == {
        "1.log": b"precious",
        "keep": b"precious",
    }
    assert (database / "LOCK").read_bytes() == lock


def test_a_tablet_behind_a_link_takes_no_files(database: Path, foreign: Path) -> None:
    (tablet,) = (database / "tablets").iterdir()
    moved = database.parent / "moved"
    tablet.rename(moved)
    tablet.symlink_to(moved)
    before = {p.name: p.read_bytes() for p in moved.iterdir()}
    with pytest.raises(pykudu_sql.Error):
        pykudu_sql.connect(str(database))
    assert {p.name: p.read_bytes() for p in moved.iterdir()} == before


def test_a_lock_that_is_a_hard_link_leaves_the_other_file_as_it_was(
    database: Path, foreign: Path
) -> None:
    (database / "LOCK").unlink()
    os.link(foreign / "keep", database / "LOCK")
    with pytest.raises(pykudu_sql.OperationalError, match="hard link"):
        pykudu_sql.connect(str(database))
    assert (foreign / "keep").read_bytes() == b"precious"


def test_a_lease_that_is_a_hard_link_leaves_the_other_file_as_it_was(
    database: Path, foreign: Path
) -> None:
    (database / "leases").mkdir(exist_ok=True)
    os.link(foreign / "keep", layout.lease_path(str(database), "planted"))
    with pytest.raises(pykudu_sql.OperationalError, match="hard link"):
        pykudu_sql.connect(str(database))
    assert (foreign / "keep").read_bytes() == b"precious"


def test_a_log_that_is_a_hard_link_is_not_written(database: Path, foreign: Path) -> None:
    (segment,) = (database / "wal").iterdir()
    os.link(segment, foreign / "log")
    before = segment.read_bytes()
    with pytest.raises(pykudu_sql.OperationalError, match="hard link"):
        pykudu_sql.connect(str(database))
    assert segment.read_bytes() == before
    (foreign / "log").unlink()
    with pykudu_sql.connect(str(database)) as conn:
        assert conn.execute("SELECT * FROM t").fetchall() == [(1, "x")]


def test_a_database_that_others_may_change_is_told(
    database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "pykudu_sql"):
        pykudu_sql.connect(str(database)).close()
        assert caplog.messages == []
        database.chmod(0o777)
        pykudu_sql.connect(str(database)).close()
    (message,) = caplog.messages
    assert repr(str(database)) in message and "other users" in message
