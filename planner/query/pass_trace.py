"""The effect of each pass on a query, as lines for EXPLAIN (PASSES)."""

from collections.abc import Callable, Iterator, Sequence

from pykudu_sql.planner.bind.bound_query import columns_of
from pykudu_sql.planner.explain.predicate_text import column_names, parameter_text, predicate_text
from pykudu_sql.planner.parse.dialect import display
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.query_plans import Scan
from pykudu_sql.planner.query.logical_query import LogicalQuery
from pykudu_sql.planner.query.passes import Pass
from pykudu_sql.planner.type_coercion.exact_decimals import noted_numbers
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder

PassTrace = Callable[[str, Sequence[str]], None]


def run_traced(
    query: LogicalQuery, passes: Sequence[Pass], context: PlanContext, trace: PassTrace
) -> LogicalQuery:
    """Run passes over a query, and report the query as it was bound and what each pass changed.

    Args:
        query: as it was bound; it is used up.
        passes: in their order.
        trace: takes the name of a step and the lines of the query that are new since the last.
    """
    before = list(query_lines(query))
    trace("bind", before)
    for step in passes:
        query = step.run(query, context)
        now = list(query_lines(query))
        trace(step.name, [line for line in now if line not in before])
        before = now
    return query


def query_lines(query: LogicalQuery) -> Iterator[str]:
    """A query as lines: its statement, then the facts that passes have worked out."""
    yield f"sql: {display(query.tree)}"
    for reference in query.bound.references:
        predicate = query.predicates.get(reference)
        if predicate is not None and not query.scans:
            condition_text = predicate_text(predicate, reference.table.schema)
            yield f"pushed to {reference.alias}: {condition_text}"
    yield from _equality_lines(query)
    if query.limit is not None:
        order = " in key order" if query.limit.order is ScanOrder.KEY else ""
        yield f"limit: {query.limit.rows} rows{order}"
    if query.summary:
        yield f"summary: {', '.join(str(each.kind) for each in query.summary)}"
    if query.counted:
        yield "counted by the scan"
    if query.scanned is not None:
        yield f"rows handed on: {len(query.scanned.outputs)} columns, order: {query.scanned.order}"
    if not query.scans:
        yield from _type_lines(query)
        yield from (f"compared: {note}" for note in dict.fromkeys(noted_numbers(query.tree)))
    yield from map(_scan_line, query.scans)
    for mark in query.early:
        if mark.narrowing is not None:
            scans, target = ", ".join(sorted(mark.scans)), mark.narrowing.target
            yield f"computed first: {scans} for {target} as {mark.name}"
    for coded in query.group_keys:
        yield f"group key: {coded.scan}.{coded.column} by {coded.code}"
    for word in query.word_columns:
        yield f"by words: {word.scan}.{word.column.name}"
    for name, values in query.lists:
        yield f"list {name}: {values.num_rows} values"
    types = query.parameter_types
    for number, (key, parameter_type) in enumerate(zip(query.parameters, types, strict=True), 1):
        yield f"${number}: {parameter_text(key)}" + (
            "" if parameter_type is None else f" as {parameter_type}"
        )


def _type_lines(query: LogicalQuery) -> Iterator[str]:
    if query.types is not None:
        for column in columns_of(query.tree):
            yield f"type: {column.name} is {query.types.of_column(column)}"


def _equality_lines(query: LogicalQuery) -> Iterator[str]:
    for equality in query.equalities:
        (source, source_id), (target, target_id) = equality.source, equality.target
        ends = ((source, source_id), (target, target_id))
        one, other = (f"{each.alias}.{_column(each.table, i)}" for each, i in ends)
        yield f"equality: values of {one} narrow {other}"


def _scan_line(scan: Scan) -> str:
    line = f"scan {scan.name}: {scan.table.name} ({', '.join(column_names(scan))})"
    if scan.predicate is not None:
        line += f" pushed {predicate_text(scan.predicate, scan.table.schema)}"
    if scan.top is not None:
        direction = " descending" if scan.top.descending else ""
        line += f" first {scan.top.rows} by {_column(scan.table, scan.top.column_id)}{direction}"
    return line if scan.limit is None else f"{line} limit {scan.limit}"


def _column(table: TableInfo, column_id: int) -> str:
    return table.schema.by_id[column_id].name
