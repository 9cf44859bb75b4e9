"""Bound parameters as literals: of lists, and of all where a definition keeps no parameter.

A list beside IN becomes the values of the list, or rows if it is of lists and beside a row; one
that is compared with a row becomes a row, and elsewhere an array.
"""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sqlglot import exp

from pykudu_sql.planner.operands.parameter_types import parameter_name, sql_value
from pykudu_sql.planner.operands.value import ParameterKey
from pykudu_sql.planner.parse.dialect import POSITIONAL
from pykudu_sql.planner.parse.long_list import LEAST_VALUES, LongList, list_query
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.common.types.value_text import quote_value
from pykudu_sql.storage.errors import InterfaceError, ValueOutOfRangeError

_DEEPEST = 8  # lists in lists
_SMALL = 10**18
_MOST_DIGITS = 1000  # of a number; in SQL it is text
_MOST_BITS = 3320
_LISTS = (list, tuple)
_MOST_ROWS = 1000  # that are compared one by one
_ROW_COMPARISONS = (
    *(
        exp.EQ,
        exp.NEQ,
        exp.LT,
        exp.LTE,
        exp.GT,
        exp.GTE,
        exp.NullSafeEQ,
        exp.NullSafeNEQ,
        exp.Between,
    ),
)
_LIST_PARAMETER = "list_parameter"
_DOUBLE_PARAMETER = "double_parameter"


def parameter_key(node: exp.Placeholder) -> ParameterKey:
    """The key of a placeholder: a position for `?`, else its name."""
    name = node.name
    return int(name[1:]) if name.startswith(POSITIONAL) else name


def substitute_parameters(tree: exp.Expr, context: PlanContext) -> None:
    """Replace parameters by literals: lists, numbers of rows, or all, if the context says so.

    `tree`: of a query, not bound yet; changed in place. Raises InterfaceError: SQL has no value for
    one.
    """
    bound = context.bound_parameters
    for node in nodes_of(tree, exp.Placeholder) if bound is not None else ():
        key = parameter_key(node)
        values = bound.list_of(key) if bound is not None else None
        count = bound.count_of(key) if bound is not None and _counts_rows(node) else None
        if values is not None:
            _replace_list(node, [_plain(value, key) for value in values], key)
        elif count is not None:
            node.replace(exp.Literal.number(count))
        elif context.folds_parameters and bound is not None:
            node.replace(literal(bound.value(key, ""), key))


def _counts_rows(node: exp.Placeholder) -> bool:
    """Whether a parameter is the number of rows of a LIMIT or an OFFSET."""
    clause = node.parent
    return isinstance(clause, exp.Limit | exp.Offset) and not clause.args.get("limit_options")


def list_parameter(node: exp.Expr) -> ParameterKey | None:
    """The key of the parameter whose list became an array; None of any other node."""
    key: ParameterKey | None = node.meta.get(_LIST_PARAMETER)
    return key


def is_double_parameter(node: exp.Expr) -> bool:
    """Whether a node is the value of a parameter, a number of double precision."""
    return node.meta.get(_DOUBLE_PARAMETER) is not None


def _plain(value: object, key: ParameterKey) -> Any:
    if isinstance(value, _LISTS):
        return [_plain(each, key) for each in value]
    return sql_value(value, key, "")


def _replace_list(node: exp.Placeholder, values: Sequence[Any], key: ParameterKey) -> None:
    parent = node.parent
    if not isinstance(parent, exp.In) or node is parent.this:
        meets_row = isinstance(parent, _ROW_COMPARISONS) and (
            _is_row(parent.this) or _is_row(parent.args.get("expression"))
        )
        array = _row(values, key) if meets_row else literal(values, key)
        array.meta[_LIST_PARAMETER] = key
        node.replace(array)
        return
    if parent.args.get("field") is node:
        parent.set("field", None)
        rest: list[exp.Expr] = []
    else:
        rest = [each for each in parent.expressions if each is not node]
    if _is_row(parent.this):
        _replace_rows(parent, rest, values, key)
        return
    present = [value for value in values if value is not None]
    kinds = set(map(type, present))
    is_small = kinds == {int} and all(-_SMALL < value < _SMALL for value in present)
    if len(present) > LEAST_VALUES and not rest and (is_small or kinds == {str}):
        parent.set("expressions", None)
        parent.set("query", list_query(LongList(tuple(present), len(present) < len(values))))
    else:
        parent.set("expressions", [*rest, *(literal(value, key) for value in values)])


