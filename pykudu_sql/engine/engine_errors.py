"""The engine's errors as ours: by what the caller can do next, without the engine's inner life.

They are recognised by the names of their classes, so this file needs no engine. A message keeps its
first line; what follows quotes the generated SQL or settings that users cannot reach.
"""

import re
from collections.abc import Iterator, Mapping

from pykudu_sql.dataclass import dataclass
from pykudu_sql.engine.message_translation import translate_message
from pykudu_sql.engine.value_guard import limit_error
from pykudu_sql.storage.errors import (
    DatabaseError,
    DataError,
    DiskError,
    Error,
    InterfaceError,
    InternalError,
    InvalidValueError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    QueryCancelledError,
    StatementTooComplexError,
    UndefinedObjectError,
    ValueOutOfRangeError,
)


@dataclass(frozen=True, slots=True)
class _Translation:
    error: type[Error]
    sqlstate: str | None = None
    hint: str | None = None


_BY_NAME = {
    "InterruptException": _Translation(QueryCancelledError),
    "ConversionException": _Translation(InvalidValueError),
    "OutOfRangeException": _Translation(ValueOutOfRangeError),
    "InvalidTypeException": _Translation(ProgrammingError, "42804"),
    "TypeMismatchException": _Translation(ProgrammingError, "42804"),
    "BinderException": _Translation(ProgrammingError, "42804"),
    "CatalogException": _Translation(ProgrammingError, "42883"),
    "PermissionException": _Translation(ProgrammingError, "42501"),
    "NotImplementedException": _Translation(NotSupportedError),
    "OutOfMemoryException": _Translation(
        OperationalError,
        "53200",
        "allow more: connect(memory_limit=...), --set memory_limit=..; or ask for less at once",
    ),
    "IOException": _Translation(DiskError),
    "InvalidInputException": _Translation(DataError),
    "RecursionError": _Translation(StatementTooComplexError),
    "MemoryError": _Translation(OperationalError, "53200"),
}
# They quote generated SQL.
_ABOUT_THE_TEXT = frozenset({"ParserException", "SyntaxException"})
_DEFECTS = frozenset({"InternalException", "FatalException"})
# Memory that the system did not give; what exceeds the limit is an OutOfMemoryException.
_ALLOCATION = re.compile(r"allocation failure|bad_?alloc|failed to allocate", re.IGNORECASE)
_LONG_TEXT = 4_000  # of an error; a longer one quotes a value
_QUOTED_END = 400
_PREFIX = re.compile(r"^([A-Z][A-Za-z ]*) Error: ")
_TOO_DEEP = re.compile(r"expression depth|too deep|stack", re.IGNORECASE)
_GROUPING = re.compile(r"GROUP BY clause|aggregates?\b", re.IGNORECASE)
_ADVICE = re.compile(
    r"\.? (You might need to add|In order to select one, please add) explicit type casts\.$"
)
_CAST = "CAST what has another type: CAST(x AS INT), CAST(x AS STRING)"
_INTERVAL = "write t - INTERVAL 5 MINUTES, or t + INTERVAL 1 DAY"
_HINTS: Mapping[str, str] = {
    "must appear in the GROUP BY clause": (
        "add it to GROUP BY, or take any_value(), min() or max() of it"
    ),
    "WHERE clause cannot contain aggregates": "conditions on aggregates stand in HAVING",
    "WHERE clause cannot contain window functions": "conditions on windows stand in QUALIFY",
    "window functions are not supported here": (
        "a window function needs OVER (..), and stands in the SELECT list, ORDER BY or QUALIFY"
    ),
    "TIMESTAMP + INT": "write ts + INTERVAL 1 DAY",
    "TIMESTAMP - INT": "write ts - INTERVAL 1 DAY",
    "STRING + STRING": "texts are joined by ||: 'a' || 'b'",
    "TIMESTAMP + STRING": _INTERVAL,
    "TIMESTAMP - STRING": _INTERVAL,
    "DATE + STRING": _INTERVAL,
    "DATE - STRING": _INTERVAL,
    "no function matches": _CAST,
    "no operator matches": _CAST,
    "an explicit cast is required": _CAST,
    " cannot be cast to ": _CAST,
    "a list is expected": "write [1, 2], a list as a parameter, or a subquery",
}
_TRY_CAST = "TRY_CAST gives NULL for a value that its type does not take"
_FORMS_OF_TIMES: Mapping[str, str] = {
    "DATE": "'2026-01-31'", "TIME": "'12:30:00'", "TIMESTAMP": "'2026-01-31 12:30:00'",
}  # fmt: skip
_BEYOND_DECIMAL = re.compile(
    r"""^(?:could not cast value|casting value) "?([-\d.]+|-?(?:inf|nan))"? to (?:type )?"""
    r"(DECIMAL\(\d+,\d+\))"
)
_LONGEST_NUMBER = 60  # a longer one is written as a power of ten
_BEYOND_TYPE = re.compile(
    r"type \S+ with value (\S+) can't be cast because the value is out of range for the "
    r"destination type (.+?)(?: \(column .*)?"
)
_NUMBER_TEXT = re.compile(
    r"""could not convert string (['"])(\s*[+-]?(?:inf(?:inity)?|nan|0[xb][\da-f_]+|"""
    r"""(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:e[+-]?\d+)?)\s*)\1 to """
    r"(U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)).*",
    re.IGNORECASE,
)
_NO_TIME_TEXT = re.compile(
    r"(invalid )?(date|timestamp|time) field (?:format|value out of range): \"(.*?)\""
    r"(, expected format is .*?)?( \(column .*)?",
    re.DOTALL,
)
_NO_TIME = re.compile(r"""could not parse string "(.*)" according to format specifier""", re.DOTALL)
_NO_UNIT = re.compile(r"""extract specifier "(.*)" not recognized""", re.DOTALL)
_NO_ZONE = re.compile(r"unknown TimeZone '(.*)'", re.DOTALL)
_NO_DIRECTIVE = re.compile(r"failed to parse format specifier .*: (%\S+)$", re.DOTALL)
_NO_POSITION = re.compile(r"(ORDER|GROUP BY) term out of range - should be between 1 and (\d+)")
_BEYOND_TIME = re.compile(
    r"(?:date|timestamp) (?:field value )?out of range: |time field value out of range: \"\s*\d+:\d"
    r"|(?:date|time|timestamp|timezone|interval|epoch seconds|ICU date|AGO interval"
    r"|unable to get calendar time)\b(?! field).* ?\b(?:out of|overflows|not in)\b.* range\b"
    r"|could not convert timestamp",
    re.IGNORECASE,
)
# Rules on windows, broken ones of which the engine's parser or binder reports.
_NO_WINDOW = re.compile(r'window "(.*)" does not exist', re.DOTALL)
_WINDOWS = re.compile(
    r"(?:at least one )?window functions? |.* clause cannot contain window functions"
    r'|window ".*" is already defined|frame (?:start|end)|RANGE frames must'
    r'|cannot (?:copy|override) .*\bwindow "',
    re.IGNORECASE,
)
# What RE2 says, and where in the expression.
_NO_EXPRESSION = re.compile(
    r"(missing \)|missing \]|unexpected \)|no argument for repetition operator"
    r"|bad repetition operator|invalid escape sequence|invalid perl operator"
    r"|invalid character class(?: range)?|invalid repetition size|invalid named capture group"
    r"|trailing \\|pattern too large)(?:: .*|)",
    re.DOTALL,
)
_FEWER_DIGITS = (
    "numbers that meet in an expression get one type of 38 digits: CAST one to fewer digits behind "
    "the point, as CAST(x AS DECIMAL(38,20)), or to DOUBLE"
)
_ARGUMENT_CAST = re.compile(r"failed to cast value: (.+)", re.DOTALL)
_FAILED_CAST = re.compile(r"^could not convert string | does not fit into [A-Z]|' is no JSON: ")
_TOO_MUCH_TEXT = "arrow appender: "
_SEVERAL_ROWS = "more than one row returned by a subquery"


