"""What is left of a `where` condition for the tasks.

Where the scan itself keeps exactly the rows that match, that is to choose columns; else a query
that the embedded engine runs, which a task loads and opens for it.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from pykudu_sql.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Residual:
    """A query over one batch of a scan.

    `sql`: in the engine's dialect; `relation`: the name it has for the batch.
    """

    sql: str
    relation: str


@dataclass(frozen=True, slots=True)
class Projection:
    """Columns of a scan whose rows all match; `indices`: of those wanted, in order."""

    indices: tuple[int, ...]

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The columns wanted of a batch."""
        return batch.select(self.indices)


def matching(
    batches: Iterator[pa.RecordBatch], residual: Residual | Projection | None
) -> Iterator[pa.RecordBatch]:
    """The rows that a condition keeps, of one task: one thread, no disk.

    `batches`: of a scan; `residual`: None keeps all. Raises DataError: the condition cannot be
    computed for a row.
    """
    if residual is None:
        yield from batches
        return
    if isinstance(residual, Projection):
        yield from map(residual.of, batches)
        return
    # Tasks without a condition do not load the engine.
    from pykudu_sql.engine.duckdb_engine import DuckDBEngine
    from pykudu_sql.engine.duckdb_instance import DuckDB, EngineOptions

    engine = DuckDBEngine(DuckDB(EngineOptions(1, 0, None)))
    for batch in batches:
        relation: Any = pa.Table.from_batches([batch])
        result = engine.execute(residual.sql, {residual.relation: relation}, ())
        yield from result.table.to_batches()
