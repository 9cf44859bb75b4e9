"""Signs and words that follow a number without a space: `1e1-1`, `THEN 2ELSE 3`.

sqlglot's tokenizer takes a sign behind an exponent, the digits behind it, and an E without digits
for parts of the number. It leaves `1.e1`, which is no number to the engine's printer.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from sqlglot import Token, TokenType

from pykudu_sql.planner.token_rewrites.tokens import token_like

_SUSPECT = re.compile(r"[\d.][eE][\d_]+[+-]\d")
_NUMBER_OR_OTHER = re.compile(
    r"""
      --[^\n]* | /\*.*?\*/ | '[^']*' | "[^"]*" | `[^`]*` | [^\W\d][\w$]*
    | (?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE](?:(?P<exponent>\d[\d_]*)|[+-]\d[\d_]*))?
    """,
    re.VERBOSE | re.DOTALL,
)
_SIGNS: Mapping[str, TokenType] = {"+": TokenType.PLUS, "-": TokenType.DASH}
_ODD_NUMBER = re.compile(r"[\d.][eE](?![\d+-])|\.[eE]")
_BARE_POINT = re.compile(r"\.([eE][+-]?\d)")
_SPARE = "*"  # a token of its own before a digit


def signs_behind_exponents(text: str) -> Sequence[int]:
    """The offsets of such signs in a text."""
    if not _SUSPECT.search(text):
        return ()
    ends = (
        match.end() for match in _NUMBER_OR_OTHER.finditer(text) if match["exponent"] is not None
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
    offsets = frozenset(signs)
    return [
        token_like(token, _SIGNS[text[token.start]], text[token.start])
        if token.start in offsets
        else token
        for token in tokens
    ]


def has_odd_numbers(text: str) -> bool:
    """Whether a text may need `plain_numbers`."""
    return _ODD_NUMBER.search(text) is not None


def plain_numbers(
    tokens: Sequence[Token], tokenize: Callable[[str], Sequence[Token]]
) -> Iterator[Token]:
    """The tokens with `1.e1` as 1.0e1, and with `2ELSE` as a number and a word.

    `tokens`: of a text; `tokenize`: gives the kind of token of a word.
    """
    split = None  # a number whose last letter belongs to what touches it
    for token in tokens:
        letter = "" if split is None else split.text[-1]
        touches = split is not None and split.end + 1 == token.start and token.text.isidentifier()
        word = letter + token.text if touches else letter
        if split is not None:
            yield token_like(split, tokenize(word)[0].token_type, word)
            split = None
            if touches:
                continue
        if token.token_type is not TokenType.NUMBER:
            yield token
        elif token.text[-1] in "eE":
            yield token_like(token, TokenType.NUMBER, token.text[:-1])
            split = token
        else:
            yield token_like(token, TokenType.NUMBER, _BARE_POINT.sub(r".0\1", token.text))
    if split is not None:
        yield token_like(split, TokenType.VAR, split.text[-1])
