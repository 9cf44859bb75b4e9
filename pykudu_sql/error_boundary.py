"""The edge of the API: only `pykudu_sql.Error` leaves it, without names the user never wrote.

An exception of another class is converted: lack of memory, disk or stack to the error for it,
anything else to an `InternalError` that names no internals. The cause is chained. What the
program's own code raises, a reader of rows that it gave, leaves as it is.

A message of another library may hold internal names: of scans, of substituted functions, of
parameters by number. Names in a message are looked up in the statement and in the catalog; if one
is in neither, a general message for the SQLSTATE replaces the whole message.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from pykudu_sql.storage.errors import (
    CorruptionError,
    DataError,
    DiskError,
    Error,
    InterfaceError,
    InternalError,
    OperationalError,
    StatementTooComplexError,
)

P = ParamSpec("P")
R = TypeVar("R")

_DATA = re.compile(r"'(?:[^']|'')*'")
_NAMED = re.compile(r'"([^"]*)"')
_WORD = re.compile(r"(?<![\w$])(?:[^\W\d][\w$]*|\$\d+)")
# Words of our SQL, and of encodings, that look like names.
_VOCABULARY = frozenset(
    {"timestamp_s", "timestamp_ms", "timestamp_ns", "time_ns", "base64", "utf8"}
)
_GENERAL: Mapping[str, str] = {
    "0A": "a part of the statement is not supported",
    "22": "a value does not fit the expression that it is given to",
    "42601": "a part of the statement is no SQL of this dialect",
    "42803": "aggregates, groups and single rows are mixed in a way that has no meaning",
    "42804": "an expression is given values of types that it does not take",
    "42883": "a function is given arguments that it does not take",
    "XX": "the engine failed at this statement, which is a defect",
}
# Their names are those of files and limits.
_ABOUT_THE_MACHINE = (OperationalError, CorruptionError)
# SQLSTATEs of objects that are missing, or there already.
_ABOUT_CALLS = ("() ", "' would make a value")  # a function's name stands before these
_ABOUT_NAMES = ("3D0", "3F0", "42P", "427")
_OTHERWISE = "the statement cannot be computed"


def database_error(error: Exception) -> Error:
    """The error to raise for any exception; one of ours stays what it is."""
    match error:
        case Error():
            return error
        case MemoryError():
            return OperationalError("there is not enough memory for this", sqlstate="53200")
        case RecursionError():
            return StatementTooComplexError("the statement is nested too deeply")
        case UnicodeError():
            return DataError(
                "a text is not valid Unicode and cannot be stored or compared", sqlstate="22021"
            )
        case OSError(strerror=str(reason)):
            where = f" at '{error.filename}'" if error.filename is not None else ""
            return DiskError(f"the operating system refused{where}: {reason}")
    return InternalError(
        f"this failed by a defect in pykudu_sql ({type(error).__name__})",
        hint="please report what was called with the traceback, which shows the cause",
    )


def hide_foreign_names(error: Error, statement: str, names: Callable[[], Iterable[str]]) -> None:
    """Replace the message of an error that another library caused, if it holds internal names.

    Args:
        error: whose message may be replaced.
        statement: that caused it.
        names: of tables, columns and the like that the user has made.
    """
    if isinstance(error, _ABOUT_THE_MACHINE) or not _is_foreign(error):
        return
    suspects = set(_names_in(error.message)) - _VOCABULARY
    if not suspects or suspects <= (words := _words_of(statement)):
        return
    if suspects <= words.union(*map(_words_of, names())):
        return
    state = error.sqlstate
    error.message = _GENERAL.get(state) or _GENERAL.get(state[:2]) or _OTHERWISE
    error.args = (error.message,)


def _is_foreign(error: BaseException) -> bool:
    """Whether the root cause of an error is an exception of another library."""
    cause: BaseException | None = error
    while isinstance(cause, Error):
        cause = cause.__cause__
    return cause is not None


def _names_in(message: str) -> Iterator[str]:
    """What in a message looks like a name: in double quotes, like a call, or spelt like one."""
    text = _DATA.sub("''", message)
    for quoted in _NAMED.findall(text):
        yield from (word.lower() for word in _WORD.findall(quoted))
    for match in _WORD.finditer(text):
        word = match[0]
        called = text[match.end() : match.end() + 1] == "(" and word.islower()
        if called or not word.isalpha():
            yield word.lower()


def _words_of(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}


class ErrorBoundary:
    """The context of a statement's work: its errors leave as ours, with their position.

    `statement`: its text; that of the prepared statement while EXECUTE runs one.
    """

    __slots__ = ("_locate", "_names", "_of_program", "statement")

    def __init__(
        self,
        statement: str,
        names: Callable[[], Iterable[str]],
        locate: Callable[[Error, str], None] | None = None,
    ) -> None:
        """See `hide_foreign_names`; `locate` notes where in the statement an error lies."""
        self.statement = statement
        self._names = names
        self._locate = locate
        self._of_program: Exception | None = None

    @contextmanager
    def program_code(self) -> Iterator[None]:
        """A block that runs code of the program, whose exceptions leave the API as they are.

        Lack of memory is ours also there.
        """
        try:
            yield
        except (Error, MemoryError):
            raise
        except Exception as error:
            self._of_program = error
            raise

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, Exception) or error is self._of_program:
            return
        ours = database_error(error)
        unplaced_name = ours.position is None and (
            ours.sqlstate.startswith(_ABOUT_NAMES)
            or any(words in ours.message for words in _ABOUT_CALLS)
        )
        if self._locate is not None and (
            ours.span is not None or unplaced_name or _is_foreign(ours)
        ):
            self._locate(ours, self.statement)
        hide_foreign_names(ours, self.statement, self._names)
        if ours is not error:
            raise ours from error


def check_text(value: object, what: str) -> None:
    """See that an argument of the API is text.

    Raises InterfaceError: it is not; DataError: it has half of a surrogate pair.
    """
    if not isinstance(value, str):
        raise InterfaceError(f"{what} is text, not {type(value).__name__}", sqlstate="07006")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{what} is not valid Unicode text", sqlstate="22021") from error


def guarded(call: Callable[P, R]) -> Callable[P, R]:
    """A call of the API that raises nothing but errors of ours, and TypeError for other arguments
    than it takes."""

    @wraps(call)
    def guard(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return call(*args, **kwargs)
        except Error:
            raise
        except Exception as error:
            traceback = error.__traceback__
            if isinstance(error, TypeError) and (traceback is None or traceback.tb_next is None):
                raise  # the call did not begin
            raise database_error(error) from error

    return guard
