"""Lengths of text types, `CHAR(10)`: the parser forgets them, so they are checked on the tokens."""

from collections.abc import Sequence

from sqlglot import Token, TokenType

from pykudu_sql.planner.vocabulary.data_types import no_parameter
from pykudu_sql.storage.errors import SourceSpan

_TEXTS = frozenset({TokenType.CHAR, TokenType.NCHAR, TokenType.BPCHAR, TokenType.TEXT})
_BEFORE_TYPE = frozenset({TokenType.ALIAS, TokenType.DCOLON})
_LENGTH = [TokenType.NUMBER, TokenType.R_PAREN]


def check_text_lengths(tokens: Sequence[Token]) -> None:
    """See that a text type of a cast has a number in its parentheses, and nothing else.

    `tokens`: of the statement. Raises ProgrammingError: it has something else (42601).
    """
    for i in range(1, len(tokens) - 1):
        token = tokens[i]
        if token.token_type not in _TEXTS or tokens[i - 1].token_type not in _BEFORE_TYPE:
            continue
        if tokens[i + 1].token_type is not TokenType.L_PAREN:
            continue
        if [each.token_type for each in tokens[i + 2 : i + 4]] != _LENGTH:
            length = token.end - token.start + 1
            raise no_parameter(token.text.upper(), SourceSpan(token.start, length))
