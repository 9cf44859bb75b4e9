"""The call whose argument is being typed: a pure function of the text."""

from collections.abc import Sequence

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.editing.tokens import Kind, Token, tokenize, words

# Words before a bracket that are no functions.
_NO_FUNCTIONS = words("IN VALUES KEY HASH RANGE OVER AND OR NOT ON FROM WHERE SELECT AS USING BY")


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call. `name`: of its function, in lower case; `argument`: the one at hand, from 0."""

    name: str
    argument: int


def open_call(text: str, cursor: int) -> OpenCall | None:
    """The innermost call that the cursor is in; None if it is in none.

    `text`: everything typed; `cursor`: offset into it.
    """
    opened: list[tuple[Token | None, int]] = []
    previous: Token | None = None
    for token in _before(tokenize(text), cursor):
        if token.text == "(":
            opened.append((previous, 0))
        elif token.text == ")" and opened:
            opened.pop()
        elif token.text == "," and opened:
            name, argument = opened[-1]
            opened[-1] = name, argument + 1
        elif token.text == ";":
            opened.clear()
        if token.kind not in (Kind.SPACE, Kind.COMMENT):
            previous = token
    for function, argument in reversed(opened):
        if _names_function(function):
            assert function is not None
            return OpenCall(function.text.lower(), argument)
    return None


def _before(tokens: Sequence[Token], cursor: int) -> list[Token]:
    return [token for token in tokens if token.start < cursor]


def _names_function(token: Token | None) -> bool:
    return token is not None and token.kind is Kind.WORD and token.word not in _NO_FUNCTIONS
