"""Moments in SQL: `AS OF` clauses as snapshot bounds, and `now()` as the statement's own time.

A snapshot of bound B sees the commits with a timestamp below B. `AS OF t` includes commits at t: a
hybrid timestamp t gives t + 1, a time of microsecond precision m gives the first hybrid time after
that microsecond. One statement has one time: `PlanContext.now`.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.cancellation import check_cancelled
from pykudu_sql.planner.constant_folding.relative_moment import is_relative, relative_moment
from pykudu_sql.planner.constant_folding.snapshot_names import snapshot_bound
from pykudu_sql.planner.functions.exact_literals import type_literals
from pykudu_sql.planner.functions.functions import check_function
from pykudu_sql.planner.functions.parameter_literals import literal, parameter_key
from pykudu_sql.planner.functions.rules import apply_rules
from pykudu_sql.planner.functions.session_functions import replace_session_functions
from pykudu_sql.planner.parse.dialect import display
from pykudu_sql.planner.parse.lexer import quote_string
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of, with_node
from pykudu_sql.planner.value_bounds.value_bounds import bound_values
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.hybrid_time import (
    SnapshotBound,
    Timestamp,
    bound_at,
    bound_at_micros,
    from_micros,
    last_before,
    to_datetime,
)
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import (
    DataError,
    InvalidValueError,
    NotSupportedError,
    ProgrammingError,
    SnapshotInFutureError,
    SourceSpan,
)

TIMESTAMP = DataType(Kind.UNIXTIME_MICROS)
CURRENT_KINDS = (
    exp.CurrentTimestamp, exp.Localtimestamp, exp.CurrentDate, exp.CurrentTime, exp.Localtime,
    exp.UtcTimestamp, exp.Anonymous,
)  # fmt: skip
_MOST_DIGITS = 60  # of a number in a message, where it is written without exponent
_COMPUTED_TOGETHER = 256  # the engine keeps a vector of rows for each column
# No database is as old as that: a smaller number is a year, a date or seconds by mistake.
_OLDEST_HYBRID = from_micros(946_684_800_000_000)
_FORMS = (
    "write a date or time like '2026-01-31' or '2026-01-31 12:00:00', '5 min ago', "
    "now() - INTERVAL 5 MINUTES, a hybrid timestamp, or {}"
)
NOW_NAMES = ("now", "get_current_timestamp", "transaction_timestamp", "statement_timestamp")


def statement_time(context: PlanContext) -> dt.datetime:
    """The statement's time, UTC without zone."""
    return to_datetime(context.now)


