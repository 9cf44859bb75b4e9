"""Jobs killed with SIGKILL at some action on files, each in a forked child, and what is left of it.

    python -m tests.pykudu_sql.jobs.killed FOLDER FIRST STEP

kills each job at actions FIRST, FIRST + STEP, .. until it ends by itself, and prints how often.
"""

import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pykudu_sql
from pykudu_sql.jobs.backup import backup
from pykudu_sql.jobs.backup_manifest import read_steps
from pykudu_sql.jobs.load import load
from pykudu_sql.jobs.restore import RestoreOptions, restore
from pykudu_sql.shell.cli import main as shell

_EVENTS = ("open", "os.rename", "os.link", "os.mkdir", "os.remove", "os.rmdir")
ROWS = 3000


def in_child(action: Callable[[], object]) -> int:
    """The exit code of a child that does something, or minus the signal that ended it."""
    pid = os.fork()
    if not pid:
        try:
            action()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def armed(number: int, folder: Path, action: Callable[[], object]) -> Callable[[], None]:
    """An action that is killed when it does something to a file below a folder for the nth time."""

    def run() -> None:
        seen = count(1)

        def watch(event: str, arguments: tuple[object, ...]) -> None:
            if event in _EVENTS and str(folder) in str(arguments) and next(seen) == number:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        action()

    return run


def rows_of(path: str, table: str = "t") -> int:
    with pykudu_sql.connect(path, read_only=True) as conn:
        return int(conn.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])


def _changed(path: str) -> None:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute("INSERT INTO t SELECT max(id) + 1, 'more' FROM t")
        conn.execute("FLUSH")


def _check_backup(folder: Path) -> None:
    """Every step that is there is whole, and another one can be made."""
    target = folder / "backup"
    backup(str(folder / "my.db"), str(target))
    for step in read_steps(target)[-2:]:
        place = str(folder / f"check{step.number}")
        restore(str(target), place, RestoreOptions(to=str(step.number)))
        assert shell(["check", place]) == 0
        shutil.rmtree(place)


def _check_restore(folder: Path) -> None:
    """There is a whole database or none."""
    new = folder / "new.db"
    if new.exists():
        assert shell(["check", str(new)]) == 0
        assert rows_of(str(new)) >= ROWS
        shutil.rmtree(new)


def _check_tables(folder: Path) -> None:
    """The database is whole, and the copied table has all of its rows or none."""
    other = str(folder / "other.db")
    with pykudu_sql.connect(other, autocommit=True) as conn:
        if "t" in conn.list_tables():
            (found,) = conn.execute("SELECT count(*) FROM t").fetchone() or (None,)
            assert found in (0, rows_of(str(folder / "my.db"))), found
            conn.execute("DROP TABLE t")
    assert shell(["check", other]) == 0


def _check_load(folder: Path) -> None:
    """All rows or none."""
    path = str(folder / "other.db")
    with pykudu_sql.connect(path, autocommit=True) as conn:
        (found,) = conn.execute("SELECT count(*) FROM loaded").fetchone() or (None,)
        assert found in (0, ROWS), found
        conn.execute("DELETE FROM loaded")
    assert shell(["check", path]) == 0


def main(folder: Path, first: int, step: int) -> int:
    path, target, other = (str(folder / name) for name in ("my.db", "backup", "other.db"))
    in_child(lambda: _made(folder))
    jobs: tuple[tuple[str, Callable[[], object], Callable[[Path], None]], ...] = (
        ("backup", lambda: backup(path, target), _check_backup),
        ("restore", lambda: restore(target, str(folder / "new.db")), _check_restore),
        ("tables", lambda: restore(target, other, RestoreOptions(tables=("t",))), _check_tables),
        ("load", lambda: load(other, "loaded", [str(folder / "in.csv")]), _check_load),
    )
    for name, job, check in jobs:
        for number in range(first, 10_000, step):
            if name == "backup":
                in_child(lambda: _changed(path))
            code = in_child(armed(number, folder, job))
            assert code in (0, -signal.SIGKILL), (name, number, code)
            assert in_child(lambda check=check: check(folder)) == 0, (name, number)
            if code == 0:
                print(f"{name}: {(number - first) // step} kills")
                break
    return 0


def _made(folder: Path) -> None:
    with pykudu_sql.connect(str(folder / "my.db"), autocommit=True) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)")
        conn.execute(f"INSERT INTO t SELECT range, 'v' FROM range({ROWS})")
        conn.execute("FLUSH")
    backup(str(folder / "my.db"), str(folder / "backup"))
    with pykudu_sql.connect(str(folder / "other.db"), autocommit=True) as conn:
        conn.execute("CREATE TABLE loaded (id BIGINT PRIMARY KEY)")
    rows = "\n".join(map(str, range(ROWS)))
    (folder / "in.csv").write_text(f"id\n{rows}\n")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
