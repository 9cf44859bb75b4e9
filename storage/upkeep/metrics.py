"""Metrics of an open store: counters since it was opened and sizes now, by names like Kudu's."""

from collections.abc import Iterator

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.commit.commit_counters import CommitCounters
from pykudu_sql.storage.commit.log_retention import LogRetention
from pykudu_sql.storage.maintenance.operation import OperationKind
from pykudu_sql.storage.maintenance.run_log import RunLog
from pykudu_sql.storage.upkeep.statement_log import StatementLog

ROWS, BYTES, COUNT, MICROS = "rows", "bytes", "count", "microseconds"

_NAMES = {
    OperationKind.FLUSH_MEMROWSET: ("flush_mrs", "flushes of a MemRowSet"),
    OperationKind.FLUSH_DELTA_STORES: ("flush_dms", "flushes of a tablet's DeltaMemStores"),
    OperationKind.LOG_GC: ("log_gc", "collections of the log"),
    OperationKind.COMPACT_ROWSETS: ("compact_rs", "merging compactions"),
    OperationKind.MINOR_DELTA_COMPACTION: ("delta_minor_compact_rs", "minor delta compactions"),
    OperationKind.MAJOR_DELTA_COMPACTION: ("delta_major_compact_rs", "major delta compactions"),
    OperationKind.UNDO_GC: ("undo_delta_block_gc", "collections of old UNDO files"),
    OperationKind.DELETED_ROWSET_GC: ("deleted_rowset_gc", "collections of deleted rowsets"),
}


@dataclass(frozen=True, slots=True)
class Metric:
    """One number.

    Attributes:
        name: like Kudu's.
        value: since the store was opened, or now.
        unit: "rows", "bytes", "count" or "microseconds".
        description: what it counts.
    """

    name: str
    value: int
    unit: str
    description: str


def metric_values(
    statements: StatementLog,
    commits: CommitCounters,
    maintenance: RunLog,
    cache: BlockCache,
    log: LogRetention,
) -> Iterator[Metric]:
    """All metrics.

    Args:
        statements: of all sessions.
        commits: of the store's committer.
        maintenance: what ran, operations of SQL statements included.
    """
    sums = statements.sums()
    yield Metric("statements", sums.calls, COUNT, "statements that succeeded")
    yield Metric("statements_failed", sums.failures, COUNT, "statements that did not")
    yield Metric("statements_slow", statements.slow, COUNT, "logged by log_slow_statements")
    yield Metric("statement_rows", sums.rows, ROWS, "changed or found by statements")
    yield Metric("statement_time", int(sums.seconds * 1e6), MICROS, "that statements took")
    yield Metric("commits", commits.commits, COUNT, "transactions that wrote")
    yield Metric("commit_conflicts", commits.conflicts, COUNT, "transactions that lost a race")
    yield Metric("rows_inserted", commits.rows_inserted, ROWS, "rows inserted")
    yield Metric("rows_updated", commits.rows_updated, ROWS, "rows updated")
    yield Metric("rows_deleted", commits.rows_deleted, ROWS, "rows deleted")
    yield Metric("rows_bulk_loaded", commits.rows_bulk_loaded, ROWS, "rows written as files")
    for kind, (name, what) in _NAMES.items():
        yield Metric(f"{name}_runs", maintenance.runs[kind], COUNT, what)
        yield Metric(f"{name}_failures", maintenance.failures[kind], COUNT, f"{what} that failed")
        yield Metric(
            f"{name}_bytes_written", maintenance.written[kind], BYTES, f"written by {what}"
        )
        yield Metric(f"{name}_bytes_freed", maintenance.freed[kind], BYTES, f"freed by {what}")
    yield Metric("block_cache_hits", cache.hits, COUNT, "blocks found decoded in memory")
    yield Metric("block_cache_misses", cache.misses, COUNT, "blocks read and decoded")
    yield Metric("block_cache_usage", cache.used, BYTES, "decoded blocks in memory")
    yield Metric("block_cache_capacity", cache.capacity, BYTES, "most bytes of the block cache")
    yield Metric("log_size", log.retained_bytes(1), BYTES, "write-ahead log on disk")
