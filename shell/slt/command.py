"""`pykudu-sql slt`: finds scripts, runs them in the requested states, reports.

Every script gets a fresh database for every state. Exit code 0 when all is as expected, 1 when
something is not.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from operator import methodcaller
from pathlib import Path
from typing import Any

from pykudu_sql import Error
from pykudu_sql.dataclass import dataclass
from pykudu_sql.files.file_access import check_written
from pykudu_sql.shell.arguments import ArgumentParser
from pykudu_sql.shell.editing.interruptible import run_interruptibly
from pykudu_sql.shell.output.terminal import Output
from pykudu_sql.shell.settings import UsageError
from pykudu_sql.shell.slt.database import DbConnection, Driver, ScriptDatabase
from pykudu_sql.shell.slt.override import rewrite
from pykudu_sql.shell.slt.parser import ScriptError, parse
from pykudu_sql.shell.slt.report import FileResult, describe, junit, summary
from pykudu_sql.shell.slt.runner import ScriptRunner
from pykudu_sql.shell.slt.states import STATES, State

_SUFFIXES = (".test", ".slt")


def main(argv: Sequence[str]) -> int:
    """Run the subcommand and return the exit code.

    Raises UsageError: a file or folder that is not there, or options that exclude each other;
    KeyboardInterrupt: Ctrl-C, after the statement that ran was stopped.
    """
    options = build_parser().parse_args(argv)
    states = list(STATES.values()) if options.state == "all" else [STATES[options.state]]
    if options.override and len(states) > 1:
        raise UsageError("--override needs one state, not all")
    scripts = list(find_scripts(options.paths))
    if options.junit is not None:
        _check_written(options.junit)
    if options.override:
        for script in scripts:
            _check_written(script)
    campaign = Campaign(
        pykudu_driver(),
        scripts,
        states,
        labels=frozenset(options.label),
        settings=_settings(options),
        fail_fast=options.fail_fast,
        keep=options.keep,
        override=options.override,
    )
    started = time.perf_counter()
    run_interruptibly(campaign.run, campaign.cancel)
    seconds = time.perf_counter() - started
    campaign.output.write(summary(campaign.files, seconds) + "\n")
    if options.junit is not None:
        options.junit.write_text(junit(campaign.files, seconds), encoding="utf-8")
    return int(any(file.failed for file in campaign.files))


def _check_written(path: Path) -> None:
    """See that a file may be written. Raises UsageError: it would be one of a database."""
    try:
        check_written(str(path), str(path))
    except Error as error:
        raise UsageError(f"{error.sqlstate}: {error}") from None


def build_parser() -> argparse.ArgumentParser:
    """The parser of the subcommand."""
    parser = ArgumentParser("pykudu-sql slt", "Run sqllogictest scripts.")
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="FILE|DIR", help="*.test and *.slt of a folder")
    add(
        "--state",
        choices=[*STATES, "all"],
        default="memory",
        help="what happens between statements (default: memory)",
    )
    add("--label", action="append", default=[], metavar="NAME", help="also answer to this name")
    add(
        "--implicit-primary-key",
        action="store_true",
        help="tables without a primary key get a hidden one",
    )
    add("--engine", choices=("duckdb", "spark", "auto"), help="what computes queries")
    add("--override", action="store_true", help="write the results into the scripts")
    add("-x", "--fail-fast", action="store_true", help="stop at the first failure")
    add("--keep", action="store_true", help="keep the databases and say where they are")
    add("--junit", type=Path, metavar="FILE", help="also report as JUnit XML")
    return parser


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """Settings of every connection."""
    settings: dict[str, Any] = (
        {"implicit_primary_key": True} if options.implicit_primary_key else {}
    )
    return settings if options.engine is None else {**settings, "engine": options.engine}


def find_scripts(paths: Sequence[Path]) -> Iterator[Path]:
    """The scripts named, and those in the folders named, in order of name.

    Raises UsageError: a path does not exist, or a folder has no scripts.
    """
    for path in paths:
        if not path.is_dir():
            if not path.exists():
                raise UsageError(f"no such file or folder: {path}")
            yield path
            continue
        scripts = sorted(p for p in path.rglob("*") if p.suffix in _SUFFIXES and p.is_file())
        if not scripts:
            raise UsageError(f"no scripts ({', '.join(_SUFFIXES)}) in {path}")
        yield from scripts


def pykudu_driver() -> Driver:
    """This database as a driver."""
    import pykudu_sql

    def connect(path: Path, settings: Mapping[str, Any]) -> DbConnection:
        return pykudu_sql.connect(str(path / "test.db"), autocommit=True, **settings)

    return Driver(
        "pykudu",
        connect,
        pykudu_sql.Error,
        flush=methodcaller("flush"),
        snapshot=methodcaller("snapshot_timestamp"),
    )


@dataclass(slots=True)
class Campaign:
    """Scripts times states.

    Attributes:
        driver: opens the databases.
        scripts: what to run.
        states: each script runs in every one.
        labels: names the runner answers to besides the driver's.
        settings: settings of every connection.
        fail_fast: stop at the first failure.
        keep: leave the databases where they are and say where.
        override: write results into the scripts.
        output: where problems are printed.
        files: how it went so far.
    """

    driver: Driver
    scripts: Sequence[Path]
    states: Sequence[State]
    labels: frozenset[str] = frozenset()
    settings: Mapping[str, Any] = field(default_factory=dict)
    fail_fast: bool = False
    keep: bool = False
    override: bool = False
    output: Output = field(default_factory=lambda: Output(sys.stdout))
    files: list[FileResult] = field(default_factory=list)
    _current: ScriptRunner | None = None
    _cancelled: bool = False

    def run(self) -> None:
        """Run everything, telling each problem as soon as it is known."""
        for path in self.scripts:
            for state in self.states:
                if self._cancelled or (self.fail_fast and any(f.failed for f in self.files)):
                    return
                file = self._run_file(path, state)
                self.files.append(file)
                for line in describe(file):
                    self.output.write(line + "\n")
                self.output.flush()

    def cancel(self) -> None:
        """Stop soon. Called from another thread."""
        self._cancelled = True
        if self._current is not None:
            self._current.cancel()

    def _run_file(self, path: Path, state: State) -> FileResult:
        try:
            text = path.read_text(encoding="utf-8")
            records = parse(text)
        except ScriptError as error:
            return FileResult(path, state.name, None, f"{error.line}: {error.message}")
        except (OSError, UnicodeDecodeError) as error:
            return FileResult(path, state.name, None, f" cannot be read: {error}")
        folder = Path(tempfile.mkdtemp(prefix="pykudu-slt-"))
        try:
            database = ScriptDatabase(self.driver, folder, {**self.settings, **state.settings})
            self._current = ScriptRunner(database, state, self.labels)
            result = self._current.run(records, stop_at_problem=self.fail_fast)
        finally:
            if not self.keep:
                shutil.rmtree(folder, ignore_errors=True)
        if self.keep:
            self.output.write(f"{path}: [{state.name}] database kept in {folder}\n")
        if self.override and result.problems:
            path.write_text(rewrite(text, result.executed), encoding="utf-8")
        return FileResult(path, state.name, result)
