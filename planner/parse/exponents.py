"""Signs that touch the exponent of a number and are none of its: `1e1-1` is a difference.

sqlglot's tokenizer takes such a sign, and the digits behind it, for a part of the number.
"""

import re
from collections.abc import Mapping, Sequence

from sqlglot import Token, TokenType

from pykudu_sql.planner.parse.own_names import token_like

_SUSPECT = re.compile(r"[\d.][eE][\d_]+[+-]\d")
_NUMBER_OR_OTHER = re.compile(
    r"""
      --[^\n]* | /\*.*?\*/ | '[^']*' | "[^"]*" | `[^`]*` | [^\W\d][\w$]*
    | (?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE](?:(?P<exponent>\d[\d_]*)|[+-]\d[\d_]*))?
    """,
    re.VERBOSE | re.DOTALL,
)
_SIGNS: Mapping[str, TokenType] = {"+": TokenType.PLUS, "-": TokenType.DASH}
_SPARE = "*"  # a token of its own before a digit


def signs_behind_exponents(text: str) -> Sequence[int]:
    """The offsets of such signs in a text."""
    if not _SUSPECT.search(text):
        return ()
    ends = (
        found.end() for found in _NUMBER_OR_OTHER.finditer(text) if found["exponent"] is not None
    )
    return [end for end in ends if text[end : end + 1] in ("+", "-")]


def without_signs(text: str, signs: Sequence[int]) -> str:
    """A text of the same length in which they are tokens of their own."""
    characters = list(text)
    for sign in signs:
        characters[sign] = _SPARE
    return "".join(characters)


def with_signs(tokens: Sequence[Token], text: str, signs: Sequence[int]) -> list[Token]:
    """The tokens of `without_signs` as those of the text."""
    known = frozenset(signs)
    return [
        token_like(token, _SIGNS[text[token.start]], text[token.start])
        if token.start in known
        else token
        for token in tokens
    ]
