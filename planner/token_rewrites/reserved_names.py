"""Reserved words that are names because of where they stand: `t.from`, `1 AS select`.

Behind a dot, and behind AS where the expression ends, nothing but a name can stand. The parser
takes most reserved words there; the others become plain words. It reads ORDER BY of a column named
"all" as ORDER BY ALL, so that such a column is put in parentheses there.
"""

from sqlglot import Token, TokenType

from pykudu_sql.planner.token_rewrites.tokens import CLOSING, OPENING, token_like

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

_BEFORE_ORDER = frozenset(
    {TokenType.SELECT, TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.LIMIT}
)


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


def with_columns_named_all(tokens: list[Token]) -> list[Token]:
    """The tokens of a statement with parentheses around the columns `"all"` of ORDER BY."""
    ends = [i for i in range(1, len(tokens)) if _is_column_named_all(tokens, i)]
    out = list(tokens)
    for i in reversed(ends):
        start = i
        while start > 1 and tokens[start - 1].token_type is TokenType.DOT:
            start -= 2
        if _begins_order_key(tokens, start):
            out.insert(i + 1, token_like(tokens[i], TokenType.R_PAREN, ")"))
            out.insert(start, token_like(tokens[start], TokenType.L_PAREN, "("))
    return out


def _is_column_named_all(tokens: list[Token], i: int) -> bool:
    if tokens[i].text.upper() != "ALL":
        return False
    is_quoted = tokens[i].token_type is TokenType.IDENTIFIER
    return is_quoted or tokens[i - 1].token_type is TokenType.DOT


def _begins_order_key(tokens: list[Token], start: int) -> bool:
    """Whether a key of ORDER BY begins here: behind the words, or a comma after other keys."""
    depth = 0
    for token in reversed(tokens[:start]):
        kind = token.token_type
        if depth == 0 and kind is TokenType.ORDER_BY:
            return True
        if kind in CLOSING:
            depth += 1
        elif kind in OPENING:
            depth -= 1
        if depth < 0 or (depth == 0 and kind in _BEFORE_ORDER):
            return False
    return False
