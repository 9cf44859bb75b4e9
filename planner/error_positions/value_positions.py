"""Positions of values that an error of the engine quotes: the literal, or its column."""

import re
from collections.abc import Sequence

from sqlglot import exp

from pykudu_sql.planner.error_positions.candidates import only_span
from pykudu_sql.planner.error_positions.operation_positions import cast_operands
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.errors import SourceSpan

_QUOTED = re.compile(r"""'((?:[^']|'')*)'|"([^"]*)\"""")
_NUMBER = re.compile(r"-?([\d.]+) does not fit into ")
_BEYOND_TYPE = re.compile(r".* does not fit into (?P<type>[A-Z]+(?:\(\d+,\d+\))?)$", re.DOTALL)
_OF_COLUMN = re.compile(r".* \(column (?P<name>[^()]+)\)$", re.DOTALL)
_DOCUMENT = re.compile(r"'(?P<text>.*)' is no JSON: ", re.DOTALL)
_EXPRESSION = re.compile(r"a regular expression is wrong: .*: (?P<text>.+)", re.DOTALL)


def span_of_value(message: str, tree: exp.Expr) -> SourceSpan | None:
    """Where the one value stands that a message quotes; None if that is not certain.

    `message`: of the engine; `tree`: of the statement.
    """
    literals = nodes_of(tree, exp.Literal)
    texts = [each for each in literals if each.is_string]
    if match := _NUMBER.match(message):
        span = only_span(
            each for each in literals if _is_unique_literal(each) and each.name == match[1]
        )
        if span is not None:
            return span
    if match := _BEYOND_TYPE.fullmatch(message):
        # Values that meet may get a type of all digits without a cast.
        is_unasked = match["type"].startswith("DECIMAL(38,")
        return None if is_unasked else only_span(cast_operands(match["type"], tree))
    for pattern in (_DOCUMENT, _EXPRESSION):
        if match := pattern.match(message):
            return only_span(each for each in texts if match["text"] in each.name)
    span = _literal(message, texts, tree)
    if span is None and (match := _OF_COLUMN.match(message)):
        name = match["name"].lower()
        return only_span(c for c in nodes_of(tree, exp.Column) if c.name.lower() == name)
    return span


def _is_unique_literal(number: exp.Literal) -> bool:
    """Whether a number is cast, or counts rows, as it is written: others may be computed alike."""
    parent = number.parent
    while isinstance(parent, exp.Paren | exp.Neg):
        parent = parent.parent
    return not number.is_string and isinstance(parent, exp.Cast | exp.Limit | exp.Offset)


def _literal(message: str, texts: Sequence[exp.Expr], tree: exp.Expr) -> SourceSpan | None:
    """Where the one literal stands that is quoted: in a cast, or where nothing is cast."""
    quoted = {(text or name).replace("''", "'") for text, name in _QUOTED.findall(message)}
    named = [node for node in texts if node.name in quoted]
    cast = [node for node in named if isinstance(node.parent, exp.Cast)]
    casts_others = any(not isinstance(node.this, exp.Literal) for node in nodes_of(tree, exp.Cast))
    candidates = cast if cast or casts_others else named
    return node_span(candidates[0]) if len({node.name for node in candidates}) == 1 else None
