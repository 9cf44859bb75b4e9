"""Facts about whole tables that metadata have exactly: `SELECT count(*), max(id) FROM t`."""

from collections.abc import Sequence
from typing import NamedTuple

from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.results.result import Row
from pykudu_sql.storage.common.types.cells import from_cell
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.transaction.transaction import Transaction

BIGINT = DataType(Kind.INT64)


class SummaryRow(NamedTuple):
    """The one row of a query about a whole table. `types`: of its columns."""

    types: Sequence[DataType]
    row: Row


def summarize(query: Query, transaction: Transaction) -> SummaryRow | None:
    """The row of a query that has a `summary`, None when its rows have to be read."""
    (scan,) = query.scans
    if scan.bound is not None:
        transaction.wait_until_readable(scan.bound)
    facts = transaction.summarize(scan.table, query.summary, scan.bound)
    if facts is None:
        return None
    by_id = scan.table.schema.by_id
    types = [
        BIGINT if aggregate.column_id is None else by_id[aggregate.column_id].type
        for aggregate in query.summary
    ]
    row = tuple(
        None if fact is None else from_cell(fact, data_type)
        for fact, data_type in zip(facts, types, strict=True)
    )
    return SummaryRow(types, row)