def current_nodes(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The calls of the current time: now(), CURRENT_DATE and their kind."""
    for node in all_nodes(tree):
        if isinstance(node, CURRENT_KINDS) and (
            not isinstance(node, exp.Anonymous) or node.name.lower() in NOW_NAMES
        ):
            yield node


def reads_current_time(tree: exp.Expr) -> bool:
    """Whether a tree calls the current time, so that it means something else at each planning."""
    return any(True for _ in current_nodes(tree))


def fold_current(tree: exp.Expr, context: PlanContext) -> exp.Expr:
    """The tree with the current time and session functions as literals; changed in place."""
    tree = replace_session_functions(tree, context.settings.database)
    moment = statement_time(context)
    for node in list(current_nodes(tree)):
        if isinstance(node, exp.CurrentDate):
            text, target = moment.date().isoformat(), "date"
        elif isinstance(node, exp.CurrentTime | exp.Localtime):
            text, target = moment.time().isoformat(), "time"
        else:
            text, target = moment.isoformat(sep=" "), "timestamp"
        tree = with_node(tree, node, exp.cast(exp.Literal.string(text), target))
    return tree


@dataclass(frozen=True, slots=True)
class PointInTime:
    """A moment in SQL: one hybrid time, or all those of one microsecond.

    `first`: the first hybrid time that belongs to it; `bound`: of the snapshot AS OF it.
    """

    first: Timestamp
    bound: SnapshotBound


def version_bound(version: exp.Version, context: PlanContext) -> SnapshotBound:
    """The bound of a table's AS OF clause; a version given as text is a named snapshot.

    Raises UndefinedObjectError: there is no snapshot of that name; NotSupportedError: a kind of
    range that is not offered, or a parameter; InvalidValueError: the expression is no moment;
    SnapshotInFutureError: it has not come yet.
    """
    moment = version.expression
    if version.args.get("kind") != "AS OF" or moment is None:
        raise NotSupportedError(
            f"FOR SYSTEM_TIME {version.args.get('kind')} is not supported",
            hint="write AS OF <time>, FROM <time> TO <time>, BETWEEN <time> AND <time> or ALL",
        )
    if version.name == "VERSION" and isinstance(moment, exp.Literal) and moment.is_string:
        span = node_span(moment)
        return snapshot_bound(moment.name.lower(), context, span)
    return constant_point_in_time(moment, context, "AS OF").bound


def constant_point_in_time(node: exp.Expr, context: PlanContext, clause: str) -> PointInTime:
    """The moment of a constant expression, or of `snapshot('name')`.

    `context`: snapshots and time; `clause`: that it stands in, for errors. Raises
    UndefinedObjectError: there is no snapshot of that name; NotSupportedError: a parameter;
    ProgrammingError: it is no constant; InvalidValueError: it is no moment; SnapshotInFutureError:
    it has not come yet.
    """
    span = node_span(node)
    node = _with_parameters(node, context, clause)
    if _is_snapshot(node):
        bound = snapshot_bound(node.expressions[0].name.lower(), context, span)
        return PointInTime(last_before(bound), bound)
    if isinstance(node, exp.Column):
        raise ProgrammingError(
            f"{clause} needs a constant, not {display(node)}",
            hint=f"a snapshot is written snapshot('{node.name}')",
            span=span,
            sqlstate="42P10",
        )
    if node.find(exp.Column, exp.Query, exp.Star) is not None:
        raise ProgrammingError(
            f"{clause} needs a constant, not one that reads columns or a query",
            span=span,
            sqlstate="42P10",
        )
    return point_in_time(constant_value(node, context), context, span, clause)


def _with_parameters(node: exp.Expr, context: PlanContext, clause: str) -> exp.Expr:
    """An expression with the values of its parameters, of which another plan may be made."""
    if node.find(exp.Placeholder) is None:
        return node
    if context.bound_parameters is None:
        raise NotSupportedError(
            f"the time of {clause} cannot be a parameter here",
            hint="tables and columns may differ from time to time: pass its value to execute(), "
            "or write it as a literal",
        )
    node = node.copy()
    for parameter in nodes_of(node, exp.Placeholder):
        key = parameter_key(parameter)
        value = literal(context.bound_parameters.value(key, clause), key)
        if parameter is node:
            return value
        parameter.replace(value)
    return node


def _is_snapshot(node: exp.Expr) -> bool:
    return (
        isinstance(node, exp.Anonymous)
        and node.name.lower() == "snapshot"
        and len(node.expressions) == 1
        and isinstance(node.expressions[0], exp.Literal)
    )


def may_move(node: exp.Expr) -> bool:
    """Whether an expression of a moment may have another value later."""
    if isinstance(node, exp.Version):
        named = node.name == "VERSION" and isinstance(node.expression, exp.Literal)
        if named and node.expression.is_string:
            return True
    return any(map(_is_named_or_relative, all_nodes(node))) or reads_current_time(node)


def _is_named_or_relative(node: exp.Expr) -> bool:
    if isinstance(node, exp.Literal):
        return node.is_string and is_relative(node.name)
    return _is_snapshot(node)


def constant_value(node: exp.Expr, context: PlanContext) -> Any:
    """The value of an expression without columns, computed by the engine unless it is a literal.

    Raises DataError, ProgrammingError: see `constant_values`.
    """
    if isinstance(node, exp.Literal):
        return node.this if node.is_string else node.to_py()
    (value,) = constant_values([node], context)
    return value


def constant_values(nodes: Sequence[exp.Expr], context: PlanContext) -> list[Any]:
    """The values of expressions without columns, computed by few statements of the engine.

    The one door from SQL text to the engine while planning, so functions are checked here. Raises
    DataError, ProgrammingError: a function is not offered, or the engine cannot compute one.
    """
    values: list[Any] = []
    for begin in range(0, len(nodes), _COMPUTED_TOGETHER):
        check_cancelled()
        items = [_engine_sql(node, context) for node in nodes[begin : begin + _COMPUTED_TOGETHER]]
        values.extend(context.evaluate(f"SELECT {', '.join(items)}"))
    return values


def _engine_sql(node: exp.Expr, context: PlanContext) -> str:
    for call in nodes_of(node, exp.Func):
        check_function(call)
    folded = bound_values(apply_rules(fold_current(node.copy(), context)))
    return to_sql(type_literals(folded))


def as_of_bound(value: object, context: PlanContext, span: SourceSpan | None) -> SnapshotBound:
    """The bound of `AS OF value`; see `point_in_time`."""
    return point_in_time(value, context, span, "AS OF").bound


def point_in_time(
    value: object, context: PlanContext, span: SourceSpan | None, clause: str
) -> PointInTime:
    """The moment of a value: a hybrid timestamp, a time, or text of one, such as `10 min ago`.

    Raises InvalidValueError: the value is no moment; SnapshotInFutureError: it has not come yet.
    """
    if isinstance(value, str) and is_relative(value):
        value = _relative_value(value, context, span)
    hybrid = _hybrid_time(value)
    if hybrid is not None:
        moment = PointInTime(hybrid, bound_at(hybrid))
        if 0 < hybrid < _OLDEST_HYBRID:
            raise InvalidValueError(
                f"{value} is no moment: a number is a hybrid timestamp (microseconds "
                f"since 1970 times 4096), and this one is of {to_datetime(hybrid)}",
                hint=_forms(value, context, clause),
                span=span,
            )
    else:
        try:
            micros = to_cell(value, TIMESTAMP)
        except DataError as error:
            raise InvalidValueError(
                f"{_text(value)} is no moment",
                hint=_forms(value, context, clause),
                span=span,
            ) from error
        if not isinstance(micros, int):
            raise InvalidValueError("NULL is no moment", span=span)
        moment = PointInTime(from_micros(micros), bound_at_micros(micros))
    if moment.first > context.now:
        raise SnapshotInFutureError(
            f"{_text(value)} has not come yet", hint="it is a moment after now", span=span
        )
    if moment.first < 0:
        raise InvalidValueError(f"{_text(value)} lies before 1970", span=span)
    return moment


def _relative_value(text: str, context: PlanContext, span: SourceSpan | None) -> Any:
    moment = relative_moment(text, span)
    try:
        return constant_value(moment, context)
    except DataError as error:
        raise InvalidValueError(f"{text!r:.60} lies before 1970", span=span) from error


def _forms(value: object, context: PlanContext, clause: str) -> str:
    """How a moment is written; that of a snapshot alone where the value is the name of one."""
    form = "SNAPSHOT {}" if clause == "AS OF" else "snapshot({})"
    if isinstance(value, str) and value.lower() in context.snapshots:
        name = quote_string(value.lower())
        return f"there is a snapshot of that name: write {form.format(name)}"
    return _FORMS.format("SNAPSHOT name" if clause == "AS OF" else "snapshot('name')")


def _text(value: object) -> str:
    """A value for a message: a text in quotes, a number as SQL writes it."""
    if not isinstance(value, Decimal):
        return f"{value!r:.60}" if isinstance(value, str) else f"{value!s:.60}"
    return f"{value:f}" if abs(value.adjusted()) < _MOST_DIGITS else f"{value!s:.60}"


def _hybrid_time(value: object) -> Timestamp | None:
    """A whole number as a hybrid timestamp; as a column of `sys` it is a decimal."""
    if isinstance(value, Decimal) and value.as_tuple().exponent == 0:
        return Timestamp(int(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return Timestamp(value)
    return None
