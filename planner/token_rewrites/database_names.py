"""Names of databases that are words of the parser.

`default` is the database that there always is, and where values stand the parser reads the word
DEFAULT. Before a point it is a name: `VALUES (default.t.a, DEFAULT)`.
"""

from sqlglot import Token, TokenType

from pykudu_sql.planner.token_rewrites.tokens import token_like


def with_database_names(tokens: list[Token]) -> list[Token]:
    """The tokens with DEFAULT as a plain name where a point follows."""
    if all(token.token_type is not TokenType.DEFAULT for token in tokens):
        return tokens
    return [
        token_like(token, TokenType.VAR, token.text)
        if token.token_type is TokenType.DEFAULT and behind.token_type is TokenType.DOT
        else token
        for token, behind in zip(tokens, [*tokens[1:], tokens[-1]], strict=True)
    ]
