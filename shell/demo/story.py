"""`pykudu-sql demo [DIR]`: the whole database in a minute, on real and dirty data.

Every statement is printed with its result and its time. Every answer is checked against DuckDB
over the source data, and the verdict is printed; the exit code is 1 if one differs.
"""

import os
import shlex
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pykudu_sql
from pykudu_sql.shell.arguments import ArgumentParser
from pykudu_sql.shell.demo import scenes
from pykudu_sql.shell.demo.data import TABLES, MissingData, load
from pykudu_sql.shell.exit_codes import ExitCode
from pykudu_sql.shell.output.printer import print_result
from pykudu_sql.shell.output.terminal import Output, print_error
from pykudu_sql.shell.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa

    from pykudu_sql import Connection
    from pykudu_sql.shell.demo.reference import Reference

_DATABASE = "flights.db"


def main(arguments: Sequence[str]) -> int:
    """Play the story in a folder, a new temporary one by default.

    `arguments`: at most the folder to keep the database in. Returns the exit code.
    """
    parser = ArgumentParser("pykudu-sql demo", "Load real flight data and tell the whole story.")
    text = f"a folder to keep the database in, as DIR/{_DATABASE}"
    parser.add_argument("folder", metavar="DIR", nargs="?", help=text)
    folder = parser.parse_args(arguments).folder
    try:
        tables = {name: load(name) for name in TABLES}
    except MissingData as error:
        print_error(str(error))
        return ExitCode.USAGE
    if folder is not None:
        target = Path(folder)
        code = _play(target, tables)
        if code is not ExitCode.USAGE:
            print(f"The database is kept: {_program()} {shlex.quote(str(target / _DATABASE))}")
        return code
    with tempfile.TemporaryDirectory(prefix="pykudu-demo-") as temporary:
        return _play(Path(temporary), tables)


def _program() -> str:
    """How the shell is started, here."""
    path = shutil.which("pykudu-sql")
    beside = Path(sys.executable).with_name("pykudu-sql")
    return "pykudu-sql" if path or not beside.exists() else shlex.quote(os.path.relpath(beside))


def _play(folder: Path, tables: "dict[str, pa.Table]") -> ExitCode:
    from pykudu_sql.shell.demo.reference import Reference

    path = folder / _DATABASE
    if path.exists():
        print_error(f"{path} exists already: remove it, or choose another folder")
        return ExitCode.USAGE
    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    reference = Reference(tables)
    story = Story(path, tables, reference)
    try:
        story.play()
    except pykudu_sql.Error as error:
        print_error(f"\nERROR {error.sqlstate}: {error}")
        return ExitCode.FAILED
    finally:
        story.close()
        reference.close()
    took = time.perf_counter() - start
    print(
        f"\n{story.checked} answers checked against DuckDB, {story.differing} differ. {took:.1f} s"
    )
    return ExitCode.FAILED if story.differing else ExitCode.OK


