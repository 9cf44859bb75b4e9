"""Intervals on tokens: their texts in one form, and no alias of a word that belongs to one.

The parser takes what looks like a number and a unit out of a text and drops the rest, so it gets
texts as `interval_text` writes them. A unit or AGO behind a complete interval would be an alias.
"""

from collections.abc import Sequence

from sqlglot import Token, TokenType

from pykudu_sql.planner.token_rewrites.tokens import CLOSING, OPENING
from pykudu_sql.planner.vocabulary.interval_text import interval_text, is_number
from pykudu_sql.planner.vocabulary.time_units import ENGINE_UNITS
from pykudu_sql.storage.errors import SourceSpan, SyntaxError

_ENDS_OPERAND = frozenset(
    {
        TokenType.NUMBER, TokenType.STRING, TokenType.VAR, TokenType.IDENTIFIER,
        TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.PLACEHOLDER, TokenType.END,
    }
)  # fmt: skip
_INTERVAL = TokenType.INTERVAL
_NO_UNIT_BEHIND = frozenset({TokenType.COMMA, _INTERVAL})


def with_plain_intervals(tokens: list[Token]) -> list[Token]:
    """The tokens of a statement with texts of intervals as `interval_text` writes them.

    Raises InvalidValueError: a text is no interval; SyntaxError: a unit or AGO stands behind one.
    """
    if all(token.token_type is not _INTERVAL for token in tokens):
        return tokens
    result = list(tokens)
    for i, token in enumerate(tokens):
        at = i + 1 if token.token_type is _INTERVAL else None
        while at is not None and at < len(tokens):
            at = _next_quantity(result, at)
    return result


def _next_quantity(tokens: list[Token], at: int) -> int | None:
    """Make the text at a place plain; the place of a quantity to add, None if there is none."""
    end = at
    token = tokens[at]
    if [each.text.upper() for each in tokens[at + 2 : at + 3]] == ["TO"]:
        return None  # '1-2' YEAR TO MONTH is refused as such
    if token.token_type is TokenType.STRING:
        text = interval_text(token.text, _span(token))
        tokens[at] = Token(
            TokenType.STRING, text, token.line, token.col, token.start, token.end, token.comments
        )
    if token.token_type is not TokenType.STRING or is_number(token.text):
        unit = _unit_position(tokens, at)
        if unit is None:
            return None
        end = unit
    behind = tokens[end + 1 : end + 3]
    if not behind:
        return None
    if _is_unit(behind[0]) or behind[0].text.upper() == "AGO":
        raise SyntaxError(
            f'syntax error at or near "{behind[0].text}"',
            hint="an interval is written INTERVAL '3 days ago', a name behind it with AS",
            span=_span(behind[0]),
        )
    at = end + 1 + (behind[0].token_type is TokenType.PLUS)
    is_added = at < len(tokens) and tokens[at].token_type in (TokenType.STRING, TokenType.NUMBER)
    return at if is_added else None


def _unit_position(tokens: Sequence[Token], start: int) -> int | None:
    """Where the unit behind a quantity stands, None if it has none."""
    depth = 0
    for index in range(start, len(tokens)):
        kind = tokens[index].token_type
        depth += (kind in OPENING) - (kind in CLOSING)
        if depth < 0 or (depth == 0 and kind in _NO_UNIT_BEHIND):
            return None
        follows_operand = index > start and tokens[index - 1].token_type in _ENDS_OPERAND
        if depth == 0 and follows_operand and _is_unit(tokens[index]):
            return index
    return None


def _is_unit(token: Token) -> bool:
    is_quoted = token.token_type in (TokenType.IDENTIFIER, TokenType.STRING)
    return not is_quoted and token.text.upper() in ENGINE_UNITS


def _span(token: Token) -> SourceSpan:
    return SourceSpan(token.start, token.end - token.start + 1)
