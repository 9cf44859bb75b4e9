"""Positions of clauses, subqueries and names that an error of the engine is about."""

import re
from collections.abc import Iterator

from sqlglot import exp

from pykudu_sql.planner.error_positions.candidates import candidate_table, span_of_candidate
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.errors import SourceSpan

_Match = re.Match[str]
_BESIDE_VALUES = (exp.From, exp.Join, exp.Lateral, exp.SetOperation, exp.Exists, exp.In, exp.CTE)


def span_of_clause(message: str, tree: exp.Expr) -> SourceSpan | None:
    """Where the one part of a statement stands that a message is about; None: not known.

    `message`: of the engine; `tree`: of the statement.
    """
    return span_of_candidate(_CANDIDATES, message, tree)


def _negative_counts(_match: _Match, tree: exp.Expr) -> Iterator[exp.Expr]:
    """What LIMIT and OFFSET count by, where it is not plain that it is positive."""
    for clause in nodes_of(tree, exp.Limit, exp.Offset):
        if not isinstance(clause.expression, exp.Literal):
            yield clause.expression


def _percentages(_match: _Match, tree: exp.Expr) -> Iterator[exp.Expr]:
    for clause in nodes_of(tree, exp.Limit):
        options = clause.args.get("limit_options")
        if options is not None and options.args.get("percent"):
            yield clause.expression


def _values(_match: _Match, tree: exp.Expr) -> Iterator[exp.Expr]:
    """Subqueries used as values that may have several rows."""
    for query in nodes_of(tree, exp.Subquery):
        if not isinstance(query.parent, _BESIDE_VALUES) and not _is_one_row(query.unnest()):
            yield query


def _is_one_row(query: exp.Expr) -> bool:
    if not isinstance(query, exp.Select) or query.args.get("group"):
        return False
    return query.args.get("from_") is None or isinstance(
        query.expressions[0].unalias(), exp.AggFunc
    )


def _lists(_match: _Match, tree: exp.Expr) -> Iterator[exp.Expr]:
    """What has to be a list: what is unnested, and what stands under ANY and ALL."""
    for node in nodes_of(tree, exp.Any, exp.All):
        if not isinstance(node.this, exp.Query):
            yield node.this.unnest()
    for call in nodes_of(tree, exp.Explode, exp.Unnest):
        yield call.expressions[0] if isinstance(call, exp.Unnest) else call.this


def _named(match: _Match, tree: exp.Expr) -> Iterator[exp.Expr]:
    name = match["name"].lower()
    for node in nodes_of(tree, exp.Identifier, exp.Literal):
        if node.name.lower() == name:
            yield node


_CANDIDATES = candidate_table(
    ("LIMIT or OFFSET is negative", _negative_counts),
    ("limit percent out of range", _percentages),
    ("a subquery used as a value returned more than one row", _values),
    (r"a list is expected|(?i:unnest requires a single list)", _lists),
    (r'could not find key "(?P<name>[^"]+)"', _named),
    (r'column "(?P<name>[^"]+)" in REPLACE list', _named),
)
