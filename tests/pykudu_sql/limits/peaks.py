"""The peak of memory of single statements under `memory_limit = 200 MB`, in a process of its own.

Usage: python -m tests.pykudu_sql.limits.peaks 'STATEMENT' ...; prints a line for each with its
peak in MB, the rows that were fetched and the SQLSTATE of what ended it. A table `w` has 500 texts
of 50 kB; of a result no more than so many rows are fetched, 64 at a time.
"""

import json
import subprocess
import sys
from pathlib import Path

import pykudu_sql

LIMIT = 200
FETCHED = 1280
_TEXTS = "INSERT INTO w SELECT range, repeat('b', 50000) FROM range(500)"


def clear_peak() -> None:
    """Let the peak be what the process has now."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def peak() -> int:
    """The most memory that the process had since then, in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) >> 10


def peak_of(connection: pykudu_sql.Connection, statement: str) -> dict[str, object]:
    """What one statement takes from here on."""
    clear_peak()
    fetched, sqlstate = 0, ""
    try:
        with connection.execute(statement) as cursor:
            while fetched < FETCHED and (rows := cursor.fetchmany(64)):
                fetched += len(rows)
    except pykudu_sql.Error as error:
        sqlstate = str(error.sqlstate)
    return {"peak": peak(), "fetched": fetched, "sqlstate": sqlstate}


def measure(statement: str) -> dict[str, object]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "tests.pykudu_sql.limits.peaks", statement]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, object] = json.loads(done.stdout)
    return result


def main(statements: list[str]) -> None:
    """See the module's text."""
    limit = f"{LIMIT}MB"
    with pykudu_sql.connect(
        ":memory:", autocommit=True, threads=2, memory_limit=limit
    ) as connection:
        connection.execute("CREATE TABLE w (k INT PRIMARY KEY, x STRING)")
        connection.execute(_TEXTS)
        for statement in statements:
            print(json.dumps(peak_of(connection, statement)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
