"""Links planted in a database lead nowhere; what they point to is untouched."""

import contextlib
import logging
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql import offline
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.ingest.staging import create_staging

UUID = "00000000-0000-0000-0000-000000000000"
FOREIGN = {"1.log": b"precious", "keep": b"precious"}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "my.db"
    with pykudu_sql.connect(str(path)) as conn:
        conn.execute("CREATE TABLE t (a INT PRIMARY KEY, b STRING)")
        conn.execute("INSERT INTO t VALUES (1, 'x')")
        conn.commit()
        conn.execute("FLUSH TABLE t")
    (path / "leases").mkdir(exist_ok=True)
    create_staging(LocalEnv(), str(path))[1].release()
    return path


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    path = tmp_path / "foreign"
    path.mkdir()
    for name, content in FOREIGN.items():
        (path / name).write_bytes(content)
    return path


FOLDERS = [".", *layout.DIRECTORIES, "tablets/*", "staging/*"]
STRANGE: dict[str, Callable[[Path, Path], None]] = {
    "link to a file": lambda place, foreign: place.symlink_to(foreign / "keep"),
    "link to a directory": lambda place, foreign: place.symlink_to(foreign),
    "dangling link": lambda place, foreign: place.symlink_to(foreign / "missing"),
    "pipe": lambda place, foreign: os.mkfifo(place),
    "socket": lambda place, foreign: make_socket(place),
}


def make_socket(place: Path) -> None:
    with contextlib.chdir(place.parent), socket.socket(socket.AF_UNIX) as made:
        made.bind(place.name)  # a whole path may be too long for an address


def only(database: Path, pattern: str) -> Path:
    """The one folder of a pattern; "." is the database."""
    (place,) = [database] if pattern == "." else database.glob(pattern)
    return place


def refused(database: Path, read_only: bool) -> pykudu_sql.OperationalError:
    """What opening says; nothing that it could have changed has changed."""
    lock = (database / "LOCK").read_bytes()
    with pytest.raises(pykudu_sql.OperationalError) as caught:
        pykudu_sql.connect(str(database), read_only=read_only)
    assert caught.value.sqlstate == "58030"
    assert (database / "LOCK").read_bytes() == lock
    return caught.value


def problems(database: Path) -> list[str]:
    return [finding.problem for finding in offline.check(str(database), quick=True).run()]


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_neither_a_file_nor_a_directory_is_refused_and_named(
    database: Path, foreign: Path, folder: str, kind: str
) -> None:
    place = only(database, folder)
    STRANGE[kind](place / "zz", foreign)
    for read_only in (False, True):
        error = refused(database, read_only)
        assert str(place / "zz") in error.message and error.hint is not None
        assert "plain files and directories only" in error.hint
    (problem,) = problems(database)
    assert str(place / "zz") in problem
    assert {p.name: p.read_bytes() for p in foreign.iterdir()} == FOREIGN


@pytest.mark.parametrize("name", [*layout.DIRECTORIES, "tablets/*", "staging/*"])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_directory_behind_a_link_is_refused(
    database: Path, foreign: Path, name: str, read_only: bool
) -> None:
    place = only(database, name)
    place.rename(database.parent / "moved")
    place.symlink_to(foreign)
    assert str(place) in refused(database, read_only).message
    assert any(str(place) in problem for problem in problems(database))
    assert {p.name: p.read_bytes() for p in foreign.iterdir()} == FOREIGN


@pytest.mark.parametrize("name", [*layout.DIRECTORIES, "tablets/*", "staging/*"])
def test_a_file_in_the_place_of_a_directory_is_refused(database: Path, name: str) -> None:
    place = only(database, name)
    place.rename(database.parent / "moved")
    place.write_bytes(b"precious")
    for read_only in (False, True):
        assert f"'{place}': it is not a directory" in refused(database, read_only).message
    assert any(str(place) in problem for problem in problems(database))
    assert place.read_bytes() == b"precious"


@pytest.mark.parametrize(
    "name", ["LOCK", "wal/1.log", "manifest/1.log", f"leases/{UUID}", "staging/*/LOCK"]
)
def test_a_hard_link_of_a_file_that_is_written_to_is_refused(
    database: Path, foreign: Path, name: str
) -> None:
    folder = only(database, name.rpartition("/")[0] or ".")
    place = folder / name.rpartition("/")[2]
    before = place.read_bytes() if place.exists() else None
    place.unlink(missing_ok=True)
    os.link(foreign / "keep", place)
    error = refused(database, read_only=False)
    assert str(place) in error.message and "hard links" in error.message
    assert any(str(place) in problem for problem in problems(database))
    assert {p.name: p.read_bytes() for p in foreign.iterdir()} == FOREIGN
    place.unlink()
    if before is not None:
        place.write_bytes(before)
        assert not problems(database)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_hard_link_of_any_other_name_leaves_the_foreign_file_as_it_was(
    database: Path, foreign: Path, folder: str
) -> None:
    place = only(database, folder)
    os.link(foreign / "keep", place / "zz")
    told = problems(database)
    try:
        pykudu_sql.connect(str(database)).close()
    except pykudu_sql.OperationalError as error:
        assert error.message in told
    assert {p.name: p.read_bytes() for p in foreign.iterdir()} == FOREIGN


def test_a_directory_in_the_place_of_a_lease_is_refused(database: Path) -> None:
    (database / "leases" / UUID).mkdir()
    message = refused(database, read_only=False).message
    assert f"leases/{UUID}': it is not a plain file" in message
    assert problems(database) == [message]


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("name", [".DS_Store", f"._{UUID}", UUID.replace("-", ""), "1.base.bak"])
@pytest.mark.parametrize("is_folder", [False, True])
def test_what_other_programs_leave_in_a_database_is_no_obstacle_and_stays(
    database: Path, folder: str, name: str, is_folder: bool
) -> None:
    place = only(database, folder) / name
    inside = place / "LOCK" if is_folder else place
    inside.parent.mkdir(exist_ok=True)
    inside.write_bytes(b"precious")
    at_work = folder not in ("tmp", "staging/*")
    assert problems(database) == ["is no part of a database"] * at_work
    for read_only in (True, False):
        with pykudu_sql.connect(str(database), read_only=read_only) as conn:
            assert conn.execute("SELECT * FROM t").fetchall() == [(1, "x")]
    with pykudu_sql.connect(str(database)) as conn:
        conn.execute("INSERT INTO t VALUES (2, 'y')")
        conn.commit()
        conn.execute("OPTIMIZE TABLE t FULL")
    if at_work:
        assert inside.read_bytes() == b"precious"


def test_a_copy_of_hard_links_can_be_read(database: Path, tmp_path: Path) -> None:
    shutil.copytree(database, tmp_path / "copy", copy_function=os.link)
    with pykudu_sql.connect(str(tmp_path / "copy"), read_only=True) as conn:
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
