"""Names of fields in `{name: value}`: the parser takes the first name in any expression for one.

`{f(1): 2}` would have a field `f`, and `{-1: 2}` a field `1`. The tree does not show it any more,
so tokens are looked at. Entries of `MAP {..}` have expressions for keys.
"""

from collections.abc import Sequence

from sqlglot import Token, TokenType

from pykudu_sql.planner.token_rewrites.tokens import CLOSING, OPENING
from pykudu_sql.storage.errors import SourceSpan, SyntaxError

_QUOTED = frozenset({TokenType.STRING, TokenType.IDENTIFIER})
# Words that are values, of which the parser makes an empty name or one in other case.
_VALUES = frozenset({"TRUE", "FALSE", "NULL", "LOCALTIME", "LOCALTIMESTAMP", "SESSION_USER"})


def check_struct_keys(tokens: Sequence[Token]) -> None:
    """See that a key in braces is a name or a string.

    `tokens`: of the statement. Raises SyntaxError: one is another expression.
    """
    if all(token.token_type is not TokenType.L_BRACE for token in tokens):
        return
    within_struct: list[bool] = []
    for i, token in enumerate(tokens):
        kind = token.token_type
        if kind in OPENING:
            is_map = i > 0 and tokens[i - 1].token_type is TokenType.MAP
            within_struct.append(kind is TokenType.L_BRACE and not is_map)
        elif kind in CLOSING and within_struct:
            within_struct.pop()
        begins = kind is TokenType.L_BRACE or kind is TokenType.COMMA
        if begins and within_struct and within_struct[-1]:
            _check_key(tokens[i + 1 : i + 3])


def _check_key(tokens: Sequence[Token]) -> None:
    """`tokens`: behind an opening brace, or a comma between fields."""
    if len(tokens) < 2 or tokens[0].token_type is TokenType.R_BRACE:
        return
    key, colon = tokens
    if colon.token_type is TokenType.COLON and _is_name(key):
        return
    raise SyntaxError(
        "a field in braces is a name or a string, a colon and a value",
        hint="{'a': 1}; MAP {f(1): 2} takes expressions for keys",
        span=SourceSpan(key.start, key.end - key.start + 1),
    )


def _is_name(token: Token) -> bool:
    if token.token_type in _QUOTED:
        return True
    word = token.text.upper()
    return word.isidentifier() and word not in _VALUES and not word.startswith("CURRENT_")
