"""Parts of times taken from texts: `year(x)` of a text reads it as a TIMESTAMP, as Impala does.

The engine has these functions for times alone. A parameter there is read so where it is a text.
So is a date that is cut to hours or less: the engine takes `date_trunc('hour', d) = x` for false.
"""

from collections.abc import Iterable

from sqlglot import exp

from pykudu_sql.planner.functions.utc_offsets import in_utc
from pykudu_sql.planner.type_coercion.exact_decimals import MEETS
from pykudu_sql.planner.types.engine_types import NULL, VARCHAR
from pykudu_sql.planner.types.expression_types import ExpressionTypes
from pykudu_sql.planner.vocabulary.time_units import ENGINE_UNITS
from pykudu_sql.storage.common.types.types import DataType, Kind

_PARTS = (
    exp.TimeToUnix,
    exp.Year, exp.Quarter, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfWeek, exp.DayOfWeekIso,
    exp.DayOfYear, exp.WeekOfYear, exp.Week, exp.Hour, exp.Minute, exp.Second, exp.Dayname,
    exp.Monthname, exp.LastDay, exp.TimestampTrunc, exp.DateTrunc,
)  # fmt: skip
_DATE = "DATE"
_NAMED = frozenset({"date_part", "datepart"})
_OF_ONE = frozenset(
    {"century", "decade", "epoch", "era", "isoyear", "julian", "microsecond", "millennium"}
    | {"millisecond", "weekday", "yearweek"}
)
_CUTS = (exp.TimestampTrunc, exp.DateTrunc)
_OF_DAYS = frozenset(
    {"DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "DECADE", "CENTURY", "MILLENNIUM"}
    | {"DAYS", "WEEKS", "MONTHS", "QUARTERS", "YEARS", "DECADES", "CENTURIES", "MILLENNIA"}
)
OF_MOMENTS = (*_PARTS, exp.Extract, exp.Anonymous)


def read_texts_as_moments(nodes: Iterable[exp.Expr], types: ExpressionTypes) -> bool:
    """Cast texts, and dates cut to hours, whose parts are asked for; whether a node changed.

    `nodes`: those of `OF_MOMENTS` in a bound query's tree, which is changed in place.
    """
    is_changed = False
    for node in nodes:
        moment = _moment(node)
        if isinstance(moment, exp.Placeholder):
            moment.meta[MEETS] = DataType(Kind.UNIXTIME_MICROS)
        if moment is None:
            continue
        name = types.name(moment)
        if name not in (VARCHAR, NULL) and not (name == _DATE and _cuts_to_hours(node)):
            continue
        is_literal = isinstance(moment, exp.Literal) and moment.is_string
        text = exp.Literal.string(in_utc(moment.name)) if is_literal else moment.copy()
        moment.replace(exp.Cast(this=text, to=exp.DataType(this=exp.DType.TIMESTAMP)))
        is_changed = True
    return is_changed


def _cuts_to_hours(node: exp.Expr) -> bool:
    """Whether a call cuts times to hours or a smaller unit."""
    if not isinstance(node, _CUTS):
        return False
    unit = node.args["unit"].name.upper()
    return ENGINE_UNITS.get(unit, unit) not in _OF_DAYS


def _moment(node: exp.Expr) -> exp.Expr | None:
    """The time of which a call takes a part."""
    moment: object = None
    if isinstance(node, exp.Extract):
        moment = node.expression
    elif isinstance(node, exp.Anonymous):
        if node.name.lower() in _NAMED and len(node.expressions) == 2:
            moment = node.expressions[1]
        elif node.name.lower() in _OF_ONE and len(node.expressions) == 1:
            moment = node.expressions[0]
    else:
        moment = node.this
    return moment if isinstance(moment, exp.Expr) else None
