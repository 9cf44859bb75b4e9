"""Processes that read a database while another one writes it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql.storage.errors import LockedError, ReadOnlyError
from pykudu_sql.storage.fs.lease import oldest_lease
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.recovery.database_reader import DatabaseReader

WRITER = """
import sys, pykudu_sql
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_redo

def compact(store):
    for tablet in store.tablets.values():
        with tablet.maintenance_lock:
            for rowset in tablet.components.tree.rowsets:
                compact_redo(tablet, rowset, store.committer.tablet_services)
    store.collect_files()

conn = pykudu_sql.connect(sys.argv[1], autocommit=True)
conn.execute("CREATE TABLE IF NOT EXISTS t (id BIGINT PRIMARY KEY, n BIGINT)")
print("ready", flush=True)
round = conn.execute("SELECT MAX(n) FROM t").fetchone()[0] or 0
for line in sys.stdin:
    for _ in range(int(line)):
        round += 1
        conn.execute("BEGIN")
        for key in range(4):
            conn.execute("UPSERT INTO t VALUES (?, ?)", (key, round))
            conn.execute("INSERT INTO t VALUES (?, ?)", (1000 * round + key, round))
        conn.execute("COMMIT")
        if round % 4 == 0:
            conn.flush()
        if round % 12 == 0:
            compact(conn._session.database.store)
    print(round, flush=True)
"""

READER = """
import json, sys, pykudu_sql
conn = pykudu_sql.connect(sys.argv[1], read_only=True, autocommit=True)
for line in sys.stdin:
    print(json.dumps(conn.execute(line).fetchall()), flush=True)
"""


@contextmanager
def process(program: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def ask(child: subprocess.Popen[str], line: str) -> Any:
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(line + "\n")
    child.stdin.flush()
    return json.loads(child.stdout.readline())


def start_writer(child: subprocess.Popen[str]) -> None:
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"


WHOLE = "SELECT COUNT(*), MAX(n), MIN(n) FROM t WHERE id < 4"
ALL = "SELECT COUNT(*), MAX(n) FROM t"


Running = tuple[Path, subprocess.Popen[str]]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A database and the process that writes it, round by round."""
    path = tmp_path_factory.mktemp("readers") / "my.db"
    with process(WRITER, path) as writer:
        start_writer(writer)
        ask(writer, "1")
        yield path, writer


def test_a_reader_sees_whole_commits_only_while_a_writer_goes_on(running: Running) -> None:
    path, writer = running
    with process(READER, path) as reader:
        assert writer.stdin is not None and writer.stdout is not None
        ask(reader, ALL)
        writer.stdin.write("80\n")
        writer.stdin.flush()
        seen = 0
        for _ in range(40):
            ((count, newest, oldest),) = ask(reader, WHOLE)
            assert count == 4 and newest == oldest >= seen
            seen = newest
            ((rows, last),) = ask(reader, ALL)
            assert rows == 4 + 4 * last
        done = int(writer.stdout.readline())
        assert ask(reader, ALL) == [[4 + 4 * done, done]]


def test_an_acknowledged_commit_is_seen_by_the_next_statement(running: Running) -> None:
    path, writer = running
    with pykudu_sql.connect(path, read_only=True, autocommit=True) as conn:
        for _ in range(15):
            done = ask(writer, "1")
            assert conn.execute(ALL).fetchall() == [(4 + 4 * done, done)]


def test_a_transaction_keeps_its_snapshot_until_refreshed(running: Running) -> None:
    path, writer = running
    with pykudu_sql.connect(path, read_only=True) as conn:
        before = conn.execute(ALL).fetchone()
        done = ask(writer, "20")
        assert conn.execute(ALL).fetchone() == before
        conn.refresh()
        assert conn.execute(ALL).fetchone() == (4 + 4 * done, done)


def test_a_reader_refuses_to_write_and_a_second_writer_is_refused(running: Running) -> None:
    path, _ = running
    with pytest.raises(LockedError, match="read-only here"):
        pykudu_sql.connect(path)
    with pykudu_sql.connect(path, read_only=True, autocommit=True) as conn:
        for statement in (
            "INSERT INTO t VALUES (1, 1)",
            "DELETE FROM t",
            "CREATE TABLE u (id INT PRIMARY KEY)",
            "DROP TABLE t",
        ):
            with pytest.raises(ReadOnlyError, match="read-only"):
                conn.execute(statement)


def test_a_killed_reader_holds_nothing_back(running: Running) -> None:
    path, writer = running
    with process(READER, path) as reader:
        ask(reader, ALL)
        assert len(list((path / "leases").iterdir())) == 1
    assert len(list((path / "leases").iterdir())) == 1
    assert oldest_lease(LocalEnv(), str(path)) is None
    ask(writer, "1")
    assert list((path / "leases").iterdir()) == []


def test_a_reader_goes_on_when_the_writer_is_killed_and_another_one_comes(tmp_path: Path) -> None:
    path = tmp_path / "my.db"
    with process(WRITER, path) as writer:
        start_writer(writer)
        ask(writer, "6")
        with process(READER, path) as reader:
            assert ask(reader, ALL) == [[28, 6]]
            os.kill(writer.pid, signal.SIGKILL)
            writer.wait()
            before = contents(path)
            assert ask(reader, ALL) == [[28, 6]]
            with pykudu_sql.connect(path, read_only=True) as conn:
                assert conn.execute(ALL).fetchall() == [(28, 6)]
            assert contents(path) == before
            with process(WRITER, path) as another:
                start_writer(another)
                ask(another, "7")
                assert ask(reader, ALL) == [[56, 13]]


def contents(path: Path) -> dict[str, bytes]:
    """Every file but the leases."""
    files = (p for p in path.rglob("*") if p.is_file() and p.parent.name != "leases")
    return {str(p): p.read_bytes() for p in files}


def test_ctrl_c_while_a_reader_takes_in_what_is_new_loses_none_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, refresh = tmp_path / "db", DatabaseReader.refresh

    def pressed(reader: DatabaseReader) -> None:
        refresh(reader)
        signal.raise_signal(signal.SIGINT)

    with process(WRITER, path) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        ask(writer, "1")
        with pykudu_sql.connect(str(path), read_only=True, autocommit=True) as conn:
            query = "SELECT n FROM t WHERE id = ?"
            assert [conn.execute(query, (0,)).fetchone() for _ in range(3)] == [(1,)] * 3
            ask(writer, "1")
            monkeypatch.setattr(DatabaseReader, "refresh", pressed)
            with pytest.raises(KeyboardInterrupt):
                conn.execute(query, (0,))
            assert conn.execute(query, (0,)).fetchone() == (2,)
