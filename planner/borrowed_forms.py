"""What borrowed functions need beyond a template: patterns and units of time, pairs of values.

Patterns are those of Impala (Java's SimpleDateFormat), which become the engine's (C's strftime).
They and units must be written as constants, since they are translated while planning.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sqlglot import exp

from pykudu_sql.storage.errors import InvalidValueError

_PIECE = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|.", re.DOTALL)
_DIRECTIVES: Mapping[str, str] = MappingProxyType(
    {
        "yyyy": "%Y", "yyy": "%Y", "yy": "%y", "y": "%Y", "MMMM": "%B", "MMM": "%b", "MM": "%m",
        "M": "%-m", "dd": "%d", "d": "%-d", "DDD": "%j", "D": "%-j", "HH": "%H", "H": "%-H",
        "hh": "%I", "h": "%-I", "mm": "%M", "m": "%-M", "ss": "%S", "s": "%-S", "SSS": "%g",
        "SSSSSS": "%f", "SSSSSSSSS": "%n", "a": "%p", "EEEE": "%A", "EEE": "%a", "E": "%a",
    }
)  # fmt: skip
_UNITS: Mapping[str, str] = MappingProxyType(
    {
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
)


def strftime_pattern(argument: exp.Expr) -> exp.Expr:
    """A pattern such as `'yyyy-MM-dd'` as one of strftime's.

    Raises:
        InvalidValueError: it is no constant text, or has a letter that no part of a time has.
    """
    pieces = []
    for found in _PIECE.finditer(_constant_text(argument, "pattern of time", "'yyyy-MM-dd'")):
        text = found.group()
        if found.group(1) is not None:
            pieces.append((found.group(1).replace("''", "'") or "'").replace("%", "%%"))
        elif found.group(2) is None:
            pieces.append(text.replace("%", "%%"))
        elif text in _DIRECTIVES:
            pieces.append(_DIRECTIVES[text])
        else:
            raise InvalidValueError(
                f"'{text}' in a pattern of time stands for nothing",
                hint=f"there are {', '.join(_DIRECTIVES)}; other letters stand in quotes",
                sqlstate="22023",
            )
    return exp.Literal.string("".join(pieces))


def truncated(arguments: Sequence[exp.Expr]) -> exp.Expr:
    """`trunc(time, 'MM')`: the time cut to a unit; D is the Monday of its week.

    Raises:
        InvalidValueError: there is no such unit.
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
    cut = exp.func("datetrunc", exp.Literal.string(unit), exp.cast(moment.copy(), "timestamp"))
    return exp.cast(cut, "timestamp")


def decoded(arguments: Sequence[exp.Expr]) -> exp.Expr:
    """`decode(x, a, b, ..., default)`: b where x is a, NULL being equal to NULL."""
    given, *rest = arguments
    pairs = zip(rest[::2], rest[1::2], strict=False)
    default = rest[-1].copy() if len(rest) % 2 else exp.null()
    cases = [
        exp.If(this=exp.NullSafeEQ(this=given.copy(), expression=key.copy()), true=value.copy())
        for key, value in pairs
    ]
    return exp.Case(ifs=cases, default=default)


def _constant_text(argument: exp.Expr, what: str, example: str) -> str:
    if not isinstance(argument, exp.Literal) or not argument.is_string:
        raise InvalidValueError(
            f"a {what} must be written as a text", hint=f"such as {example}", sqlstate="22023"
        )
    return str(argument.this)
