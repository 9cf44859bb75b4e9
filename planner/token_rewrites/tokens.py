"""sqlglot's tokens: brackets, and tokens put in the place of others."""

from sqlglot import Token, TokenType

OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})


def token_like(token: Token, token_type: TokenType, text: str) -> Token:
    """A token in the place of another."""
    return Token(token_type, text, token.line, token.col, token.start, token.end, [])
