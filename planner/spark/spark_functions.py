"""Calls for Spark: the functions, aggregates and windows that can be made to answer alike.

What differs between the engines and is made equal here:

- SUM of whole numbers is a HUGEINT, so Spark sums decimals of 38 digits where 64 bits may not do;
- AVG of exact numbers is their exact sum over their count, as a DOUBLE, not a decimal;
- counts of characters, parts of days and numbers of rows are BIGINT, in Spark INT.

Left out on purpose: upper() and lower() (`ß` has other capitals there), reverse(), ceil(), floor(),
round() of DOUBLEs to digits, powers and logarithms (other last digits), ordered aggregates,
percentiles, approximations, and whatever takes any row of many.
"""

from collections.abc import Callable, Iterable, Mapping

from sqlglot import exp

from pykudu_sql.planner.spark.spark_exact import exact_form
from pykudu_sql.planner.spark.spark_expressions import Expressions, Handler
from pykudu_sql.planner.spark.spark_operators import or_null
from pykudu_sql.planner.spark.spark_scope import SparkScope, describe, only
from pykudu_sql.planner.spark.spark_types import NotOnSparkError, Typed, ValueType, cast

_PARTS = frozenset({"YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE"})
_DAY_PARTS = frozenset({"YEAR", "QUARTER", "MONTH", "DAY"})
_TRUNCATED_TO = _PARTS | {"WEEK", "SECOND"}


