"""Parts of times taken from texts: `year(x)` of a text reads it as a TIMESTAMP, as Impala does.

The engine has these functions for times alone, and reads literals by itself.
"""

from collections.abc import Iterable

from sqlglot import exp

from pykudu_sql.planner.types.engine_types import VARCHAR
from pykudu_sql.planner.types.expression_types import ExpressionTypes

_PARTS = (
    exp.Year, exp.Quarter, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfWeek, exp.DayOfWeekIso,
    exp.DayOfYear, exp.WeekOfYear, exp.Week, exp.Hour, exp.Minute, exp.Second, exp.Dayname,
    exp.Monthname, exp.LastDay, exp.TimestampTrunc, exp.DateTrunc,
)  # fmt: skip
_NAMED = frozenset({"date_part", "datepart"})
OF_MOMENTS = (*_PARTS, exp.Extract, exp.Anonymous)


def read_texts_as_moments(nodes: Iterable[exp.Expr], types: ExpressionTypes) -> bool:
    """Cast the texts whose years, days and the like are asked for; whether a node changed.

    `nodes`: those of `OF_MOMENTS` in a bound query's tree, which is changed in place.
    """
    is_changed = False
    for node in nodes:
        moment = _moment(node)
        if moment is None or isinstance(moment, exp.Literal) or types.name(moment) != VARCHAR:
            continue
        cast = exp.Cast(this=moment.copy(), to=exp.DataType(this=exp.DType.TIMESTAMP))
        moment.replace(cast)
        is_changed = True
    return is_changed


def _moment(node: exp.Expr) -> exp.Expr | None:
    """The time of which a call takes a part."""
    moment: object = None
    if isinstance(node, exp.Extract):
        moment = node.expression
    elif isinstance(node, exp.Anonymous):
        if node.name.lower() in _NAMED and len(node.expressions) == 2:
            moment = node.expressions[1]
    else:
        moment = node.this
    return moment if isinstance(moment, exp.Expr) else None
