"""sqlite3 as a database under test: a second opinion on scripts and on the runner."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from pykudu_sql.shell.slt.database import Driver, ScriptDatabase
from pykudu_sql.shell.slt.parser import parse
from pykudu_sql.shell.slt.runner import ScriptResult, ScriptRunner
from pykudu_sql.shell.slt.states import STATES


@pytest.fixture
def sqlite_driver() -> Driver:
    """Connections to one file of a folder, each statement committing itself."""

    def connect(folder: Path, settings: object) -> sqlite3.Connection:
        return sqlite3.connect(folder / "test.db", isolation_level=None, check_same_thread=False)

    return Driver(
        "sqlite",
        connect,
        sqlite3.Error,
        flush=lambda connection: None,
        snapshot=lambda connection: 42,
    )


@pytest.fixture
def run_script(tmp_path: Path, sqlite_driver: Driver) -> Callable[..., ScriptResult]:
    """Runs the text of a script with sqlite3 in a state."""

    def run(text: str, state: str = "memory", stop_at_problem: bool = False) -> ScriptResult:
        database = ScriptDatabase(sqlite_driver, tmp_path)
        runner = ScriptRunner(database, STATES[state], frozenset({"extra"}))
        return runner.run(parse(text), stop_at_problem=stop_at_problem)

    return run
