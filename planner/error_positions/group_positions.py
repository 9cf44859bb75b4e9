"""Positions of columns outside of groups, and of aggregates and windows where none may be."""

import re
from collections.abc import Iterator
from itertools import chain

from sqlglot import exp

from pykudu_sql.planner.error_positions.candidates import only_span
from pykudu_sql.planner.error_positions.operation_positions import framed_windows
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of
from pykudu_sql.storage.errors import SourceSpan

_UNGROUPED = re.compile(r'column "([^"]+)" must appear in the GROUP BY clause')
_UNDEFINED_WINDOW = re.compile(r"there is no window '(.*)'$", re.DOTALL)
_NO_WINDOW_AT_ALL = "at least one window function must appear"
_FRAME = re.compile("frame (?:start|end)|RANGE frames must")
_ONLY_WINDOWS = (
    exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile, exp.Lag,
    exp.Lead, exp.NthValue,
)  # fmt: skip


def span_of_group(message: str, tree: exp.Expr) -> SourceSpan | None:
    """Where a column stands outside of groups, or an aggregate where none may be; None: unknown.

    `message`: of the engine; `tree`: of the statement.
    """
    match = _UNGROUPED.match(message)
    if match is None:
        nodes = chain(_misplaced_aggregates(tree), _misplaced_windows(tree), _misplaced_names(tree))
        return _first(nodes)
    grouped = [
        select
        for select in nodes_of(tree, exp.Select)
        if select.args.get("group") or select.args.get("having") or select.find(exp.AggFunc)
    ]
    return _first(each for select in grouped for each in _ungrouped(select, match[1].lower()))


def _ungrouped(select: exp.Select, name: str) -> Iterator[exp.Expr]:
    """Columns of a name outside of groups, then the stars that may have brought it in."""
    for column in nodes_of(select, exp.Column):
        is_free = column.find_ancestor(exp.AggFunc, exp.Group, exp.Select) is select
        if is_free and column.name.lower() == name:
            yield column
    for item in select.expressions:
        if isinstance(item.this if isinstance(item, exp.Column) else item, exp.Star):
            yield item


def span_of_window(message: str, tree: exp.Expr) -> SourceSpan | None:
    """Where a window stands that may not be there, or is not defined; None: unknown.

    `message`: of the engine; `tree`: of the statement.
    """
    match = _UNDEFINED_WINDOW.match(message)
    if match is not None:
        names = [each.args.get("alias") for each in nodes_of(tree, exp.Window)]
        return _first(each for each in names if each is not None and each.name == match[1])
    if _FRAME.match(message):
        return only_span(framed_windows(tree))
    if message.startswith(_NO_WINDOW_AT_ALL):
        return _first(nodes_of(tree, exp.Qualify))
    nodes = chain(_misplaced_windows(tree), _calls_without_window(tree), _misplaced_names(tree))
    return _first(nodes)


def _first(nodes: Iterator[exp.Expr] | list[exp.Expr]) -> SourceSpan | None:
    return next(filter(None, map(node_span, nodes)), None)


def _misplaced_aggregates(tree: exp.Expr) -> Iterator[exp.Expr]:
    """What stands in aggregates where these may not be."""
    for aggregate in nodes_of(tree, exp.AggFunc):
        around = aggregate.find_ancestor(exp.Where, exp.Group, exp.AggFunc, exp.Select)
        if isinstance(around, exp.Where | exp.Group | exp.AggFunc):
            yield from all_nodes(aggregate)


def _misplaced_windows(tree: exp.Expr) -> Iterator[exp.Expr]:
    """What stands in windows where these may not be."""
    not_there = (exp.Where, exp.Group, exp.Having, exp.Join, exp.AggFunc, exp.Window)
    for window in nodes_of(tree, exp.Window):
        if isinstance(window.find_ancestor(*not_there, exp.Select), not_there):
            yield from all_nodes(window)


def _misplaced_names(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Names of aggregates and windows of the SELECT list, where what they name may not be."""
    for select in nodes_of(tree, exp.Select):
        items = [each for each in select.expressions if isinstance(each, exp.Alias)]
        names = {each.alias.lower() for each in items if each.find(exp.AggFunc, exp.Window)}
        for column in nodes_of(select, exp.Column) if names else ():
            around = column.find_ancestor(exp.Where, exp.Group, exp.AggFunc, exp.Select)
            is_of_select = column.find_ancestor(exp.Select) is select
            if is_of_select and around is not select and not column.table:
                yield from [column] if column.name.lower() in names else []


def _calls_without_window(tree: exp.Expr) -> Iterator[exp.Expr]:
    for call in nodes_of(tree, *_ONLY_WINDOWS):
        if not isinstance(call.find_ancestor(exp.Window, exp.Select), exp.Window):
            yield call
