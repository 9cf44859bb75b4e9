"""The peak of memory and the seconds of statements that make much of little, each in a process.

    python -m tests.pykudu_sql.limits.growing_peaks [--over MB] [--slow SECONDS]
        [--limit MB] [--group NAME] [WORD ...]

Every statement of `growing.statements` and `growing.rows` runs under `memory_limit = 200 MB` and
two seconds of `statement_timeout`. A line is printed for each that ends with more than it may, or
not at all: the peak of the process, and what of it was there before. Both are all of its resident
memory, but for pages of libraries that the child has not used, about 30 MB.
"""

import argparse
import importlib
import json
import os
import pkgutil
import re
import signal
import tempfile
import time
from collections.abc import Iterator

import pykudu_sql
from tests.pykudu_sql.limits.growing import rows, statements
from tests.pykudu_sql.limits.peaks import FETCHED, LIMIT, clear_peak, peak

SECONDS = 2
_STATEMENTS = {**statements.STATEMENTS, **rows.STATEMENTS}
_MANY = 2_000
_MOST_SECONDS = 60
_TABLES = (
    "CREATE TABLE t (k INT PRIMARY KEY, g INT, x STRING)",
    "INSERT INTO t SELECT range, range % 7, repeat('b', 200) FROM range(20000)",
    "CREATE TABLE w (k INT PRIMARY KEY, x STRING)",
    "INSERT INTO w SELECT range, repeat('b', 50000) FROM range(500)",
    "CREATE TABLE s (k INT PRIMARY KEY, x STRING)",
)


def _run(connection: pykudu_sql.Connection, statement: str) -> int:
    """Run one statement; the rows that were fetched of it."""
    kind, _, text = statement.rpartition(": ") if re.match("(many|all): ", statement) else ("",) * 3
    text = text or statement
    if kind == "many":
        connection.cursor().executemany(text, [(i,) for i in range(_MANY)])
        return 0
    with connection.execute(text) as cursor:
        if cursor.description is None:
            return 0
        if kind == "all":
            return len(cursor.fetchall())
        fetched = 0
        while fetched < FETCHED and (fetched_rows := cursor.fetchmany(64)):
            fetched += len(fetched_rows)
        return fetched


def _child(script: str, limit: int) -> dict[str, object]:
    """What a script takes in this process."""
    with (
        tempfile.TemporaryDirectory() as folder,
        pykudu_sql.connect(
            f"{folder}/db",
            autocommit=True,
            threads=2,
            memory_limit=f"{limit}MB",
            files=folder,
        ) as connection,
    ):
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"SET statement_timeout = {SECONDS * 1000}")
        clear_peak()
        before, begun, begun_processor = peak(), time.monotonic(), time.process_time()
        fetched, sqlstate, message = 0, "", ""
        try:
            for statement in script.replace("{folder}", folder).split(" ;; "):
                fetched = _run(connection, statement)
        except pykudu_sql.Error as error:
            sqlstate, message = str(error.sqlstate), str(error).splitlines()[0][:100]
        seconds = time.monotonic() - begun
        processor = time.process_time() - begun_processor
    return {
        "before": before, "peak": peak(), "seconds": round(seconds, 2),
        "processor": round(processor, 2), "fetched": fetched, "sqlstate": sqlstate,
        "message": message,
    }  # fmt: skip


def measure(script: str, limit: int = LIMIT) -> dict[str, object]:
    """The same in a process of its own, which this one is forked to while nothing is open.

    `limit`: of its memory, in MB.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(_MOST_SECONDS)
        try:
            os.write(writer, json.dumps(_child(script, limit)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as answers:
        answer = answers.read()
    _, status = os.waitpid(child, 0)
    if not answer:
        code = os.waitstatus_to_exitcode(status)
        return {
            "peak": 0,
            "seconds": 0.0,
            "processor": 0.0,
            "sqlstate": "none",
            "message": f"ended by {code}",
        }
    result: dict[str, object] = json.loads(answer)
    return result


def load_all() -> None:
    """Import what statements need, which each child would else do by itself."""
    for room in ("executor", "planner", "engine", "storage", "results"):
        package = importlib.import_module(f"pykudu_sql.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    for name in ("pykudu_sql.database", "pykudu_sql.session", "duckdb.func", "pyarrow.compute"):
        importlib.import_module(name)


def scripts(group: str) -> Iterator[str]:
    """The scripts of one group; of all without a name."""
    for name, scripts_of_group in _STATEMENTS.items():
        if group in ("", name):
            yield from scripts_of_group


def main() -> None:
    """Print what takes more than it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--over", type=int, default=350)
    parser.add_argument("--slow", type=float, default=SECONDS + 1)
    parser.add_argument("--limit", type=int, default=LIMIT, help="MB of a process")
    parser.add_argument("--group", default="", help="of the statements, all without it")
    parser.add_argument("words", nargs="*")
    given = parser.parse_args()
    load_all()
    wanted = re.compile("|".join(given.words), re.IGNORECASE)
    chosen = [script for script in scripts(given.group) if wanted.search(script)]
    for script in chosen:
        result = measure(script, given.limit)
        if not result["peak"] or result["peak"] > given.over or result["seconds"] > given.slow:
            print(
                f"{result['peak']:5} MB, {result.get('before', 0):3} before,"
                f" {result['seconds']:6} s {result['processor']:6} s of"
                f" processors {result['sqlstate']:6}"
                f" {script}  {result['message']}",
                flush=True,
            )
    print(f"{len(chosen)} statements", flush=True)


if __name__ == "__main__":
    main()
