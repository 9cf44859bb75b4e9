"""What is left of a `where` condition for the tasks: a query that the embedded engine runs."""

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


def matching(
    batches: Iterator[pa.RecordBatch], residual: Residual | None
) -> Iterator[pa.RecordBatch]:
    """The rows that a condition keeps, of one task: one thread, no disk.

    `batches`: of a scan; `residual`: None keeps all. Raises DataError: the condition cannot be
    computed for a row.
    """
    if residual is None:
        yield from batches
        return
    # Tasks without a condition do not load the engine.
    from pykudu_sql.engine.duckdb_engine import DuckDBEngine
    from pykudu_sql.engine.duckdb_instance import DuckDB, EngineOptions

    engine = DuckDBEngine(DuckDB(EngineOptions(1, 0, None)))
    for batch in batches:
        relation: Any = pa.Table.from_batches([batch])
        result = engine.execute(residual.sql, {residual.relation: relation}, ())
        yield from result.table.to_batches()