class Story:
    """The scenes in order, and the count of checked answers.

    `checked`: answers compared with the reference; `differing`: those that were not the same.
    """

    def __init__(self, path: Path, tables: "dict[str, pa.Table]", reference: "Reference") -> None:
        """Open a new database."""
        self.checked = 0
        self.differing = 0
        self._path = path
        self._tables = tables
        self._reference = reference
        self._output = Output(sys.stdout)
        self._connection: Connection = pykudu_sql.connect(str(path), autocommit=True)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def play(self) -> None:
        """All scenes."""
        self._title("Five tables of flights from New York in 2013, keys checked first")
        for name in TABLES:
            self._check_key(name)
            self._run(scenes.CREATE[name])
        self._title("Load them: each table one atomic, durable, key-checked insert")
        for name in TABLES:
            self._load(name)
        self._title("Who was late, and in what weather?")
        before = self._ask(scenes.BY_AIRLINE)
        self._ask(scenes.BY_WEATHER)
        snapshot = self._connection.snapshot_timestamp()
        self._title("Change things: update, delete, upsert, a new column with a default")
        for sql in scenes.CHANGES:
            self._run(sql)
            self._reference.change(sql)
        self._run(scenes.UPSERT)
        for sql in scenes.UPSERT_REFERENCE:
            self._reference.change(sql)
        self._run(scenes.ADD_COLUMN)
        self._ask(scenes.ADD_COLUMN_CHECK, scenes.ADD_COLUMN_REFERENCE)
        after = self._ask(scenes.BY_AIRLINE)
        self._title("The first question again, AS OF before the changes")
        self._expect(self._run(scenes.as_of(scenes.BY_AIRLINE, snapshot)), before)
        self._title("Read no more than is needed: one month of twelve; one row by its key")
        self._run(f"EXPLAIN {scenes.ONE_MONTH}")
        self._ask(scenes.ONE_MONTH)
        self._ask(scenes.ONE_FLIGHT)
        self._title("Flush memory to disk, and look at what lies there")
        self._run("FLUSH")
        self._run("SHOW ROWSETS airlines")
        self._run("SHOW COLUMN FILES flights")
        self._title("Close, open again: the same answers, now and before the changes")
        self._connection.close()
        self._connection = pykudu_sql.connect(str(self._path), autocommit=True)
        self._expect(self._run(scenes.BY_AIRLINE), after)
        self._expect(self._run(scenes.as_of(scenes.BY_AIRLINE, snapshot)), before)

    def _title(self, text: str) -> None:
        print(f"\n=== {text}")

    def _check_key(self, name: str) -> None:
        """Print whether the candidate keys are unique in the data, and rows that repeat."""
        for key in scenes.KEYS[name]:
            rows = zip(*(self._tables[name].column(c).to_pylist() for c in key), strict=True)
            repeated = [(row, n) for row, n in Counter(rows).items() if n > 1]
            columns = ", ".join(key)
            if not repeated:
                print(
                    f"\n-- {name}: ({columns}) is a key of all {self._tables[name].num_rows:,} rows"
                )
                return
            print(
                f"\n-- {name}: ({columns}) is no key, {len(repeated)} values stand more than once:"
            )
            for row, count in repeated[:3]:
                print(f"--   {row} {count} times")

    def _run(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement, print it with its result and time, and return its rows."""
        print(f"\n{sql};")
        start = time.perf_counter()
        cursor = self._connection.execute(sql)
        took = time.perf_counter() - start
        if cursor.description is None:
            print(f"{cursor.message or 'OK'} ({1000 * took:.0f} ms)")
            return []
        rows = list(map(tuple, cursor.fetchall()))
        again = self._connection.execute(sql)
        summary = print_result(again, self._output, Settings(max_rows=16), _never_cancelled).summary
        print(f"{summary} in {1000 * took:.0f} ms")
        return rows

    def _load(self, name: str) -> None:
        table = self._tables[name]
        start = time.perf_counter()
        self._connection.append(name, table)
        took = time.perf_counter() - start
        print(f"{name}: {table.num_rows:,} rows in {1000 * took:.0f} ms")
        self._ask(f"SELECT count(*) AS {name} FROM {name}")

    def _ask(self, sql: str, reference_sql: str | None = None) -> list[tuple[Any, ...]]:
        """Run a query and compare it with DuckDB over the source data."""
        rows = self._run(sql)
        self._expect(rows, self._reference.answer(reference_sql or sql))
        return rows

    def _expect(self, ours: Sequence[tuple[Any, ...]], theirs: Sequence[tuple[Any, ...]]) -> None:
        from pykudu_sql.shell.demo.reference import same

        self.checked += 1
        if same(ours, theirs):
            print("-- checked: the same as DuckDB on the source data")
        else:
            self.differing += 1
            print(f"-- DIFFERS from DuckDB on the source data, which says {list(theirs)[:5]}")


def _never_cancelled() -> None:
    """A check that never raises: only Ctrl-C ends the demo."""
