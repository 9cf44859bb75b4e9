"""Conditions on functions of a time that never decrease, as conditions on the stored column.

`CAST(ts AS DATE) >= DATE '2024-01-05'`, `date_trunc('month', ts) = '2024-01-01'`, `year(ts) IN
(2023, 2024)` and calls within such calls hold for ranges of the column (`operands.time_steps`). No
call depends on a time zone: columns have none, and a cast to a type that has one is not read here.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from sqlglot import exp

from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.constant_folding.constant import Constant, Hole, Typing
from pykudu_sql.planner.operands.comparison import mirrored
from pykudu_sql.planner.operands.template import SteppedComparison, SteppedInList
from pykudu_sql.planner.operands.time_steps import (
    DATE_AS_TIMESTAMP,
    DATE_OF_TIMESTAMP,
    TIMESTAMP_OF_DATE,
    TRUNCATIONS,
    YEAR_OF_DATE,
    YEAR_OF_TIMESTAMP,
    SteppedColumn,
    TimeStep,
    among_stepped,
    compare_stepped,
    compare_stepped_near,
)
from pykudu_sql.planner.operands.value import Parameter
from pykudu_sql.planner.pushdown.table_condition import (
    COMPARISONS,
    Condition,
    conjunction,
    lose_digits,
)
from pykudu_sql.planner.vocabulary.time_units import ENGINE_UNITS
from pykudu_sql.storage.common.predicate.column_predicate import Op
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Kind

StepsOf = Mapping[Kind, Sequence[TimeStep]]  # of a call, by the kind of its argument

_DATES: StepsOf = {Kind.DATE: (), Kind.UNIXTIME_MICROS: (DATE_OF_TIMESTAMP,)}
_TIMESTAMPS: StepsOf = {Kind.DATE: (TIMESTAMP_OF_DATE,), Kind.UNIXTIME_MICROS: ()}
_YEARS: StepsOf = {Kind.DATE: (YEAR_OF_DATE,), Kind.UNIXTIME_MICROS: (YEAR_OF_TIMESTAMP,)}
_TRUNCATED: Mapping[str, StepsOf] = {
    # Of a date the engine makes a timestamp first.
    unit: {Kind.DATE: (DATE_AS_TIMESTAMP, step), Kind.UNIXTIME_MICROS: (step,)}
    for unit, step in TRUNCATIONS.items()
}
_CAST_TO: Mapping[exp.DType, StepsOf] = {
    exp.DType.DATE: _DATES,
    exp.DType.TIMESTAMP: _TIMESTAMPS,
    exp.DType.TIMESTAMPNTZ: _TIMESTAMPS,
}
_PART_CALLS = frozenset({"date_part", "datepart"})
Operand = tuple[TableReference, SteppedColumn]


class ConditionSources(Protocol):
    """Reads the parts of a condition."""

    def column(self, node: exp.Expr) -> tuple[TableReference, ColumnSchema] | None:
        """The stored column that an expression is, None if it is anything else."""
        ...

    def constant(self, node: exp.Expr) -> Constant | Hole | None:
        """The constant that an expression is, None if it varies."""
        ...

    def constants(self, nodes: Sequence[exp.Expr]) -> Sequence[Constant | Hole] | None:
        """The constants that expressions are, None if one varies."""
        ...


def time_condition(node: exp.Expr, sources: ConditionSources) -> Condition | None:
    """What a comparison, BETWEEN or IN of calls on a time column requires; None of all else."""
    match node:
        case exp.Between():
            return _between(node, sources)
        case exp.In():
            return _among(node, sources)
    op = COMPARISONS.get(type(node))
    if op is None:
        return None
    left, right = node.this, node.expression
    return _compare(left, op, right, sources) or _compare(right, mirrored(op), left, sources)


def _compare(
    call: exp.Expr, op: Op, value: exp.Expr, sources: ConditionSources
) -> Condition | None:
    operand = _operand(call, sources)
    constant = None if operand is None else sources.constant(value)
    return None if operand is None or constant is None else _compared(operand, op, constant)


def _between(node: exp.Between, sources: ConditionSources) -> Condition | None:
    operand = None if node.args.get("symmetric") else _operand(node.this, sources)
    if operand is None:
        return None
    ends = [
        (Op.GE, sources.constant(node.args["low"])),
        (Op.LE, sources.constant(node.args["high"])),
    ]
    if lose_digits([end for _, end in ends]) and operand[1].type.kind is Kind.INT64:
        return None
    parts = [_compared(operand, op, end) for op, end in ends if end is not None]
    return conjunction(parts, len(parts) == 2) if parts else None


def _among(node: exp.In, sources: ConditionSources) -> Condition | None:
    operand = _operand(node.this, sources) if node.expressions else None
    if operand is None:
        return None
    listed = sources.constants(node.expressions)
    if listed is None or lose_digits(listed):
        return None
    reference, stepped = operand
    is_whole = all(isinstance(each, Hole) or each.is_whole_beside(stepped.type) for each in listed)
    values = [
        _parameter(each, stepped) if isinstance(each, Hole) else each.value for each in listed
    ]
    if any(isinstance(value, Parameter) for value in values):
        return Condition(reference, SteppedInList(stepped, tuple(values)), True, is_whole)
    predicate, is_exact = among_stepped(stepped, values)
    return Condition(reference, predicate, True, is_exact and is_whole)


def _compared(operand: Operand, op: Op, constant: Constant | Hole) -> Condition:
    reference, stepped = operand
    if isinstance(constant, Hole):
        waiting = SteppedComparison(stepped, op, _parameter(constant, stepped))
        return Condition(reference, waiting, fails_null=True, is_exact=True)
    if constant.typing is Typing.HIDDEN:
        near = compare_stepped_near(stepped, op, constant.value)
        return Condition(reference, near, fails_null=True)
    predicate, is_exact = compare_stepped(stepped, op, constant.value)
    is_whole = constant.is_whole_beside(stepped.type)
    return Condition(reference, predicate, True, is_exact and is_whole)


def _parameter(hole: Hole, stepped: SteppedColumn) -> Parameter:
    return Parameter(hole.key, stepped.type, stepped.column.name)


def _operand(node: exp.Expr, sources: ConditionSources) -> Operand | None:
    """The column that calls which never decrease are made on, with their steps; None if none is."""
    calls: list[StepsOf] = []
    while (call := _call(node)) is not None:
        node, steps_of = call
        if steps_of is not None:
            calls.append(steps_of)
    bound_column = sources.column(node) if calls else None
    if bound_column is None:
        return None
    reference, column = bound_column
    kind, steps = column.type.kind, list[TimeStep]()
    for steps_of in reversed(calls):
        more = steps_of.get(kind)
        if more is None:
            return None
        steps += more
        kind = steps[-1].result if steps else kind
    return reference, SteppedColumn(column, tuple(steps))


def _call(node: exp.Expr) -> tuple[exp.Expr, StepsOf | None] | None:
    """The argument of a call, with its steps; of parentheses without. None of anything else."""
    match node:
        case exp.Paren():
            return node.this, None
        case exp.Cast(this=argument, to=exp.DataType() as target):
            is_plain = not target.expressions and _has_only(node, "this", "to", "safe")
            steps_of = _CAST_TO.get(target.this) if is_plain else None
        case exp.Date(this=argument):
            steps_of = _DATES if _has_only(node, "this") else None
        case exp.TimestampTrunc(this=argument) | exp.DateTrunc(this=argument):
            unit = ENGINE_UNITS.get(node.args["unit"].name.upper(), "").removesuffix("S")
            steps_of = _TRUNCATED.get(unit) if _has_only(node, "this", "unit") else None
        case exp.Year(this=argument):
            steps_of = _YEARS
        case exp.Extract(this=part, expression=argument):
            steps_of = _YEARS if _is_year(part) else None
        case exp.Anonymous(this=str() as name, expressions=[part, argument]):
            steps_of = _YEARS if name.lower() in _PART_CALLS and _is_year(part) else None
        case _:
            return None
    return None if steps_of is None else (argument, steps_of)


def _has_only(node: exp.Expr, *names: str) -> bool:
    return not any(value for name, value in node.args.items() if name not in names)


def _is_year(part: exp.Expr) -> bool:
    is_word = isinstance(part, exp.Var) or (isinstance(part, exp.Literal) and part.is_string)
    return is_word and ENGINE_UNITS.get(part.name.upper(), "") in ("YEAR", "YEARS")
