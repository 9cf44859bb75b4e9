"""Operators for Spark: those on which both engines agree, and what makes them agree.

What differs between the two:

- division: ours is of DOUBLEs, and NULL by zero; Spark's is of decimals and an error. `//` and `%`
  by zero are NULL too, and `//` keeps its operands' type;
- days: DATE plus INTERVAL is a TIMESTAMP here, DATE minus DATE is a number;
- text next to days is read as a day where it is written out, and never converted otherwise;
- LIKE has no escape character here, the backslash there;
- numbers of 32 bits meet others in 32 bits here, in 64 bits there, so they only meet each other.
"""

from collections.abc import Mapping

from sqlglot import exp

from pykudu_sql.planner.spark.spark_casts import translate_cast
from pykudu_sql.planner.spark.spark_exact import is_key_type, key_of, key_operand
from pykudu_sql.planner.spark.spark_expressions import Expressions, Handler
from pykudu_sql.planner.spark.spark_scope import SparkScope, describe, only
from pykudu_sql.planner.spark.spark_types import (
    NotOnSparkError,
    Typed,
    ValueType,
    cast,
    common_type,
    meeting,
)

_UNITS = frozenset({"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"})
_MOST_DIGITS = 38
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)


def _column(_: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    assert isinstance(node, exp.Column)
    return Typed(node.copy(), scope.column(node))


def _literal(_: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    assert isinstance(node, exp.Literal)
    if node.is_string:
        return Typed(node.copy(), ValueType.TEXT)
    text = node.name.lower()
    if text.isdigit():
        for kind, bits in ((ValueType.INT, 31), (ValueType.BIGINT, 63)):
            if int(text) < 1 << bits:
                return Typed(node.copy(), kind)
    elif "e" in text:
        return Typed(node.copy(), ValueType.DOUBLE)
    elif text.replace(".", "", 1).isdigit() and len(text) <= _MOST_DIGITS:
        return Typed(node.copy(), ValueType.DECIMAL)
    raise NotOnSparkError(f"the number {text:.50}")


def _boolean(_: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    return Typed(node.copy(), ValueType.BOOLEAN)


def _null(_: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    return Typed(node.copy(), ValueType.NULL)


def _unhex(_: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this")
    if not isinstance(node.this, exp.Literal):
        raise NotOnSparkError("unhex() of what is no literal")
    return Typed(node.copy(), ValueType.BINARY)


def _binary_literal(_: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    return Typed(exp.Unhex(this=exp.Literal.string(node.name)), ValueType.BINARY)


def _parenthesis(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    inner = expressions.typed(node.this, scope)
    return Typed(exp.Paren(this=inner.node), inner.type)


def _alias(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    inner = expressions.typed(node.this, scope)
    return Typed(exp.Alias(this=inner.node, alias=node.args["alias"].copy()), inner.type)


def _connector(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    left = expressions.condition(node.this, scope)
    right = expressions.condition(node.expression, scope)
    return Typed(type(node)(this=left, expression=right), ValueType.BOOLEAN)


def _not(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    return Typed(exp.Not(this=expressions.condition(node.this, scope)), ValueType.BOOLEAN)


def _is(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "expression", "negate")
    if isinstance(node.expression, exp.Null):
        tested = expressions.typed(node.this, scope).node
    elif isinstance(node.expression, exp.Boolean):
        tested = expressions.condition(node.this, scope)
    else:
        raise NotOnSparkError("IS with what is neither NULL nor a truth value")
    return Typed(_with(node, this=tested), ValueType.BOOLEAN)


def _with(node: exp.Expr, **parts: object) -> exp.Expr:
    """A node with some of its parts exchanged."""
    copy = node.copy()
    for name, part in parts.items():
        copy.set(name, part)
    return copy


def _comparison(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "expression")
    (left, right), _ = expressions.together([node.this, node.expression], scope)
    return Typed(type(node)(this=left, expression=right), ValueType.BOOLEAN)


def _between(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "low", "high", "negate")
    parts = [node.this, node.args["low"], node.args["high"]]
    (this, low, high), _ = expressions.together(parts, scope)
    return Typed(_with(node, this=this, low=low, high=high), ValueType.BOOLEAN)


def _in(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "expressions", "query", "negate")
    query = node.args.get("query")
    if query is None:
        (this, *values), _ = expressions.together([node.this, *node.expressions], scope)
        return Typed(_with(node, this=this, expressions=values), ValueType.BOOLEAN)
    if not _filters_rows(node):
        raise NotOnSparkError("IN of a query that is more than a condition on rows")
    this_one = expressions.typed(node.this, scope)
    inner = query.this if isinstance(query, exp.Subquery) else query
    rows, outputs = expressions.subqueries(inner, scope)
    common_type([this_one.type, outputs[0][1]])
    return Typed(_with(node, this=this_one.node, query=exp.Subquery(this=rows)), ValueType.BOOLEAN)


def _filters_rows(node: exp.Expr) -> bool:
    """Whether rows are left out where a condition is not true.

    Elsewhere Spark makes false of an IN that is NULL.
    """
    place = node.parent
    while isinstance(place, exp.And | exp.Or | exp.Not | exp.Paren):
        place = place.parent
    if isinstance(place, exp.Join):
        return not place.side
    return isinstance(place, exp.Where | exp.Having) and isinstance(place.parent, exp.Query)


def _exists(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this")
    inner = node.this.this if isinstance(node.this, exp.Subquery) else node.this
    rows, _ = expressions.subqueries(inner, scope)
    return Typed(exp.Exists(this=rows), ValueType.BOOLEAN)


def _value_of_query(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "alias")
    rows, outputs = expressions.subqueries(node.this, scope)
    alias = node.args.get("alias")
    subquery = exp.Subquery(this=rows, alias=None if alias is None else alias.copy())
    return Typed(subquery, outputs[0][1])


def _like(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "expression", "negate")
    pattern = node.expression
    if not isinstance(pattern, exp.Literal) or "\\" in pattern.name:
        raise NotOnSparkError("LIKE with a pattern that is no literal, or has a backslash")
    text = expressions.text(node.this, scope).node
    return Typed(_with(node, this=text), ValueType.BOOLEAN)


def _join_texts(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "expression", "safe")
    left, right = (expressions.text(side, scope).node for side in (node.this, node.expression))
    return Typed(exp.DPipe(this=left, expression=right), ValueType.TEXT)


def _sum(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    """`+` and `-`, of numbers and of days."""
    values = [expressions.typed(side, scope) for side in (node.this, node.expression)]
    left, right = values
    if left.type.is_moment or right.type is ValueType.INTERVAL:
        return _moved_day(type(node), left, right)
    return _arithmetic(type(node), values)


def _moved_day(operator: type[exp.Expr], day: Typed, by: Typed) -> Typed:
    if day.type.is_moment and by.type is ValueType.INTERVAL:
        moment = cast(day.node, ValueType.TIMESTAMP)
        return Typed(operator(this=moment, expression=by.node), ValueType.TIMESTAMP)
    if day.type is ValueType.DATE and by.type in (ValueType.TINYINT, ValueType.INT):
        return Typed(operator(this=day.node, expression=by.node), ValueType.DATE)
    if operator is exp.Sub and day.type is ValueType.DATE and by.type is ValueType.DATE:
        days = exp.Anonymous(this="DATEDIFF", expressions=[day.node, by.node])
        return Typed(cast(days, ValueType.BIGINT), ValueType.BIGINT)
    raise NotOnSparkError(f"{operator.__name__} of {day.type.name} and {by.type.name}")


def _moved_by_call(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    """date_add(), date_sub() and add_months() with a number of units."""
    only(node, "this", "expression", "unit")
    unit = exp.Var(this="MONTH") if isinstance(node, exp.AddMonths) else node.args.get("unit")
    by = node.expression
    if not isinstance(by, exp.Interval):
        by = exp.Interval(this=by.copy(), unit=unit or exp.Var(this="DAY"))
    moment, interval = expressions.typed(node.this, scope), expressions.typed(by, scope)
    operator = exp.Sub if isinstance(node, exp.DateSub) else exp.Add
    return _moved_day(operator, moment, interval)


def _product(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    sides = (node.this, node.expression)
    return _arithmetic(type(node), [expressions.number(side, scope) for side in sides])


def _arithmetic(operator: type[exp.Expr], values: list[Typed]) -> Typed:
    (left, right), kind = meeting(values)
    if not kind.is_number:
        raise NotOnSparkError(f"{operator.__name__} of {kind.name}")
    return Typed(operator(this=left, expression=right), kind)


def _division(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "expression", "safe", "typed")
    values = [expressions.number(side, scope) for side in (node.this, node.expression)]
    if any(value.type is ValueType.FLOAT for value in values):
        raise NotOnSparkError("division of FLOAT")
    left, right = (cast(value.node, ValueType.DOUBLE) for value in values)
    return Typed(exp.Paren(this=exp.Div(this=left, expression=or_null(right))), ValueType.DOUBLE)


def or_null(divisor: exp.Expr) -> exp.Expr:
    """A divisor that is NULL instead of zero."""
    zero = exp.Literal.number(0)
    return exp.Nullif(this=divisor, expression=zero)


def _whole_division(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    """`//` and `%`, of whole numbers."""
    values = [expressions.number(side, scope) for side in (node.this, node.expression)]
    (left, right), kind = meeting(values)
    if not kind.is_integer or kind is ValueType.HUGEINT:
        raise NotOnSparkError(f"{describe(node)} of {kind.name}")
    quotient = type(node)(this=exp.Paren(this=left), expression=or_null(right))
    return Typed(cast(exp.Paren(this=quotient), kind), kind)


def _negative(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    value = expressions.number(node.this, scope)
    return Typed(exp.Neg(this=value.node), value.type)


def _interval(_: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "unit")
    unit = node.args.get("unit")
    name = "" if unit is None else unit.name.upper().removesuffix("S")
    count = node.this
    if name not in _UNITS or not isinstance(count, exp.Literal) or not count.name.isdigit():
        raise NotOnSparkError("an INTERVAL that is no whole number of one unit")
    interval = exp.Interval(this=exp.Literal.string(count.name), unit=exp.Var(this=name))
    return Typed(interval, ValueType.INTERVAL)


def _case(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "ifs", "default")
    ifs, default = node.args["ifs"], node.args.get("default") or exp.Null()
    subject = node.this
    if subject is None:
        tests = [expressions.condition(branch.this, scope) for branch in ifs]
    else:
        (subject, *tests), _ = expressions.together([subject, *(b.this for b in ifs)], scope)
    results = [*(branch.args["true"] for branch in ifs), default]
    (*values, otherwise), kind = expressions.together(results, scope)
    branches = [exp.If(this=t, true=v) for t, v in zip(tests, values, strict=True)]
    return Typed(exp.Case(this=subject, ifs=branches, default=otherwise), kind)


def _if(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    return _either(expressions, node.this.copy(), node, scope)


def _if_null(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    """`nvl2(x, a, b)`: `a` where x is not NULL, else `b`."""
    is_present = exp.Not(this=exp.Is(this=exp.paren(node.this), expression=exp.Null()))
    return _either(expressions, is_present, node, scope)


def _either(expressions: Expressions, test: exp.Expr, node: exp.Expr, scope: SparkScope) -> Typed:
    """One of the two values of a call, by whether a condition is true."""
    branch = exp.If(this=test, true=node.args["true"].copy())
    otherwise = node.args.get("false")
    default = None if otherwise is None else otherwise.copy()
    return _case(expressions, exp.Case(ifs=[branch], default=default), scope)


def _cast(expressions: Expressions, node: exp.Expr, scope: SparkScope) -> Typed:
    only(node, "this", "to")
    if is_key_type(node.args["to"]):
        return key_of(expressions.typed(key_operand(node), scope))
    return translate_cast(expressions.typed(node.this, scope), node.args["to"])


OPERATORS: Mapping[type[exp.Expr], Handler] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.Unhex: _unhex,
    exp.HexString: _binary_literal,
    exp.Paren: _parenthesis,
    exp.Alias: _alias,
    exp.And: _connector,
    exp.Or: _connector,
    exp.Not: _not,
    exp.Is: _is,
    **dict.fromkeys(_COMPARISONS, _comparison),
    exp.Between: _between,
    exp.In: _in,
    exp.Exists: _exists,
    exp.Subquery: _value_of_query,
    exp.Like: _like,
    exp.DPipe: _join_texts,
    exp.Add: _sum,
    exp.Sub: _sum,
    **dict.fromkeys((exp.AddMonths, exp.DateAdd, exp.DateSub), _moved_by_call),
    exp.Mul: _product,
    exp.Div: _division,
    exp.IntDiv: _whole_division,
    exp.Mod: _whole_division,
    exp.Neg: _negative,
    exp.Interval: _interval,
    exp.Case: _case,
    exp.If: _if,
    exp.Nvl2: _if_null,
    exp.Cast: _cast,
}