def _called(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _whole(node: exp.Expr | None, least: int) -> exp.Expr:
    """An argument that is written out as a number.

    Raises NotOnSparkError: it is not, or below what means the same to both engines.
    """
    if isinstance(node, exp.Literal) and node.name.isdigit() and int(node.name) >= least:
        return node.copy()
    raise NotOnSparkError("a position or length that is no plain number")


def _count(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "big_int")
    if isinstance(node.this, exp.Star):
        only(node.this)
        return Typed(exp.Count(this=exp.Star()), ValueType.BIGINT)
    counted, _ = _argument(expressions, node, scope)
    return Typed(exp.Count(this=counted), ValueType.BIGINT)


def _argument(
    expressions: Expressions, node: exp.Expr, scope: SparkScope
) -> tuple[exp.Expr, ValueType]:
    """What an aggregate gathers, perhaps DISTINCT."""
    argument = node.this
    if not isinstance(argument, exp.Distinct):
        typed = expressions.typed(argument, scope)
        return typed.node, typed.type
    only(argument, "expressions")
    if len(argument.expressions) != 1:
        raise NotOnSparkError(f"{describe(node)} of several columns")
    typed = expressions.typed(argument.expressions[0], scope)
    return exp.Distinct(expressions=[typed.node]), typed.type


def _sum(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this")
    argument, kind = _argument(expressions, node, scope)
    if kind in (ValueType.DECIMAL, ValueType.DOUBLE):
        return Typed(exp.Sum(this=argument), kind)
    return Typed(_exact_sum(node, argument, kind), ValueType.HUGEINT)


def _exact_sum(node: exp.Expr, argument: exp.Expr, kind: ValueType) -> exp.Expr:
    if not kind.is_integer:
        raise NotOnSparkError(f"{describe(node)} of {kind.name}")
    if kind >= ValueType.BIGINT:
        wide = exp.DataType.build(
            "DECIMAL(28, 0)" if kind is ValueType.BIGINT else "DECIMAL(38, 0)"
        )
        if isinstance(argument, exp.Distinct):
            argument.set("expressions", [exp.Cast(this=argument.expressions[0], to=wide)])
        else:
            argument = exp.Cast(this=argument, to=wide)
    return cast(exp.Sum(this=argument), ValueType.HUGEINT)


def _average(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this")
    argument, kind = _argument(expressions, node, scope)
    if kind is ValueType.DOUBLE:
        return Typed(exp.Avg(this=argument), kind)
    exact = (
        exp.Sum(this=argument.copy())
        if kind is ValueType.DECIMAL
        else _exact_sum(node, argument.copy(), kind)
    )
    total = cast(exact, ValueType.DOUBLE)
    mean = exp.Div(this=total, expression=or_null(exp.Count(this=argument)))
    return Typed(exp.Paren(this=mean), ValueType.DOUBLE)


def _extreme(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this")
    argument, kind = _argument(expressions, node, scope)
    if kind in (ValueType.INTERVAL, ValueType.NULL):
        raise NotOnSparkError(f"{describe(node)} of {kind.name}")
    return Typed(type(node)(this=argument), kind)


def _all_or_any(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this")
    return Typed(type(node)(this=expressions.condition(node.this, scope)), ValueType.BOOLEAN)


def _filter(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "expression")
    inner = expressions.typed(node.this, scope)
    filter_condition = expressions.condition(node.expression.this, scope)
    return Typed(
        _map_aggregates(
            inner.node,
            lambda call: exp.Filter(this=call, expression=exp.Where(this=filter_condition.copy())),
        ),
        inner.type,
    )


def _window(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "partition_by", "order", "spec", "over")
    inner = expressions.typed(node.this, scope)
    parts = [expressions.typed(part, scope).node for part in node.args.get("partition_by") or ()]
    ordering, frame = node.args.get("order"), node.args.get("spec")
    order = None if ordering is None else ordered(expressions, ordering, scope)
    if frame is not None:
        _check_frame(frame)

    def over(call: exp.Expr) -> exp.Expr:
        return exp.Window(
            this=call,
            partition_by=[part.copy() for part in parts],
            order=None if order is None else order.copy(),
            spec=None if frame is None else frame.copy(),
            over="OVER",
        )

    return Typed(_map_aggregates(inner.node, over), inner.type)


def ordered(expressions: Expressions, ordering: exp.Expr, scope: SparkScope) -> exp.Expr:
    """ORDER BY in Spark's SQL, the place of NULLs kept.

    Raises NotOnSparkError: something is not ordered alike.
    """
    items = []
    for item in ordering.expressions:
        only(item, "this", "desc", "nulls_first")
        key = item.copy()
        key.set("this", expressions.typed(item.this, scope).node)
        items.append(key)
    return exp.Order(expressions=items)


def _check_frame(frame: exp.Expr) -> None:
    only(frame, "kind", "start", "start_side", "end", "end_side")
    for end in (frame.args.get("start"), frame.args.get("end")):
        if isinstance(end, exp.Expr):
            _whole(end, 0)
            if frame.args.get("kind") != "ROWS":
                raise NotOnSparkError("a window over a RANGE of values")


def _map_aggregates(node: exp.Expr, wrap: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """An expression over aggregates, each of them wrapped: OVER and FILTER belong to calls."""
    if isinstance(node, exp.AggFunc | exp.RowNumber | exp.Filter):
        return wrap(node)
    for name, value in tuple(node.args.items()):
        if isinstance(value, exp.Expr):
            node.set(name, _map_aggregates(value, wrap))
        elif isinstance(value, list):
            node.set(
                name, [_map_aggregates(v, wrap) if isinstance(v, exp.Expr) else v for v in value]
            )
    return node


def _row_number(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node)
    return Typed(cast(type(node)(), ValueType.BIGINT), ValueType.BIGINT)


def _neighbour(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    """lag() and lead()."""
    only(node, "this", "offset", "default")
    offset, default = node.args.get("offset"), node.args.get("default")
    operands = [node.this] if default is None else [node.this, default]
    (argument, *rest), kind = expressions.together(operands, scope)
    parts = {"this": argument, "default": rest[0] if rest else None}
    steps = None if offset is None else _whole(offset, 0)
    return Typed(type(node)(**parts, offset=steps), kind)


def _edge(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    """first_value() and last_value()."""
    only(node, "this")
    argument = expressions.typed(node.this, scope)
    return Typed(type(node)(this=argument.node), argument.type)


def _alternatives(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    """coalesce(), greatest(), least()."""
    exact = exact_form(node)
    if exact is not None:
        return expressions.typed(exact, scope)
    only(node, "this", "expressions", "ignore_nulls")
    (first, *others), kind = expressions.together([node.this, *node.expressions], scope)
    name = describe(node).removesuffix("()").upper()
    return Typed(_called(name, first, *others), kind)


def _nullif(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "expression")
    first = expressions.typed(node.this, scope)
    (left, right), _ = expressions.together([node.this, node.expression], scope)
    return Typed(exp.Nullif(this=left, expression=right), first.type)


def _absolute(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this")
    argument = expressions.number(node.this, scope)
    return Typed(exp.Abs(this=argument.node), argument.type)


def _round(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "decimals")
    digits = node.args.get("decimals") or exp.Literal.number(0)
    argument = expressions.number(node.this, scope)
    if argument.type is not ValueType.DECIMAL:
        raise NotOnSparkError(f"round() of {argument.type.name}")
    return Typed(_called("ROUND", argument.node, _whole(digits, 0)), argument.type)


def _length(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this")
    text = expressions.text(node.this, scope).node
    return Typed(cast(_called("CHAR_LENGTH", text), ValueType.BIGINT), ValueType.BIGINT)


def _substring(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "start", "length")
    text, start = expressions.text(node.this, scope).node, _whole(node.args.get("start"), 1)
    length = node.args.get("length")
    parts = (text, start) if length is None else (text, start, _whole(length, 0))
    return Typed(_called("SUBSTRING", *parts), ValueType.TEXT)


def _end_of_text(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    """left() and right()."""
    only(node, "this", "expression")
    text = expressions.text(node.this, scope).node
    name = type(node).__name__.upper()
    return Typed(_called(name, text, _whole(node.expression, 0)), ValueType.TEXT)


def _trim(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this")
    return Typed(_called("TRIM", expressions.text(node.this, scope).node), ValueType.TEXT)


def _starts_with(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "expression")
    texts = [expressions.text(side, scope).node for side in (node.this, node.expression)]
    return Typed(_called("STARTSWITH", *texts), ValueType.BOOLEAN)


def _extract(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "expression")
    return _part(node.this.name.upper(), expressions.typed(node.expression, scope))


def _named_part(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    """year(), month(), day(), quarter()."""
    only(node, "this")
    return _part(type(node).__name__.upper(), expressions.typed(node.this, scope))


def _part(name: str, moment: Typed) -> Typed:
    parts = _PARTS if moment.type is ValueType.TIMESTAMP else _DAY_PARTS
    if not moment.type.is_moment or name not in parts:
        raise NotOnSparkError(f"the {name} of {moment.type.name}")
    part = exp.Extract(this=exp.Var(this=name), expression=moment.node)
    return Typed(cast(part, ValueType.BIGINT), ValueType.BIGINT)


def _truncated(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "unit")
    written, moment = node.args["unit"].name.upper(), expressions.typed(node.this, scope)
    unit = exp.TimeUnit.UNABBREVIATED_UNIT_NAME.get(written, written)
    if unit not in _TRUNCATED_TO or not moment.type.is_moment:
        raise NotOnSparkError(f"date_trunc() of {moment.type.name} to {unit}")
    timestamp = cast(moment.node, ValueType.TIMESTAMP)
    truncation = _called("DATE_TRUNC", exp.Literal.string(unit), timestamp)
    return Typed(cast(truncation, ValueType.TIMESTAMP), ValueType.TIMESTAMP)


def _table(handler: Handler, kinds: Iterable[type[exp.Expr]]) -> dict[type[exp.Expr], Handler]:
    return dict.fromkeys(kinds, handler)


FUNCTIONS: Mapping[type[exp.Expr], Handler] = {
    exp.Count: _count,
    exp.Sum: _sum,
    exp.Avg: _average,
    **_table(_extreme, (exp.Min, exp.Max)),
    **_table(_all_or_any, (exp.LogicalAnd, exp.LogicalOr)),
    exp.Filter: _filter,
    exp.Window: _window,
    **_table(_row_number, (exp.RowNumber, exp.Rank, exp.DenseRank)),
    **_table(_neighbour, (exp.Lag, exp.Lead)),
    **_table(_edge, (exp.FirstValue, exp.LastValue)),
    **_table(_alternatives, (exp.Coalesce, exp.Greatest, exp.Least)),
    exp.Nullif: _nullif,
    exp.Abs: _absolute,
    exp.Round: _round,
    exp.Length: _length,
    exp.Substring: _substring,
    **_table(_end_of_text, (exp.Left, exp.Right)),
    exp.Trim: _trim,
    exp.StartsWith: _starts_with,
    exp.Extract: _extract,
    **_table(_named_part, (exp.Year, exp.Quarter, exp.Month, exp.Day)),
    **_table(_truncated, (exp.TimestampTrunc, exp.DateTrunc)),
}