def is_fatal(error: Exception) -> bool:
    """Whether an error may have left the engine in a state in which it refuses all statements."""
    return not _DEFECTS.isdisjoint(_class_names(error))


def translate(error: Exception) -> Error:
    """The error to raise for one that came out of the engine.

    `error`: anything the engine raised; an error of ours stays what it is. The text of one that
    quotes a large value is shortened in it, so that no cause of an error holds the value.
    """
    if isinstance(error, Error):
        return error
    translated = _translated(error)
    if translated.hint is None and _FAILED_CAST.search(translated.message):
        translated.hint = _TRY_CAST
    return translated


def _translated(error: Exception) -> Error:
    if isinstance(error, UnicodeDecodeError):
        error = _as_written(error)
    _shorten(error)
    limit = limit_error(str(error))
    if limit is not None:
        return limit
    message = _message(error)
    if is_fatal(error):
        if _ALLOCATION.search(str(error)):
            lacking = _BY_NAME["OutOfMemoryException"]
            return OperationalError(
                "there is not enough memory for this", hint=lacking.hint, sqlstate=lacking.sqlstate
            )
        return InternalError(
            "the engine failed at this statement, which is a defect", hint="please report it"
        )
    if message.lower().startswith(_TOO_MUCH_TEXT):
        return OperationalError(
            "a batch of the result would have more than 2 GiB of texts",
            hint="ask for fewer rows at once, or for shorter values",
            sqlstate="53200",
        )
    if message.startswith(_SEVERAL_ROWS):
        return DataError("a subquery used as a value returned more than one row", sqlstate="21000")
    beyond = _BEYOND_DECIMAL.match(message)
    if beyond is not None:
        number, kind = beyond.groups()
        hint = _FEWER_DIGITS if kind.startswith("DECIMAL(38,") else None
        written = number if len(number) <= _LONGEST_NUMBER else f"{float(number):g}"
        return ValueOutOfRangeError(f"{written} does not fit into {kind}", hint=hint)
    value_error = _about_a_value(message)
    if value_error is not None:
        return value_error
    if match := _NO_WINDOW.match(message):
        return UndefinedObjectError(
            f"there is no window '{match[1]:.80}'", hint=f"define it: WINDOW {match[1]:.80} AS (..)"
        )
    if _WINDOWS.match(message):
        return ProgrammingError(message, hint=_hint(message), sqlstate="42P20")
    if _TOO_DEEP.search(message):
        return StatementTooComplexError("the statement is nested too deeply")
    if any(name in _ABOUT_THE_TEXT for name in _class_names(error)):
        return ProgrammingError(
            "a part of the statement is no SQL of this dialect", sqlstate="42601"
        )
    for name in _class_names(error):
        translation = _BY_NAME.get(name)
        if (
            translation is not None
            and translation.sqlstate == "42804"
            and _GROUPING.search(message)
        ):
            return ProgrammingError(message, hint=_hint(message), sqlstate="42803")
        if translation is not None:
            hint = translation.hint or _hint(message)
            return translation.error(message, hint=hint, sqlstate=translation.sqlstate)
    if isinstance(error, TypeError | ValueError):
        return InterfaceError(f"a parameter cannot be passed on: {message}", sqlstate="07006")
    # Classes that Python has no counterpart for: rules on values, such as those of list_reduce.
    return DataError(message) if type(error).__name__ == "Error" else DatabaseError(message)


