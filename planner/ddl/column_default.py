"""DEFAULT of a column: a constant, or one of the functions that `DefaultFunction` lists."""

from dataclasses import replace

from sqlglot import exp

from pykudu_sql.planner.constant_folding.moment import NOW_NAMES, reads_current_time
from pykudu_sql.planner.ddl.ddl_constants import cell_of, expression_tree
from pykudu_sql.planner.ddl_grammar.syntax import Expression
from pykudu_sql.planner.parse.error_spans import errors_at
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.column_defaults import default_cell
from pykudu_sql.storage.common.default_function import DefaultFunction
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.schema_rules import check_column
from pykudu_sql.storage.errors import InvalidSchemaError

_TYPE = exp.DType
_TIMESTAMPS = (_TYPE.TIMESTAMP, _TYPE.TIMESTAMPNTZ, _TYPE.DATETIME)
_TEXTS = (_TYPE.TEXT, _TYPE.VARCHAR, _TYPE.NVARCHAR, _TYPE.UUID)
_NOW = (exp.CurrentTimestamp, exp.Localtimestamp, exp.UtcTimestamp)
_BY_DIGITS = {
    "0": DefaultFunction.NOW_IN_SECONDS,
    "3": DefaultFunction.NOW_IN_MILLISECONDS,
    "6": DefaultFunction.NOW,
}
# SQLite's calls by their inner names; their times are UTC, which these modifiers do not change.
_OF_SQLITE = {"datetime_of": DefaultFunction.NOW_IN_SECONDS, "date_of": DefaultFunction.TODAY}
_NO_CHANGE = ("localtime", "utc")


def with_default(column: ColumnSchema, default: Expression, context: PlanContext) -> ColumnSchema:
    """A column with another default.

    Raises DataError: the value does not fit; the message names the column; InvalidSchemaError: it
    is no constant and no such function, or one that does not fit the column's type, or NULL.
    """
    tree = expression_tree(default)
    function = _function_of(tree, column)
    if function is not None:
        changed = replace(column, write_default=None, default_function=function)
        with errors_at(default.span):
            check_column(changed)
        return changed
    try:
        cell = None if reads_current_time(tree) else cell_of(default, column, context)
    except InvalidSchemaError as error:
        raise _no_default(default, column) from error
    if reads_current_time(tree):
        raise _no_default(default, column)
    return replace(column, write_default=cell, default_function=None)


def frozen(column: ColumnSchema, context: PlanContext) -> ColumnSchema:
    """A column to be added, with what rows show that are there already.

    A time is that of the statement; of a function of chance `schema_changes.add_column` says what
    to do.
    """
    function = column.default_function
    if function is None or not function.is_of_the_moment:
        return column
    return replace(column, read_default=default_cell(column, StatementTime(lambda: context.now)))


def _no_default(default: Expression, column: ColumnSchema) -> InvalidSchemaError:
    functions = ", ".join(function.sql for function in DefaultFunction)
    return InvalidSchemaError(
        f"DEFAULT {default} of column '{column.name}' is no constant",
        hint=f"write an expression of literals or one of {functions}; or let INSERT give the value",
        span=default.span,
    )


def _function_of(node: exp.Expr, column: ColumnSchema) -> DefaultFunction | None:
    """The function that an expression calls; None of any other."""
    match node:
        case exp.Paren():
            return _function_of(node.this, column)
        case exp.AtTimeZone() if _is_utc(node.args["zone"]):
            return _function_of(node.this, column)
        case exp.Anonymous(this="timezone", expressions=[zone, moment]) if _is_utc(zone):
            return _function_of(moment, column)
        case exp.Cast():
            inner = _function_of(node.this, column)
            return None if inner is None else _cast(inner, node.to, column)
        case exp.Uuid() | exp.Anonymous(this="uuidv4"):
            return None if node.expressions else DefaultFunction.UUID
        case exp.Replace(this=inner, expression=exp.Literal(this="-"), args={"replacement": other}):
            is_uuid = _function_of(inner, column) is DefaultFunction.UUID and other.name == ""
            return DefaultFunction.UUID_DIGITS if is_uuid else None
        case exp.CurrentDate():
            return DefaultFunction.TODAY if node.args.get("this") is None else None
        case exp.Anonymous():
            return _call(node.name.lower(), node.expressions)
    return DefaultFunction.NOW if isinstance(node, _NOW) and not node.args.get("this") else None


def _call(name: str, arguments: list[exp.Expr]) -> DefaultFunction | None:
    if not arguments:
        return DefaultFunction.NOW if name in NOW_NAMES else None
    first, *rest = arguments
    if not isinstance(first, exp.CurrentTimestamp) or not all(map(_is_literal, rest)):
        return None
    texts = [argument.name for argument in rest]
    if name in ("moment_to", "local_moment_to"):
        return _BY_DIGITS.get(texts[0]) if len(texts) == 1 else None
    return _OF_SQLITE.get(name) if all(text in _NO_CHANGE for text in texts) else None


def _is_utc(zone: exp.Expr) -> bool:
    """Whether a zone is that of all times."""
    return isinstance(zone, exp.Literal) and zone.name.upper() == "UTC"


def _is_literal(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal)


def _cast(
    function: DefaultFunction, target: exp.DataType, column: ColumnSchema
) -> DefaultFunction | None:
    """A function whose value is cast, as one that gives the column the same."""
    kind = target.this
    if target.expressions:
        return None
    if not function.is_of_the_moment or kind in _TEXTS:
        return function if kind in _TEXTS else None
    if kind is _TYPE.DATE:
        return DefaultFunction.TODAY
    is_same = function is not DefaultFunction.TODAY or not column.type.is_text
    return function if kind in _TIMESTAMPS and is_same else None
