"""The operators of the embedded engine for EXPLAIN (FORMAT JSON), with the scans that they read."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.engine.operators import Operator
from pykudu_sql.engine.query_engine import Relation
from pykudu_sql.executor.reading.engine_runs import engine_request
from pykudu_sql.executor.reading.scans import StreamedScan, pruned_scan, relation_of
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.template import bind_predicate
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.frame_table import is_stored
from pykudu_sql.planner.plan.plan import Plan, Query
from pykudu_sql.storage.errors import Error


def planned_operators(
    state: SessionState, plan: Plan, parameters: ParameterValues
) -> dict[str, Any] | None:
    """What the engine would do for a query, as JSON has it; None where it cannot say.

    No row of a table is read.
    """
    if not isinstance(plan, Query) or any(scan.history is not None for scan in plan.scans):
        return None
    transaction = state.transactions.reading()
    relations: dict[str, Relation] = dict(plan.lists)
    for scan in plan.scans:
        predicate = bind_predicate(scan.predicate, parameters)
        if not is_stored(scan.table):
            relations[scan.name] = relation_of(state, scan, predicate, transaction)
        else:
            table_scan = pruned_scan(scan, predicate, transaction)
            relations[scan.name] = StreamedScan(table_scan, state, transaction)
    try:
        planned = state.engine.planned(*engine_request(state, plan, relations, parameters))
    except Error:
        return None  # it will say so when the statement runs
    return None if planned is None else operator_json(planned, relations)


def operator_json(operator: Operator, relations: Mapping[str, Relation]) -> dict[str, Any]:
    """A tree of operators as JSON has it. `relations`: what they read."""
    return _entry(operator, [_Source(name, relation) for name, relation in relations.items()])


@dataclass(slots=True)
class _Source:
    """A relation, and whether a leaf of the tree that reads it was found."""

    name: str
    relation: Relation
    is_read: bool = False

    def distance(self, operator: Operator) -> tuple[bool, bool, int]:
        """How far it is from what a leaf reads: the engine does not name relations."""
        lacks = not set(operator.columns or ()) <= set(self.relation.schema.names)
        rows = self.relation
        count = rows.num_rows if isinstance(rows, pa.Table) else rows.row_count
        return lacks, self.is_read, abs(count - (operator.estimated_rows or 0))


def _entry(operator: Operator, sources: Sequence[_Source]) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": operator.name}
    if operator.columns is not None and sources:
        read = min(sources, key=lambda each: each.distance(operator))
        if not read.distance(operator)[0]:
            read.is_read = True
            entry["scan"] = read.name
    if operator.details:
        entry["details"] = dict(operator.details)
    if operator.estimated_rows is not None:
        entry["estimated_rows"] = operator.estimated_rows
    if operator.rows is not None:
        entry["rows"] = operator.rows
    if operator.seconds is not None:
        entry["milliseconds"] = round(operator.seconds * 1000, 3)
    inputs: Sequence[Operator] = operator.inputs
    if inputs:
        entry["inputs"] = [_entry(each, sources) for each in inputs]
    return entry
