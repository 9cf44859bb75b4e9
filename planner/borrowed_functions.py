"""Functions of Impala and SQLite that the engine lacks, as expressions that it has.

A function is borrowed by a template: SQL in which `_1`, `_2`, ... stand for its arguments. That
keeps what these names mean in one place and needs nothing of the engine but its own functions.
Arguments keep the nodes they are, so columns stay bound and parameters stay parameters.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from sqlglot import exp

from pykudu_sql.planner.dialect import parse

_UNITS = (
    "years",
    "months",
    "weeks",
    "days",
    "hours",
    "minutes",
    "seconds",
    "milliseconds",
    "microseconds",
)
_SHIFTED = "CAST(_1 AS TIMESTAMP) {sign} to_{unit}(_2)"
_TIMES = {
    (f"{unit}_{word}", 2): _SHIFTED.format(sign=sign, unit=unit)
    for unit in _UNITS
    for word, sign in (("add", "+"), ("sub", "-"))
}
_DAYS = {
    (name, 2): _SHIFTED.format(sign=sign, unit="days")
    for name, sign in (("adddate", "+"), ("subdate", "-"), ("date_sub", "-"))
}

# By name and number of arguments.
TEMPLATES: Mapping[tuple[str, int], str] = MappingProxyType(
    {
        **_TIMES,
        **_DAYS,
        ("days_between", 2): "CAST(_1 AS DATE) - CAST(_2 AS DATE)",
        ("from_unixtime", 1): "CAST(make_timestamp(CAST(_1 AS BIGINT) * 1000000) AS TEXT)",
        ("to_date", 1): "CAST(CAST(_1 AS TIMESTAMP) AS DATE)",
        ("unix_timestamp", 1): "CAST(floor(epoch(CAST(_1 AS TIMESTAMP))) AS BIGINT)",
        ("isnull", 2): "coalesce(_1, _2)",
        ("nullifzero", 1): "nullif(_1, 0)",
        ("zeroifnull", 1): "coalesce(_1, 0)",
        ("bitand", 2): "_1 & _2",
        ("bitor", 2): "_1 | _2",
        ("bitnot", 1): "~_1",
        ("bitxor", 2): "xor(_1, _2)",
        ("shiftleft", 2): "_1 << _2",
        ("shiftright", 2): "_1 >> _2",
        ("dceil", 1): "ceil(_1)",
        ("dfloor", 1): "floor(_1)",
        ("dround", 1): "round(_1)",
        ("dround", 2): "round(_1, _2)",
        ("dtrunc", 1): "trunc(_1)",
        ("pmod", 2): "((_1 % _2) + _2) % _2",
        ("quotient", 2): "CAST(_1 AS BIGINT) // CAST(_2 AS BIGINT)",
        ("base64encode", 1): "base64(encode(_1))",
        ("base64decode", 1): "decode(from_base64(_1))",
        ("btrim", 1): "trim(_1)",
        ("btrim", 2): "trim(_1, _2)",
        ("find_in_set", 2): "coalesce(list_position(string_split(_2, ','), _1), 0)",
        ("strleft", 2): "left(_1, _2)",
        ("strright", 2): "right(_1, _2)",
        ("appx_median", 1): "median(_1)",
        ("ndv", 1): "approx_count_distinct(_1)",
        ("total", 1): "coalesce(sum(CAST(_1 AS DOUBLE)), 0e0)",
    }
)
BORROWED = frozenset(name for name, _ in TEMPLATES)


def lend(node: exp.Expr) -> exp.Expr:
    """What a call of a borrowed function means to the engine; any other node as it is.

    A name called with a number of arguments that has no template stays, and the engine says so.
    """
    if not isinstance(node, exp.Anonymous):
        return node
    arguments = node.expressions
    text = TEMPLATES.get((node.name.lower(), len(arguments)))
    if text is None:
        return node
    if node.name.lower() == "date_sub" and isinstance(arguments[1], exp.Interval):
        return exp.paren(exp.Sub(this=arguments[0], expression=arguments[1]), copy=False)
    meaning = _parsed(text).copy()
    for place in list(meaning.find_all(exp.Column)):
        argument = arguments[int(place.name[1:]) - 1].copy()
        operator = isinstance(argument, exp.Binary | exp.Unary)
        place.replace(exp.Paren(this=argument) if operator else argument)
    return meaning


@cache
def _parsed(template: str) -> exp.Expr:
    """A template's tree, in parentheses so that it fits wherever the call stood."""
    tree: exp.Expr = parse(f"SELECT ({template})").expressions[0]
    return tree
