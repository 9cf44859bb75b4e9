"""One run of the engine over the relations of a query."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from pykudu_sql.engine.query_engine import EngineResult, Relation
from pykudu_sql.engine.relations.vector_batches import pieces, width_of
from pykudu_sql.executor.reading.frame_scan import FrameScan
from pykudu_sql.executor.reading.groups.dictionary_codes import coded_relations, row_count
from pykudu_sql.executor.reading.groups.sorted_groups import GroupStream
from pykudu_sql.executor.reading.history_rows import HistoryStream
from pykudu_sql.executor.reading.join_bounds import bounded_relations
from pykudu_sql.executor.reading.query_parameters import parameter_values
from pykudu_sql.executor.reading.scans import StreamedScan
from pykudu_sql.executor.reading.word_filters import function_of_words
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.plan.query_plans import NullFreeForm
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.storage.errors import Error

_STREAMS = (StreamedScan, GroupStream, FrameScan, HistoryStream)


def run_engine(
    state: SessionState,
    query: Query,
    relations: Mapping[str, Relation],
    parameters: ParameterValues,
) -> EngineResult:
    """The engine's result over the relations; raises as `queries.compute` does."""
    request = engine_request(state, query, relations, parameters)
    with failures_of(relations):
        result = state.engine.execute(*request)
    state.store.budget.hold(result.table, result.table.nbytes)
    return result


def engine_request(
    state: SessionState,
    query: Query,
    relations: Mapping[str, Relation],
    parameters: ParameterValues,
) -> tuple[str, Mapping[str, Relation], Sequence[Any]]:
    """The arguments of the embedded engine for a query: SQL, relations and values."""
    values = parameter_values(query, parameters)
    if query.has_states:
        query = _with_checked_states(state, query, relations)
    coded = None
    if query.coded is not None:
        compute = partial(function_of_words, state)
        coded = coded_relations(query.coded, relations, compute)
    if coded is not None:
        return coded.sql, bounded_relations(query, coded.relations), [*values, *coded.words]
    return _sql_for(state, query, relations), bounded_relations(query, relations), values


def _with_checked_states(
    state: SessionState, query: Query, relations: Mapping[str, Relation]
) -> Query:
    """A query that looks at states of aggregates first, unless the rows are too few for that.

    It reads its relations twice then, so there is no such form where one is read only once.
    """
    if any(isinstance(one, FrameScan) and one.is_read_once for one in relations.values()):
        return query
    from pykudu_sql.planner.functions.aggregate_states import RelationSize, with_checked_states

    sizes = {
        name: RelationSize(row_count(relation), width_of(relation).row_bytes)
        for name, relation in relations.items()
    }
    form = with_checked_states(query.residual, sizes, state.engine.state_bytes)
    return query if form is None else replace(query, sql=to_sql(form), residual=form, coded=None)


def _sql_for(state: SessionState, query: Query, relations: Mapping[str, Relation]) -> str:
    """The SQL of a query, by which its calls get few rows at once where rows are wide."""
    widths = {name: width_of(relation).row_bytes for name, relation in relations.items()}
    parts = partial(pieces, size=state.engine.vector_bytes)
    if parts(sum(widths.values())) == 1:
        null_free = query.null_free
        if null_free is None or _have_nulls(null_free, relations):
            return query.sql
        return null_free.sql
    from pykudu_sql.planner.pushdown.vector_parts import in_parts

    form = in_parts(query.residual, widths, parts)
    return query.sql if form is None else to_sql(form)


def _have_nulls(form: NullFreeForm, relations: Mapping[str, Relation]) -> bool:
    """Whether one of the columns may have NULL."""
    for scan, column in form.columns:
        rows = relations.get(scan)
        if not isinstance(rows, pa.Table) or column not in rows.schema.names:
            return True
        cells = rows.column(column)
        if cells.null_count or pa.types.is_dictionary(cells.type):
            return True
    return False


@contextmanager
def failures_of(relations: Mapping[str, Relation]) -> Iterator[None]:
    """A block that raises the error of a scan in place of the engine's error about it."""
    try:
        yield
    except Error as error:
        for relation in relations.values():
            if isinstance(relation, _STREAMS) and relation.failure is not None:
                raise relation.failure from error
        raise
