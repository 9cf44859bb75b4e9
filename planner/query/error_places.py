"""Places of errors that the engine finds when it computes: what they quote, in the statement.

The engine's own places are those in generated SQL. An error of a value shows the literal that has
it, one of grouping the column or the aggregate. The statement is parsed again for that.
"""

import re
from collections.abc import Iterator

from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.error_positions import locate
from pykudu_sql.planner.parse.lexer import tokenize
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.storage.errors import Error, SourceSpan

_QUOTED = re.compile(r"""'((?:[^']|'')*)'|"([^"]*)\"""")
_UNGROUPED = re.compile(r'column "([^"]+)" must appear in the GROUP BY clause')
_BEGINS_ROWS = frozenset({"SELECT", "WITH", "VALUES", "FROM"})
_GROUPING = "42803"
_OF_VALUES = "22"


def place(error: Error, statement: str) -> None:
    """Note in an error of the engine where what it is about stands in a statement, if that shows.

    `error`: its message in the engine's words or ours, its names not yet hidden.
    """
    if error.position is not None or not error.sqlstate.startswith((_GROUPING, _OF_VALUES)):
        return
    tree = _tree(statement)
    if tree is not None:
        find = _ungrouped if error.sqlstate == _GROUPING else _literal
        error.span = find(error.message, tree)
        locate(error, statement)


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


def _literal(message: str, tree: exp.Expr) -> SourceSpan | None:
    """Where the one literal stands that a message quotes: in a cast, or where nothing is cast."""
    quoted = {(text or name).replace("''", "'") for text, name in _QUOTED.findall(message)}
    literals = [node for node in tree.find_all(exp.Literal) if node.is_string]
    named = [node for node in literals if node.name in quoted]
    cast = [node for node in named if isinstance(node.parent, exp.Cast)]
    casts_others = any(not isinstance(node.this, exp.Literal) for node in tree.find_all(exp.Cast))
    candidates = cast if cast or casts_others else named
    return node_span(candidates[0]) if len({node.name for node in candidates}) == 1 else None


def _ungrouped(message: str, tree: exp.Expr) -> SourceSpan | None:
    """Where a column stands outside of groups, or an aggregate where none may be."""
    match = _UNGROUPED.match(message)
    if match is None:
        return next(filter(None, map(node_span, _misplaced(tree))), None)
    for select in tree.find_all(exp.Select):
        if not (select.args.get("group") or select.find(exp.AggFunc)):
            continue
        for column in select.find_all(exp.Column):
            is_free = column.find_ancestor(exp.AggFunc, exp.Group, exp.Select) is select
            if is_free and column.name.lower() == match[1].lower():
                return node_span(column)
    return None


def _misplaced(tree: exp.Expr) -> Iterator[exp.Expr]:
    """What stands in aggregates where these may not be."""
    for aggregate in tree.find_all(exp.AggFunc):
        around = aggregate.find_ancestor(exp.Where, exp.Group, exp.AggFunc, exp.Select)
        if isinstance(around, exp.Where | exp.Group | exp.AggFunc):
            yield from aggregate.walk()
