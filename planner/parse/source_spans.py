"""Where nodes of a tree stand in their statement; see `error_spans` for what becomes of it.

The parser notes the places of names, literals and the names of calls. What is made of these stands
from the first of them to the last.
"""

from collections.abc import Sequence

from sqlglot import Token, TokenType, exp

from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of
from pykudu_sql.storage.errors import SourceSpan

_SIGNS = {exp.Neg: TokenType.DASH, exp.BitwiseNot: TokenType.TILDE, exp.Not: TokenType.NOT}
_SIGN_TOKENS = frozenset(_SIGNS.values())


def node_span(node: exp.Expr) -> SourceSpan | None:
    """Where a node stands in its statement, None if the parser kept no place."""
    named = node.this if not isinstance(node, exp.Binary) else None
    for candidate in (node, named if isinstance(named, exp.Expr) else None):
        if candidate is not None and "start" in candidate.meta:
            start, end = candidate.meta["start"], candidate.meta["end"]
            return SourceSpan(start, end - start + 1)
    return _extent(node)


def _extent(node: exp.Expr) -> SourceSpan | None:
    """From the first node with a place, of those that a node is made of, to the last."""
    placed = [each.meta for each in all_nodes(node) if "start" in each.meta]
    if not placed:
        return None
    start = min(meta["start"] for meta in placed)
    return SourceSpan(start, max(meta["end"] for meta in placed) - start + 1)


def first_span(node: exp.Expr) -> SourceSpan | None:
    """Where the first part of a node stands that has a place, None if none has."""
    return next(filter(None, map(node_span, all_nodes(node))), None)


def place_signs(tree: exp.Expr, tokens: Sequence[Token]) -> None:
    """Note the places of what begins with a sign: `-1`, `~x`, `NOT y`.

    Args:
        tree: of a statement.
        tokens: that it was parsed from.
    """
    if _SIGN_TOKENS.isdisjoint([token.token_type for token in tokens]):
        return
    signed = nodes_of(tree, *_SIGNS)
    numbers = {token.start: number for number, token in enumerate(tokens)}
    for node in reversed(signed):  # the inner ones first
        span = _extent(node)
        number = numbers.get(span.start, 0) if span is not None else 0
        while number and tokens[number - 1].token_type is TokenType.L_PAREN:
            number -= 1
        sign = tokens[number - 1] if number else None
        if span is not None and sign is not None and sign.token_type is _SIGNS[type(node)]:
            node.meta.update(start=sign.start, end=span.start + span.length - 1)
