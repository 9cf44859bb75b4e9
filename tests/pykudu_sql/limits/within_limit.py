"""Loads, queries and scripts in one process under a `memory_limit`; prints its peak memory.

A program of its own, so that the peak is of nothing else: the tables of TPC-H are loaded and asked
its 22 queries, a tenth of a table is updated and another upserted from a reader, then scripts of
`sql_tests` run.

Usage: python -m tests.pykudu_sql.limits.within_limit SCALE [LIMIT_MB [SCRIPTS]]; prints one line of
JSON.
"""

import json
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import pykudu_sql
from benchmarks.tpch_queries import QUERIES
from benchmarks.tpch_tables import TPCH, tpch_file
from pykudu_sql import Connection
from pykudu_sql.shell.slt.command import find_scripts, pykudu_driver
from pykudu_sql.shell.slt.database import ScriptDatabase
from pykudu_sql.shell.slt.parser import parse
from pykudu_sql.shell.slt.report import FileResult, describe
from pykudu_sql.shell.slt.runner import ScriptRunner
from pykudu_sql.shell.slt.states import STATES
from pykudu_sql.storage.fs.machine_memory import process_memory

SCRIPTS = Path(__file__).resolve().parents[3] / "sql_tests"
BATCH_ROWS = 32_768


def rows(scale: float, table: str) -> pa.RecordBatchReader:
    """The rows of a table of TPC-H, none of them in memory yet."""
    file = pq.ParquetFile(tpch_file(scale, table), pre_buffer=False)
    return pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches(BATCH_ROWS))


def load(connection: Connection, scale: float) -> None:
    """Make all tables."""
    for table in TPCH.values():
        buckets = f"PARTITION BY HASH ({', '.join(table.key)}) PARTITIONS {table.buckets}"
        connection.execute(table.ddl({}, buckets))
        connection.append(table.name, rows(scale, table.name))


def change(connection: Connection, scale: float) -> None:
    """Write to very many rows that are there."""
    connection.execute("UPDATE lineitem SET l_tax = 0.01 WHERE l_orderkey % 10 = 3")
    connection.append("orders", rows(scale, "orders"), operation="upsert")


def run_scripts(limit: str, number: int) -> None:
    """Run evenly chosen scripts. Raises AssertionError: one has another answer."""
    scripts = list(find_scripts([SCRIPTS]))
    state = STATES["flushed"]
    for script in scripts[:: max(1, len(scripts) // number)]:
        with tempfile.TemporaryDirectory() as folder:
            settings = {**state.settings, "memory_limit": limit}
            database = ScriptDatabase(pykudu_driver(), Path(folder), settings)
            runner = ScriptRunner(database, state, frozenset())
            result = runner.run(parse(script.read_text(encoding="utf-8")))
        told = "\n".join(describe(FileResult(script, state.name, result)))
        assert not told, told


def main(scale: float, limit: str, scripts: int) -> dict[str, object]:
    """Do all of it; the peaks so far behind each part, in MB."""
    peaks: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/db"
        with pykudu_sql.connect(path, autocommit=True, threads=2, memory_limit=limit) as connection:
            load(connection, scale)
            peaks["load"] = process_memory().peak >> 20
            for query in QUERIES.values():
                connection.execute(query).fetchall()
            peaks["queries"] = process_memory().peak >> 20
            change(connection, scale)
            peaks["changes"] = process_memory().peak >> 20
            held = connection.execute("SELECT holder, peak_bytes >> 20 FROM sys.memory").fetchall()
            peaks["holders"] = dict(held)
    run_scripts(limit, scripts)
    return {**peaks, "all": process_memory().peak >> 20}


if __name__ == "__main__":
    _, scale, most, number, *_ = (*sys.argv, *("512", "20")[len(sys.argv) - 2 :], "")
    print(json.dumps(main(float(scale), f"{most}MB", int(number))))
