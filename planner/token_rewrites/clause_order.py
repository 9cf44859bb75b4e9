"""The order of a query's clauses, in which the parser takes them in any order.

`SELECT * FROM t LIMIT 1 WHERE a > 0` reads as if the LIMIT came first, but it cannot; SQL has one
order for what is written, which is also the order in which clauses are computed.
"""

from collections.abc import Sequence

from sqlglot import Token, TokenType

from pykudu_sql.planner.token_rewrites.tokens import CLOSING, OPENING
from pykudu_sql.storage.errors import SourceSpan, SyntaxError

_FROM, _WHERE, _HAVING, _RETURNING = 1, 2, 4, 8
_RANKS = {
    TokenType.FROM: _FROM,
    TokenType.JOIN: _FROM,
    TokenType.WHERE: _WHERE,
    TokenType.GROUP_BY: 3,
    TokenType.HAVING: _HAVING,
    TokenType.WINDOW: 5,
    TokenType.QUALIFY: 5,
    TokenType.ORDER_BY: 6,
    TokenType.LIMIT: 7,
    TokenType.OFFSET: 7,
    TokenType.FETCH: 7,
    TokenType.RETURNING: _RETURNING,
}
_FRESH = frozenset(
    {TokenType.SELECT, TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT, TokenType.SET}
)
_CONDITIONS = frozenset({_WHERE, _HAVING})
_READ = OPENING | CLOSING | _FRESH | _RANKS.keys() | {TokenType.COMMA}
# Words that may be names of columns too, and what stands behind them where they begin a clause.
_COUNTS = frozenset({TokenType.LIMIT, TokenType.OFFSET})
_BEHIND_COUNT = frozenset(
    {TokenType.NUMBER, TokenType.L_PAREN, TokenType.PARAMETER, TokenType.ALL, TokenType.NULL}
)
_BEFORE_NAME = frozenset(
    {TokenType.SELECT, TokenType.COMMA, TokenType.DOT, TokenType.ALIAS, TokenType.DISTINCT}
)
_CHANGE = "UPDATE .. SET .. FROM .. WHERE .. RETURNING"
_QUERY = "SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT"


def check_clause_order(tokens: Sequence[Token]) -> None:
    """See that the clauses of each query stand in their order.

    Args:
        tokens: of a statement that the parser took.

    Raises SyntaxError: one stands behind another that it belongs before.
    """
    open_clauses: list[tuple[int, str]] = [(0, "")]  # of the queries around a token
    for i, token in enumerate(tokens):
        kind = token.token_type
        if kind not in _READ:
            continue
        if kind in OPENING:
            open_clauses.append((0, ""))
        elif kind in CLOSING:
            if len(open_clauses) > 1:
                open_clauses.pop()
        elif kind in _FRESH:
            open_clauses[-1] = (0, "")
        elif kind is TokenType.COMMA:
            if open_clauses[-1][0] in _CONDITIONS:
                hint = f"join conditions by AND; tables stand before {open_clauses[-1][1]}"
                raise _misplaced(token, hint)
        elif _begins_clause(tokens, i):
            rank, word = _RANKS[kind], token.text.upper()
            before, word_before = open_clauses[-1]
            if rank < before:
                is_change = before == _RETURNING or kind is TokenType.FROM
                hint = f"{word} stands before {word_before}: {_CHANGE if is_change else _QUERY}"
                raise _misplaced(token, hint)
            open_clauses[-1] = (rank, word)


def _begins_clause(tokens: Sequence[Token], i: int) -> bool:
    """Whether the token at `i`, of a kind that has a rank, is no name and no part of a call."""
    kind = tokens[i].token_type
    if i and tokens[i - 1].token_type in _BEFORE_NAME:
        return kind is TokenType.FROM and tokens[i - 1].token_type is TokenType.COMMA
    behind = tokens[i + 1].token_type if i + 1 < len(tokens) else None
    if kind in _COUNTS:
        return behind in _BEHIND_COUNT
    if kind is TokenType.WINDOW:
        return i + 2 < len(tokens) and tokens[i + 2].token_type is TokenType.ALIAS
    return True


def _misplaced(token: Token, hint: str) -> SyntaxError:
    return SyntaxError(
        f'syntax error at or near "{token.text}"',
        hint=hint,
        span=SourceSpan(token.start, len(token.text)),
    )
