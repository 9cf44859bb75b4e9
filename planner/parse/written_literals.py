"""String literals as they were written, where a statement was given plain ones in their place.

A heading shows what the user typed, so whoever makes it from the text of tokens asks here.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from types import MappingProxyType

from pykudu_sql.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class WrittenLiteral:
    """`plain`: in the text that is parsed, with blanks behind it; `written`: as it was typed."""

    plain: str
    written: str


WrittenLiterals = Mapping[int, WrittenLiteral]
_WRITTEN: ContextVar[WrittenLiterals] = ContextVar("written", default=MappingProxyType({}))


def written_literal(text: str, start: int) -> WrittenLiteral | None:
    """The literal at an offset of a text that is parsed; None where it is as it was typed."""
    literal = _WRITTEN.get().get(start)
    return literal if literal is not None and text.startswith(literal.plain, start) else None


def with_written(literals: WrittenLiterals) -> AbstractContextManager[None]:
    """A block in which a statement is planned. `literals`: by their offsets in its plain text."""
    return _Written(literals)


class _Written(AbstractContextManager[None]):
    """As a class, since a generator takes five times as long to enter and leave."""

    __slots__ = ("_literals", "_token")

    def __init__(self, literals: WrittenLiterals) -> None:
        self._literals = literals
        self._token: Token[WrittenLiterals] | None = None

    def __enter__(self) -> None:
        self._token = _WRITTEN.set(self._literals)

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        _WRITTEN.reset(self._token)
