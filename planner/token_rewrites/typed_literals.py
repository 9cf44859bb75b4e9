"""Typed literals on tokens: `DATE '2026-01-31'` is one operand, whatever `::` stands behind it.

The parser casts the text first and the result to the type of the literal, so `TIMESTAMP '..'::DATE`
would be a timestamp. It gets `(TIMESTAMP '..')::DATE`.
"""

from sqlglot import Token, TokenType
from sqlglot.parser import Parser

from pykudu_sql.planner.token_rewrites.tokens import token_like

_CAST, _STRING = TokenType.DCOLON, TokenType.STRING
_L_PAREN, _R_PAREN = TokenType.L_PAREN, TokenType.R_PAREN
# What begins an interval is no type, and `ROW` and `STRUCT` have no texts.
_TYPES = frozenset(Parser.TYPE_TOKENS) - {TokenType.INTERVAL}
_ZONES = (["WITH", "TIME", "ZONE"], ["WITHOUT", "TIME", "ZONE"])


def with_whole_literals(tokens: list[Token]) -> list[Token]:
    """The tokens of a statement with brackets around typed literals that a `::` follows."""
    casts = [i for i, token in enumerate(tokens) if token.token_type is _CAST]
    begins = {i - 1: _begin(tokens, i - 1) for i in casts if i > 1}
    ends = {end: begin for end, begin in begins.items() if begin is not None}
    if not ends:
        return tokens
    opened = frozenset(ends.values())
    result: list[Token] = []
    for i, token in enumerate(tokens):
        if i in opened:
            result.append(token_like(token, _L_PAREN, "("))
        result.append(token)
        if i in ends:
            result.append(token_like(token, _R_PAREN, ")"))
    return result


def _begin(tokens: list[Token], text: int) -> int | None:
    """Where the type of the literal with the text at a place begins; None if it is no such text."""
    if tokens[text].token_type is not _STRING:
        return None
    at = text - 1
    if [token.text.upper() for token in tokens[max(0, at - 2) : at + 1]] in _ZONES:
        at -= 3
    if at > 0 and tokens[at].token_type is _R_PAREN:
        while at > 0 and tokens[at].token_type is not _L_PAREN:
            at -= 1
        at -= 1
    return at if at >= 0 and tokens[at].token_type in _TYPES else None