def _replace_rows(
    parent: exp.In, rest: Sequence[exp.Expr], values: Sequence[Any], key: ParameterKey
) -> None:
    """Put rows behind the IN of a row: those of a list of lists, or the one that a list is."""
    is_row = not any(isinstance(value, _LISTS) for value in values)
    rows = [_row(each, key) for each in ([values] if is_row and values else values)]
    if len(rows) > _MOST_ROWS and not rest:
        alias = exp.TableAlias(this=exp.to_identifier(_LIST_PARAMETER, quoted=True))
        relation = exp.Values(expressions=rows, alias=alias)
        parent.set("expressions", None)
        parent.set("query", exp.Subquery(this=exp.select("*").from_(relation, copy=False)))
    else:
        parent.set("expressions", [*rest, *rows])


def _row(values: Any, key: ParameterKey) -> exp.Expr:
    if not isinstance(values, _LISTS):
        return literal(values, key)
    return exp.Tuple(expressions=[literal(each, key) for each in values])


def _is_row(node: object) -> bool:
    is_call = isinstance(node, exp.Anonymous) and node.name.lower() == "row"
    return isinstance(node, exp.Tuple) or is_call


def _is_beyond_sql(value: "int | Decimal") -> bool:
    """Whether a number has more digits than one in a statement may have."""
    if isinstance(value, int):
        return value.bit_length() > _MOST_BITS
    return value.is_finite() and abs(value.adjusted()) > _MOST_DIGITS


def literal(value: Any, key: ParameterKey, depth: int = 0) -> exp.Expr:
    """A plain Python value as SQL.

    `key`: of its parameter; `depth`: of lists around it. Raises InterfaceError: lists are nested
    too deeply.
    """
    match value:
        case None:
            return exp.null()
        case bool():
            return exp.true() if value else exp.false()
        case int() | Decimal() if _is_beyond_sql(value):
            raise ValueOutOfRangeError(
                f"{parameter_name(key)}, {quote_value(value)}, is a number of more than "
                f"{_MOST_DIGITS} digits"
            )
        case int():
            return _signed(str(abs(value)), value < 0)
        case Decimal() if value.is_finite():
            return _signed(f"{value.copy_abs():f}", value < 0)
        case list() | tuple() if depth < _DEEPEST:
            return exp.Array(expressions=[literal(each, key, depth + 1) for each in value])
        case list() | tuple():
            raise InterfaceError(
                f"a parameter has lists nested more than {_DEEPEST} deep", sqlstate="07006"
            )
        case bytes():
            return exp.HexString(this=value.hex())
        case float() | Decimal():
            double = _cast(repr(float(value)), exp.DType.DOUBLE)
            double.meta[_DOUBLE_PARAMETER] = True
            return double
        case dt.datetime():
            moment = value if value.tzinfo is None else value.astimezone(dt.UTC)
            return _cast(moment.replace(tzinfo=None).isoformat(sep=" "), exp.DType.TIMESTAMP)
        case dt.date():
            return _cast(value.isoformat(), exp.DType.DATE)
        case dt.time():
            return _cast(value.isoformat(), exp.DType.TIME)
        case dt.timedelta():
            micros = value // dt.timedelta(microseconds=1)
            unit = exp.var("MICROSECONDS")
            return exp.Interval(this=exp.Literal.string(str(micros)), unit=unit)
    return exp.Literal.string(str(value))


def _signed(digits: str, is_negative: bool) -> exp.Expr:
    number = exp.Literal.number(digits)
    return exp.Neg(this=number) if is_negative else number


def _cast(text: str, target: exp.DType) -> exp.Cast:
    return exp.Cast(this=exp.Literal.string(text), to=exp.DataType(this=target))
