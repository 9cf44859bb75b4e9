"""Positions of errors that the engine finds when it computes: what they quote, in the statement.

The engine's own positions are those in generated SQL. An error of a value shows the literal that
has it, one of types the operation or the call, one of grouping the column or the aggregate, one of
windows that may not be where it is. The statement is parsed again for that.
"""

import re
from collections.abc import Callable, Collection, Mapping

from sqlglot import exp

from pykudu_sql.planner.error_positions.call_positions import span_of_call, span_of_computation
from pykudu_sql.planner.error_positions.clause_positions import span_of_clause
from pykudu_sql.planner.error_positions.group_positions import span_of_group, span_of_window
from pykudu_sql.planner.error_positions.name_positions import NAME_STATES, span_of_name
from pykudu_sql.planner.error_positions.operation_positions import span_of_operation
from pykudu_sql.planner.error_positions.value_positions import span_of_value
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.error_spans import locate
from pykudu_sql.planner.parse.lexer import tokenize
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.errors import Error, SourceSpan

_BEGINS_ROWS = frozenset({"SELECT", "WITH", "VALUES", "FROM"})
_NO_INTEGER = re.compile(r"could not convert string '.*' to BIGINT$", re.DOTALL)
_TIMES_AS_INTEGERS = frozenset({"TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"})
_Finder = Callable[[str, exp.Expr], SourceSpan | None]


def locate_engine_error(error: Error, statement: str, views: Collection[str] = ()) -> None:
    """Note in an error of execution where what it is about stands in a statement, if that shows.

    An error with a span is of a part that was planned while the statement ran.

    Args:
        error: its message in the engine's words or ours, its names not yet hidden.
        statement: that caused it.
        views: names of views, whose queries an error may be about as well.
    """
    if error.position is not None or error.span is not None:
        locate(error, statement)
        return
    if error.sqlstate in NAME_STATES:
        error.span = span_of_name(error.message, statement)
        if error.span is not None:
            locate(error, statement)
            return
    finders = next((f for state, f in _FINDERS.items() if error.sqlstate.startswith(state)), ())
    tree = _tree(statement) if finders else None
    if tree is None:
        return
    _name_type_of_time(error, tree)
    if any(table.name.lower() in views for table in nodes_of(tree, exp.Table)):
        finders = tuple(each for each in finders if each is span_of_value)
    spans = (find(error.message, tree) for find in finders)
    error.span = next((span for span in spans if span is not None), None)
    locate(error, statement)


def _name_type_of_time(error: Error, tree: exp.Expr) -> None:
    """Name the type that a text was cast to, where the engine named that of its representation.

    It says BIGINT of a text that is no TIMESTAMP_NS, for one.
    """
    if not _NO_INTEGER.match(error.message):
        return
    names = {cast.to.this.name for cast in nodes_of(tree, exp.Cast)}
    if "BIGINT" not in names and (times := sorted(names & _TIMES_AS_INTEGERS)):
        error.message = f"{error.message.removesuffix('BIGINT')}{' or '.join(times)}"


def _tree(statement: str) -> exp.Expr | None:
    """The tree of a statement, or of the query in it; None of what has none."""
    try:
        words = (token for token in tokenize(statement) if token.word in _BEGINS_ROWS)
        starts = [0, *(token.start for token in words)][:2]
    except Error:
        return None
    for start in starts:
        try:
            return parse(statement, start)
        except (Error, RecursionError):
            continue
    return None


_FINDERS: Mapping[str, tuple[_Finder, ...]] = {
    "42803": (span_of_group,),
    "42P20": (span_of_window,),
    "42704": (span_of_window,),
    "42804": (span_of_operation, span_of_clause, span_of_call),
    "21000": (span_of_clause,),
    "0A000": (span_of_operation, span_of_call, span_of_value),
    "54000": (span_of_operation,),
    "22": (span_of_value, span_of_operation, span_of_clause, span_of_call, span_of_computation),
}