def _as_written(error: UnicodeDecodeError) -> Exception:
    """The error whose message the engine cut within a letter, as those that come through Arrow."""
    message = error.object.decode(errors="ignore")
    return OSError(message) if _PREFIX.match(message) else error


def _shorten(error: Exception) -> None:
    """Leave the two ends of a long text, without the generated SQL that it closes with."""
    text = str(error)
    if len(text) > _LONG_TEXT:
        message = text[: text.rfind("\n\nLINE ")] if "\n\nLINE " in text else text
        error.args = (f"{message[:_QUOTED_END]}…{message[-_QUOTED_END:]}",)


def _about_a_value(message: str) -> Error | None:
    """The error of a message about one value, for which the engine's class is too general."""
    if match := _ARGUMENT_CAST.fullmatch(message):
        reason = _uncapitalized(match[1])
        return _about_a_value(reason) or InvalidValueError(reason)
    if match := _BEYOND_TYPE.fullmatch(message):
        return ValueOutOfRangeError(f"{match[1].removesuffix('.0')} does not fit into {match[2]}")
    if match := _NUMBER_TEXT.fullmatch(message):
        return ValueOutOfRangeError(f"'{match[2]:.60}' does not fit into {match[3]}")
    if match := _NO_TIME_TEXT.fullmatch(message):
        malformed, kind, text, form, column = match.groups()
        is_malformed = malformed is not None or form is not None
        error_class = InvalidValueError if is_malformed else ValueOutOfRangeError
        return error_class(
            f"'{text:.60}' is no {kind.upper()}{column or ''}",
            hint=f"it is written {_FORMS_OF_TIMES[kind.upper()]}; {_TRY_CAST}",
            sqlstate="22018" if is_malformed else "22008",
        )
    if match := _NO_TIME.match(message):
        return InvalidValueError(
            f"'{match[1]:.60}' is not written as the pattern of time says", sqlstate="22007"
        )
    if match := _NO_DIRECTIVE.match(message):
        return InvalidValueError(
            f"'{match[1]}' in a pattern of time means nothing", sqlstate="22023"
        )
    if match := _NO_ZONE.match(message):
        return InvalidValueError(f"'{match[1]:.60}' is no time zone", sqlstate="22023")
    if match := _NO_UNIT.match(message):
        unit = f"'{match[1]:.60}' is no unit of time"
        return InvalidValueError(
            unit if match[1] else "a number of an interval has no unit of time", sqlstate="22023"
        )
    if message.startswith("LIMIT/OFFSET cannot be negative"):
        return DataError("LIMIT or OFFSET is negative", sqlstate="2201W")
    if match := _NO_POSITION.match(message):
        reason = f"a number in {match[1]} is not in the SELECT list, which has 1 to {match[2]}"
        return ProgrammingError(reason, sqlstate="42P10")
    if _BEYOND_TIME.match(message):
        return ValueOutOfRangeError(message, sqlstate="22008")
    if message.startswith("invalid escape string"):
        reason = "what escapes the characters of a pattern is more than one character"
        return InvalidValueError(reason, sqlstate="22019")
    if "pattern must not end with escape" in message:
        reason = "a pattern ends with what escapes a character"
        return InvalidValueError(reason, sqlstate="22025")
    if _NO_EXPRESSION.fullmatch(message):
        return InvalidValueError(f"a regular expression is wrong: {message:.90}", sqlstate="2201B")
    return None


def _class_names(error: Exception) -> Iterator[str]:
    """The engine's names for an error, the most exact one first."""
    prefix = _PREFIX.match(str(error))
    if isinstance(error, OSError) and prefix is not None:
        # What ends a stream half-way comes through Arrow, which keeps only the text.
        yield prefix[1].title().replace(" ", "").replace("Io", "IO") + "Exception"
    yield from (kind.__name__ for kind in type(error).__mro__)


def _hint(message: str) -> str | None:
    return next((hint for part, hint in _HINTS.items() if part in message), None)


def _message(error: Exception) -> str:
    if "InterruptException" in _class_names(error):
        return "the statement was interrupted"
    lines = str(error).strip().splitlines() or [type(error).__name__]
    text = _ADVICE.sub("", _PREFIX.sub("", lines[0]))
    return translate_message(_uncapitalized(text))


def _uncapitalized(text: str) -> str:
    return text[:1].lower() + text[1:] if text[:2].istitle() else text
