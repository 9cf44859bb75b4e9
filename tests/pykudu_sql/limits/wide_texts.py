"""Peak memory of operations on a table of large texts under a `memory_limit`, each in a process.

Each operation has a fresh process and a copy of one database, so that its peak is of nothing else:
opening, the operation, closing. The texts are of 60 kB and differ; what is above the limit and the
code (`memory_budget.PROCESS_BYTES`) is told beside the peak.

Usage: python -m tests.pykudu_sql.limits.wide_texts [LIMIT [ROWS [OPERATION ...]]]; prints a line an
operation.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.storage.common.memory_budget import PROCESS_BYTES
from pykudu_sql.storage.fs.machine_memory import process_memory

WIDTH = 60_000
BATCH_ROWS = 64
_PERIOD = 9_973
_DDL = "CREATE TABLE {} (k BIGINT PRIMARY KEY, g INT, t STRING) PARTITION BY HASH (k) PARTITIONS 2"
_SCHEMA = pa.schema([("k", pa.int64()), ("g", pa.int32()), ("t", pa.string())])


def text(key: int, tag: str = "") -> str:
    """A text of 60 kB, another for each key."""
    words = " ".join(f"{(key + n * n) % _PERIOD:x}" for n in range(40))
    head = f"{tag}{key * 7919 % 1_000_003:08d} "
    return head + (words * (WIDTH // len(words) + 1))[: WIDTH - len(head)]


def reader(first: int, rows: int, tag: str = "") -> pa.RecordBatchReader:
    """Rows of these texts, a few at a time."""

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(first, first + rows, BATCH_ROWS):
            keys = range(start, min(start + BATCH_ROWS, first + rows))
            columns = [
                pa.array(keys, pa.int64()),
                pa.array([key % 7 for key in keys], pa.int32()),
                pa.array([text(key, tag) for key in keys]),
            ]
            yield pa.record_batch(columns, schema=_SCHEMA)

    return pa.RecordBatchReader.from_batches(_SCHEMA, batches())


def build(path: str, rows: int) -> None:
    """The tables that operations find: of large texts, of small ones, and of changed large ones."""
    with pykudu_sql.connect(
        path, autocommit=True, memory_limit="1GB", maintenance=False
    ) as connection:
        for table in ("wide", "narrow", "changed"):
            connection.execute(_DDL.format(table))
        connection.append("wide", reader(0, rows))
        connection.execute(
            f"INSERT INTO narrow SELECT range, range % 7, 'x' || range FROM range({rows})"
        )
        connection.append("changed", reader(0, rows))
        connection.append("changed", reader(0, rows // 2, "b"), operation="upsert")
        connection.append("changed", reader(rows // 4, rows // 2, "c"), operation="upsert")
        connection.execute("FLUSH")


Operation = Callable[[Connection, int, Path], object]


def _sql(*statements: str) -> Operation:
    def run(connection: Connection, rows: int, folder: Path) -> None:
        for statement in statements:
            cursor = connection.execute(statement.format(folder=folder))
            if cursor.description is not None:
                sum(batch.num_rows for batch in cursor.fetch_record_batch())

    return run


def _appended(operation: str, first: int = 0) -> Operation:
    def run(connection: Connection, rows: int, folder: Path) -> None:
        connection.append("wide", reader(first, rows, "u"), operation=operation)

    return run


def _singles(connection: Connection, rows: int, folder: Path) -> None:
    cursor = connection.cursor()
    for start in range(0, rows, 200):
        values = [[key, 1, text(key)] for key in range(start, min(start + 200, rows))]
        cursor.executemany("INSERT INTO other VALUES (?, ?, ?)", values)


def _one_transaction(connection: Connection, rows: int, folder: Path) -> None:
    """Held in memory, or refused."""
    connection.execute("BEGIN")
    try:
        for key in range(rows):
            connection.execute("INSERT INTO other VALUES (?, ?, ?)", [key, 1, text(key)])
        connection.execute("COMMIT")
    except pykudu_sql.OperationalError as error:
        assert error.sqlstate == "53200"
        connection.execute("ROLLBACK")


_SCAN_CHANGED = "SELECT sum(length(t)), max(t) FROM changed"
_UPDATE = "UPDATE wide SET t = t || 'x'"
_OPTIMIZE_FULL = "OPTIMIZE TABLE changed FULL"
_OTHER = _DDL.format("other")
_MERGE = (
    "MERGE INTO {} n USING wide w ON n.k = w.k WHEN MATCHED THEN UPDATE SET t = w.t "
    "WHEN NOT MATCHED THEN INSERT (k, g, t) VALUES (w.k, w.g, w.t)"
)


def _with_other(operation: Operation) -> Operation:
    def run(connection: Connection, rows: int, folder: Path) -> None:
        connection.execute(_OTHER)
        operation(connection, rows, folder)

    return run


OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        "open": _sql("SELECT count(*) FROM wide"),
        "scan": _sql("SELECT * FROM wide"),
        "scan changed": _sql(_SCAN_CHANGED),
        "order by": _sql("SELECT * FROM wide ORDER BY t"),
        "group by": _sql("SELECT count(*) FROM (SELECT t, count(*) FROM wide GROUP BY t)"),
        "update": _sql(_UPDATE),
        "update from": _sql("UPDATE narrow SET t = w.t FROM wide w WHERE narrow.k = w.k"),
        "delete": _sql("DELETE FROM wide WHERE length(t) > 10"),
        "insert select": _with_other(_sql("INSERT INTO other SELECT * FROM wide")),
        "in a transaction": _with_other(
            _sql("BEGIN", "INSERT INTO other SELECT * FROM wide", "DELETE FROM wide", "COMMIT")
        ),
        "create as": _sql("CREATE TABLE other (PRIMARY KEY (k)) AS SELECT * FROM wide"),
        "upsert": _appended("upsert"),
        "upsert half": _appended("upsert", 10_000),
        "merge": _sql(_MERGE.format("narrow")),
        "on conflict": _sql(
            "INSERT INTO narrow SELECT * FROM wide ON CONFLICT (k) DO UPDATE SET t = excluded.t"
        ),
        "singles": _with_other(_singles),
        "one transaction": _with_other(_one_transaction),
        "copy out": _sql(
            "COPY wide TO '{folder}/wide.parquet'", "COPY wide TO '{folder}/wide.csv'"
        ),
        "copy out and in": _with_other(
            _sql("COPY wide TO '{folder}/wide.csv'", "COPY other FROM '{folder}/wide.csv'")
        ),
        "optimize": _sql("OPTIMIZE TABLE changed"),
        "optimize full": _sql(_OPTIMIZE_FULL),
        "one after another": _sql(_SCAN_CHANGED, _UPDATE, _OPTIMIZE_FULL),
    }
)


def run_one(path: str, limit: str, rows: int, name: str, folder: Path) -> dict[str, object]:
    """Carry an operation out; its peak in MB, or what refused it."""
    error = ""
    with pykudu_sql.connect(
        path, autocommit=True, threads=2, memory_limit=limit, files=str(folder)
    ) as connection:
        try:
            OPERATIONS[name](connection, rows, folder)
        except pykudu_sql.OperationalError as refused:
            error = f"{refused.sqlstate} {refused}".split("\n", 1)[0]
    return {"operation": name, "limit": limit, "peak": process_memory().peak >> 20, "error": error}


def measure(database: Path, limit: str, rows: int, name: str) -> dict[str, object]:
    """The same in a process of its own, on a copy of a database."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(database, f"{folder}/db")
        arguments = [f"{folder}/db", limit, str(rows), name]
        command = [sys.executable, "-m", "tests.pykudu_sql.limits.wide_texts", "--one", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        result: dict[str, object] = json.loads(done.stdout)
        return result


def main(arguments: list[str]) -> None:
    """See the module's text."""
    if arguments[:1] == ["--one"]:
        path, limit, rows, name = arguments[1:]
        print(json.dumps(run_one(path, limit, int(rows), name, Path(path).parent)))
        return
    limit, rows, *names = (*arguments, *("200MB", "20000")[len(arguments) :])
    with tempfile.TemporaryDirectory() as folder:
        build(f"{folder}/db", int(rows))
        for name in names or OPERATIONS:
            result = measure(Path(folder) / "db", limit, int(rows), name)
            over = int(str(result["peak"])) - (PROCESS_BYTES >> 20) - int(limit.removesuffix("MB"))
            print(
                f"{name:18} peak {result['peak']} MB, {over:+} over; {result['error']}", flush=True
            )


if __name__ == "__main__":
    main(sys.argv[1:])
