"""SQLite's date(), time(), datetime(), julianday(), unixepoch() and strftime('%Y', x).

Their modifiers (`'+1 month'`, `'start of year'`, `'weekday 0'`, `'unixepoch'`) are texts that are
read while planning. A month added overflows as SQLite's does: January 31st and a month is March
2nd or 3rd. All times are UTC, so `'localtime'` and `'utc'` change nothing.
"""

import re
from collections.abc import Sequence

from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.errors import InvalidValueError

_SHIFT = re.compile(r"([+-]?\d+(?:\.\d+)?) (second|minute|hour|day|month|year)s?")
_START = re.compile(r"start of (year|month|day)")
_WEEKDAY = re.compile(r"weekday ([0-6])")
_ONLY_CLOCK = re.compile(r"\d\d:\d\d(:\d\d(\.\d+)?)?")
_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}
_MONTHS = {"month": 1, "year": 12}
_NO_CHANGE = frozenset({"localtime", "utc", "subsec", "subsecond", "auto", "ceiling"})
_FORMATS = {
    "date_of": "CAST({0} AS DATE)",
    "time_of": "CAST(date_trunc('second', {0}) AS TIME)",
    "datetime_of": "CAST(date_trunc('second', {0}) AS TIMESTAMP)",
    "julianday": "epoch({0}) / 86400e0 + 2440587.5e0",
    "unixepoch": "CAST(floor(epoch({0})) AS BIGINT)",
}
_NUMBERS = {
    "%s": "CAST(CAST(floor(epoch({0})) AS BIGINT) AS TEXT)",
    "%J": "CAST(epoch({0}) / 86400e0 + 2440587.5e0 AS TEXT)",
}
SQLITE_DATETIME_FUNCTIONS = frozenset({*_FORMATS, "strftime_of"})


def sqlite_datetime_call(name: str, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """What a call means to the engine.

    Args:
        name: one of `SQLITE_DATETIME_FUNCTIONS`.
        arguments: a time and modifiers; of `strftime_of` a pattern before them.

    Raises InvalidValueError: a modifier is unknown, or no constant text.
    """
    if name != "strftime_of":
        return _tree(_FORMATS[name], _moment(arguments))
    pattern, *rest = arguments
    moment = _moment(rest)
    if pattern.name in _NUMBERS:
        return _tree(_NUMBERS[pattern.name], moment)
    return exp.Anonymous(this="strftime", expressions=[moment, pattern.copy()])


def _tree(template: str, moment: exp.Expr) -> exp.Expr:
    tree: exp.Expr = parse(f"SELECT ({template.format('_moment')})").expressions[0]
    for column in nodes_of(tree, exp.Column):
        column.replace(moment.copy())
    return tree


def _moment(arguments: Sequence[exp.Expr]) -> exp.Expr:
    """The time with its modifiers done."""
    if not arguments:
        raise InvalidValueError("a time is missing", hint="such as 'now'", sqlstate="22023")
    operand, *modifiers = arguments
    texts = [_modifier(modifier) for modifier in modifiers]
    if "unixepoch" in texts:
        seconds = exp.Mul(
            this=exp.cast(operand, exp.DType.DOUBLE), expression=exp.Literal.number("1e6")
        )
        moment: exp.Expr = exp.Anonymous(
            this="make_timestamp", expressions=[exp.cast(seconds, exp.DType.BIGINT)]
        )
    else:
        moment = exp.cast(_with_day(operand), exp.DType.TIMESTAMP)
    for text in texts:
        moment = _changed(moment, text)
    return moment


def _with_day(operand: exp.Expr) -> exp.Expr:
    """A time; one written as `'12:30'` is of the day 2000-01-01, as in SQLite."""
    if isinstance(operand, exp.Literal) and _ONLY_CLOCK.fullmatch(operand.name):
        return exp.Literal.string(f"2000-01-01 {operand.name}")
    return operand.copy()


def _modifier(node: exp.Expr) -> str:
    if not isinstance(node, exp.Literal) or not node.is_string:
        raise InvalidValueError(
            "a modifier of a time must be written as a text",
            hint="such as '+1 day', or add an interval: x + INTERVAL 1 DAY",
            sqlstate="22023",
        )
    return " ".join(str(node.this).lower().split())


def _changed(moment: exp.Expr, text: str) -> exp.Expr:
    if text == "unixepoch" or text in _NO_CHANGE:
        return moment
    if match := _START.fullmatch(text):
        return _tree(f"date_trunc('{match[1]}', _moment)", moment)
    if match := _WEEKDAY.fullmatch(text):
        return _tree(f"_moment + to_days(({match[1]} - dayofweek(_moment) + 7) % 7)", moment)
    match = _SHIFT.fullmatch(text)
    if match is None:
        raise InvalidValueError(
            f"'{text}' is no modifier of a time",
            hint="there are '+1 day' and the like, 'start of month', 'weekday 0' and 'unixepoch'",
            sqlstate="22023",
        )
    number, unit = float(match[1]), match[2]
    if unit in _SECONDS:
        return _tree(f"_moment + to_microseconds({round(number * _SECONDS[unit] * 1e6)})", moment)
    months = round(number * _MONTHS[unit])
    first = "date_trunc('month', _moment)"
    return _tree(f"{first} + to_months({months}) + (_moment - {first})", moment)
