"""Reserved words that are names because of where they stand: `t.from`, `1 AS select`.

Behind a dot, and behind AS where the expression ends, nothing but a name can stand. The parser
takes most reserved words there; the others become plain words.
"""

from sqlglot import Token, TokenType

from pykudu_sql.planner.token_rewrites.tokens import token_like

_RESERVED = frozenset(
    {
        TokenType.SELECT, TokenType.FROM, TokenType.NOT, TokenType.VALUES, TokenType.DISTINCT,
        TokenType.ALL,
    }
)  # fmt: skip
_BEHIND_ALIAS = frozenset(
    {
        TokenType.COMMA, TokenType.R_PAREN, TokenType.SEMICOLON, TokenType.FROM, TokenType.WHERE,
        TokenType.GROUP_BY, TokenType.HAVING, TokenType.ORDER_BY, TokenType.LIMIT, TokenType.UNION,
        TokenType.EXCEPT, TokenType.INTERSECT, TokenType.QUALIFY, TokenType.WINDOW,
    }
)  # fmt: skip


def with_reserved_names(tokens: list[Token]) -> list[Token]:
    """The tokens of a statement with plain words for reserved ones that are names."""
    reserved = [i for i, token in enumerate(tokens) if token.token_type in _RESERVED and i > 0]
    names = [i for i in reserved if _is_name(tokens, i)]
    if not names:
        return tokens
    out = list(tokens)
    for i in names:
        out[i] = token_like(tokens[i], TokenType.VAR, tokens[i].text)
    return out


def _is_name(tokens: list[Token], i: int) -> bool:
    before = tokens[i - 1].token_type
    if before is TokenType.ALIAS:
        return i + 1 == len(tokens) or tokens[i + 1].token_type in _BEHIND_ALIAS
    return before is TokenType.DOT
