"""Compatibility functions that no template expresses: patterns and units of time, value pairs.

Patterns are those of Impala (Java's SimpleDateFormat) and the standard's (`YYYY-MM-DD HH24:MI`),
which become the engine's (C's strftime).
They and units must be written as constants, since they are translated while planning.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.vocabulary.time_units import ENGINE_UNITS
from pykudu_sql.storage.errors import InvalidValueError

_NO_LISTS = (exp.Predicate, exp.Connector, exp.Not, exp.Literal)
_PIECE = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|.", re.DOTALL)
_DIRECTIVES: Mapping[str, str] = {
        "yyyy": "%Y", "yyy": "%Y", "yy": "%y", "y": "%Y", "MMMM": "%B", "MMM": "%b", "MM": "%m",
        "M": "%-m", "dd": "%d", "d": "%-d", "DDD": "%j", "D": "%-j", "HH": "%H", "H": "%-H",
        "hh": "%I", "h": "%-I", "mm": "%M", "m": "%-M", "ss": "%S", "s": "%-S", "SSS": "%g",
        "SSSSSS": "%f", "SSSSSSSSS": "%n", "a": "%p", "EEEE": "%A", "EEE": "%a", "E": "%a",
    }  # fmt: skip
_LETTERS: Mapping[str, str] = {
        "YYYY": "%Y", "YY": "%y", "MONTH": "%B", "MON": "%b", "MM": "%m", "DDD": "%j", "DD": "%d",
        "DAY": "%A", "DY": "%a", "HH24": "%H", "HH12": "%I", "HH": "%I", "MI": "%M", "SS": "%S",
        "MS": "%g", "US": "%f", "FF3": "%g", "FF6": "%f", "FF": "%f", "AM": "%p", "PM": "%p",
    }  # fmt: skip
_LETTER = re.compile(rf'"([^"]*)"|({"|".join(_LETTERS)})|([A-Za-z]+)|.', re.DOTALL | re.IGNORECASE)
_IS_LETTERS = re.compile("YY|HH24|HH12|MI")
_UNITS: Mapping[str, str] = {
    name: unit
    for unit, names in {
        "year": "SYYYY YYYY YEAR SYEAR YYY YY Y",
        "quarter": "Q QUARTER",
        "month": "MONTH MON MM RM",
        "week": "DAY DY D WEEK",
        "day": "DDD DD J",
        "hour": "HH HH12 HH24 HOUR",
        "minute": "MI MINUTE",
        "second": "SS SECOND",
    }.items()
    for name in names.split()
}

# The engine's functions for encode and for decode, the inner one first.
_FORMATS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "hex": (("hex", "lower"), ("unhex",)),
    "base64": (("to_base64",), ("from_base64",)),
    "utf-8": (("encode",), ("decode",)),
    "utf8": (("encode",), ("decode",)),
}
_ADDED = (
    "microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter",
    "year",
)  # fmt: skip
# T-SQL's, where they are not those of intervals too.
_ABBREVIATIONS: Mapping[str, str] = {
    "YY": "YEAR", "YYYY": "YEAR", "QQ": "QUARTER", "MM": "MONTH", "DD": "DAY", "WK": "WEEK",
    "WW": "WEEK", "HH": "HOUR", "MI": "MINUTE", "N": "MINUTE", "SS": "SECOND", "MCS": "MICROSECOND",
}  # fmt: skip


def strftime_pattern(argument: exp.Expr) -> exp.Expr:
    """A pattern such as `'yyyy-MM-dd'` as one of strftime's; also `'YYYY-MM-DD'`.

    Raises InvalidValueError: it is no constant text, or has a letter that no part of a time has.
    """
    pieces = []
    written = _constant_text(argument, "pattern of time", "'yyyy-MM-dd'")
    if _IS_LETTERS.search(written):
        return letters_pattern(argument)
    for match in _PIECE.finditer(written):
        text = match.group()
        if match.group(1) is not None:
            pieces.append((match.group(1).replace("''", "'") or "'").replace("%", "%%"))
        elif match.group(2) is None:
            pieces.append(text.replace("%", "%%"))
        elif text in _DIRECTIVES:
            pieces.append(_DIRECTIVES[text])
        else:
            raise InvalidValueError(
                f"'{text}' in a pattern of time means nothing",
                hint=_percent_signs(written)
                or f"there are {', '.join(_DIRECTIVES)}; other letters stand in quotes",
                sqlstate="22023",
                span=node_span(argument),
            )
    return exp.Literal.string("".join(pieces))


def _percent_signs(pattern: str) -> str | None:
    """A hint for a pattern such as `'%Y-%m'`."""
    return "strftime(t, '%Y-%m') takes patterns with %" if "%" in pattern else None


def letters_pattern(argument: exp.Expr) -> exp.Expr:
    """A pattern such as `'YYYY-MM-DD HH24:MI:SS'`, the standard's, as one of strftime's.

    Raises InvalidValueError: it is no constant text, or has a letter that no part of a time has.
    """
    pieces = []
    for match in _LETTER.finditer(_constant_text(argument, "pattern of time", "'YYYY-MM-DD'")):
        if match[3]:
            raise InvalidValueError(
                f"'{match[3]}' in a pattern of time means nothing",
                hint=_percent_signs(match.string)
                or f"there are {', '.join(_LETTERS)}; other letters stand in double quotes",
                sqlstate="22023",
                span=node_span(argument),
            )
        directive = _LETTERS.get(match.group().upper())
        quoted = match.group() if match[1] is None else match[1]
        pieces.append(directive or quoted.replace("%", "%%"))
    return exp.Literal.string("".join(pieces))


def units_later(arguments: Sequence[exp.Expr]) -> exp.Expr:
    """`timestampadd(DAY, n, time)`: so many units later.

    Raises InvalidValueError: there is no such unit.
    """
    unit, count, moment = arguments
    word = _constant_text(unit, "unit", "DAY").upper()
    name = ENGINE_UNITS.get(_ABBREVIATIONS.get(word, word), word).lower().removesuffix("s")
    if name not in _ADDED:
        raise InvalidValueError(
            f"'{name}' is no unit of time",
            hint=f"there are {', '.join(_ADDED)}",
            sqlstate="22023",
            span=node_span(unit),
        )
    interval = exp.Anonymous(this=f"to_{name}s", expressions=[count.copy()])
    return exp.paren(exp.Add(this=exp.cast(moment, exp.DType.TIMESTAMP), expression=interval))


def check_unread(name: str, arguments: Sequence[exp.Expr], read: Collection[int]) -> None:
    """Refuse what a call's meaning would leave out, unless it is a number that only advises.

    `read`: the arguments that the meaning has, counted from 1. Raises InvalidValueError: another
    one is more than a number.
    """
    for i, argument in enumerate(arguments, 1):
        if i not in read and not argument.is_number:
            raise InvalidValueError(
                f"argument {i} of {name}() must be written as a number",
                hint="it advises how to compute and changes no result",
                sqlstate="22023",
            )


def named(name: str, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """A call that the engine gets with all its arguments, where the parser's node has no room."""
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def zipped(name: str, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """`list_zip(a, b, true)`: pairs up to the end of the shorter list, not of the longer one.

    Raises InvalidValueError: the last argument is no list, and neither TRUE nor FALSE.
    """
    *lists, shortest = arguments or (exp.null(),)
    if isinstance(shortest.unnest(), _NO_LISTS):
        raise InvalidValueError(
            f"the last argument of {name}() is neither a list nor written TRUE or FALSE",
            hint=f"CASE WHEN x THEN {name}(a, b, true) ELSE {name}(a, b) END",
            sqlstate="22023",
        )
    if not isinstance(shortest, exp.Boolean):
        return named(name, arguments)
    whole = named(name, lists)
    if not shortest.this:
        return whole
    sizes = [exp.func("coalesce", exp.func("length", each.copy()), "0") for each in lists]
    least = exp.Anonymous(this="least", expressions=sizes)
    return exp.Anonymous(this="list_slice", expressions=[whole, exp.Literal.number(1), least])


def texts_of_codes(arguments: Sequence[exp.Expr]) -> exp.Expr:
    """`char(65, 66)`: the characters of several codes as one text."""
    texts = [exp.Anonymous(this="chr", expressions=[code.copy()]) for code in arguments]
    return exp.Anonymous(this="concat", expressions=texts)


def extreme_of(name: str, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """SQLite's max() and min() of several values, which are NULL if one of these is.

    `name`: the engine's function, which passes over NULLs; `arguments`: the values.
    """
    unknown = [exp.Is(this=exp.paren(each.copy()), expression=exp.null()) for each in arguments]
    extreme = exp.Anonymous(this=name, expressions=[each.copy() for each in arguments])
    return exp.Case(ifs=[exp.If(this=exp.or_(*unknown), true=exp.null())], default=extreme)


def truncated(arguments: Sequence[exp.Expr]) -> exp.Expr:
    """`trunc(time, 'MM')`: the time cut to a unit; D is the Monday of its week.

    Raises InvalidValueError: there is no such unit.
    """
    moment, written = arguments
    text = _constant_text(written, "unit", "'MM'")
    unit = _UNITS.get(text.upper())
    if unit is None:
        raise InvalidValueError(
            f"trunc() does not cut times to '{text}'",
            hint=f"there are {', '.join(_UNITS)}",
            sqlstate="22023",
        )
    truncated = exp.func(
        "datetrunc", exp.Literal.string(unit), exp.cast(moment, exp.DType.TIMESTAMP)
    )
    return exp.cast(truncated, exp.DType.TIMESTAMP)


def decoded(arguments: Sequence[exp.Expr]) -> exp.Expr:
    """`decode(x, a, b, ..., default)`: b where x is a, NULL being equal to NULL."""
    operand, *rest = arguments
    pairs = zip(rest[::2], rest[1::2], strict=False)
    default = rest[-1].copy() if len(rest) % 2 else exp.null()
    cases = [
        exp.If(this=exp.NullSafeEQ(this=operand.copy(), expression=key.copy()), true=value.copy())
        for key, value in pairs
    ]
    return exp.Case(ifs=cases, default=default)


def in_format(word: str, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """PostgreSQL's `encode(bytes, 'hex')` and `decode(text, 'base64')`; of UTF-8 Spark's.

    `word`: encode or decode; `arguments`: what is turned, and the format. Raises InvalidValueError:
    there is no such format.
    """
    value, written = arguments
    name = _constant_text(written, "format", "'hex'").lower()
    functions = _FORMATS.get(name)
    if functions is None:
        raise InvalidValueError(
            f"{word}() knows no format '{name}'",
            hint=f"there are {', '.join(_FORMATS)}",
            sqlstate="22023",
            span=node_span(written),
        )
    for function in functions[word == "decode"]:
        value = exp.Anonymous(this=function, expressions=[value.copy()])
    return value


def _constant_text(argument: exp.Expr, what: str, example: str) -> str:
    if not isinstance(argument, exp.Literal) or not argument.is_string:
        raise InvalidValueError(
            f"a {what} must be written as a text", hint=f"such as {example}", sqlstate="22023"
        )
    return str(argument.this)
