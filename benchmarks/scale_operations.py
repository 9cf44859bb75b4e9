"""One operation on a TPC-H database, in a process of its own; prints what it took as JSON.

A process of its own, so that its peak memory is that of the operation. It may use 2 GB: the block
cache, the engine and what scans hold are given a part each. Loading parser and engine is not timed.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq

import pykudu_sql
from benchmarks.tpch_queries import QUERIES
from benchmarks.tpch_tables import TPCH, tpch_file

CACHE_BYTES = 256 << 20
ENGINE_BYTES = 1 << 30
SCAN_BYTES = 512 << 20
LOAD = "load"
_READ_ROWS = 128 * 1024


@dataclass(frozen=True, slots=True)
class Cost:
    """What an operation took.

    Attributes:
        wall, processor: seconds; of processors, those of all threads.
        rows: of the tables that it is about.
        peak: the most memory that its process had resident, in MiB.
    """

    wall: float
    processor: float
    rows: int
    peak: float


Operation = Callable[[pykudu_sql.Connection, float], int]


def _load(connection: pykudu_sql.Connection, scale: float) -> int:
    """Every table from an Arrow reader."""
    rows = 0
    for table in TPCH.values():
        connection.execute(table.ddl({}, table.partitions))
        # Otherwise it keeps the whole file in memory, whose peak is to be that of the load.
        file = pq.ParquetFile(tpch_file(scale, table.name), pre_buffer=False)
        batches = (b.replace_schema_metadata(None) for b in file.iter_batches(_READ_ROWS))
        schema = file.schema_arrow.remove_metadata()
        connection.append(table.name, pa.RecordBatchReader.from_batches(schema, batches))
        rows += file.metadata.num_rows
    return rows


def _query(sql: str, *tables: str) -> Operation:
    def run(connection: pykudu_sql.Connection, scale: float) -> int:
        connection.execute(sql).fetch_arrow_table()
        return sum(pq.read_metadata(tpch_file(scale, table)).num_rows for table in tables)

    return run


def _stream(connection: pykudu_sql.Connection, scale: float) -> int:
    """Every column of lineitem, a batch at a time."""
    reader = connection.execute("SELECT * FROM lineitem").fetch_record_batch()
    return sum(batch.num_rows for batch in reader)


OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        LOAD: _load,
        "Q1": _query(QUERIES[1], "lineitem"),
        "Q6": _query(QUERIES[6], "lineitem"),
        "Q3": _query(QUERIES[3], "customer", "orders", "lineitem"),
        "Q5": _query(QUERIES[5], "customer", "orders", "lineitem"),
        "Q12": _query(QUERIES[12], "orders", "lineitem"),
        "Q18": _query(QUERIES[18], "customer", "orders", "lineitem"),
        "ten dearest": _query(
            "SELECT * FROM lineitem ORDER BY l_extendedprice DESC LIMIT 10", "lineitem"
        ),
        "count distinct": _query("SELECT count(DISTINCT l_partkey) FROM lineitem", "lineitem"),
        "all columns": _stream,
    }
)


def measure(path: str, name: str, scale: float) -> Cost:
    """Carry an operation out on the database at a path, without maintenance beside a query."""
    connection = pykudu_sql.connect(
        path,
        autocommit=True,
        read_only=name != LOAD,
        block_cache_bytes=CACHE_BYTES,
        engine_memory_bytes=ENGINE_BYTES,
        scan_memory_bytes=SCAN_BYTES,
    )
    connection.execute("SELECT a + 1 FROM (VALUES (1), (2)) AS numbers (a)").fetchall()
    cost = measured(lambda: OPERATIONS[name](connection, scale))
    connection.close()
    return replace(cost, peak=_peak())


def measured(operation: Callable[[], int]) -> Cost:
    """What an operation takes, which gives its rows; its process ends when that is noted."""
    wall, processor = time.perf_counter(), time.process_time()
    rows = operation()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return Cost(wall, processor, rows, _peak())


def _peak() -> float:
    """Of this program: what `getrusage` gives has the peak of the process that started it too."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def main(arguments: Sequence[str]) -> None:
    """`arguments`: the path of the database, the operation and the scale factor."""
    path, name, scale = arguments
    print(json.dumps(asdict(measure(path, name, float(scale)))))


if __name__ == "__main__":
    main(sys.argv[1:])
