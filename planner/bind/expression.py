"""Constant expressions of our own grammar as cells: defaults and range bounds."""

from typing import Any

from sqlglot import exp

from pykudu_sql.planner.bind.constant import Constant, constant
from pykudu_sql.planner.bind.moment import current_nodes, fold_current
from pykudu_sql.planner.ddl_grammar.syntax import Expression
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.lexer import TOKEN_PATTERN, TokenKind, source_position, unquote
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import DataError, InvalidSchemaError, SourcePosition


def value_of(expression: Expression, text: str, context: PlanContext) -> Any:
    """The Python value of a constant expression; the present is the statement's time.

    Raises:
        InvalidSchemaError: it is no constant.
        SyntaxError: it is no expression.
    """
    single = TOKEN_PATTERN.fullmatch(expression.text)
    if single is not None and single.lastindex == TokenKind.STRING:
        return unquote(expression.text)
    found = constant(fold_current(_tree_of(expression, text), context), context)
    if not isinstance(found, Constant):
        raise InvalidSchemaError(
            f"{expression} is no constant",
            hint="write a literal, or an expression of literals",
            position=_position(expression, text),
        )
    return found.value


def cell_of(expression: Expression, column: ColumnSchema, text: str, context: PlanContext) -> Cell:
    """The cell of a column that a constant expression stands for.

    Raises:
        DataError: the value does not fit; the message names the column.
        InvalidSchemaError: it is no constant.
    """
    value = value_of(expression, text, context)
    try:
        return to_cell(value, column.type)
    except DataError as error:
        raise type(error)(
            f"column '{column.name}': {error.message}",
            hint=error.hint,
            position=_position(expression, text),
            sqlstate=error.sqlstate,
        ) from error


def default_cell(
    expression: Expression, column: ColumnSchema, text: str, context: PlanContext
) -> Cell:
    """The cell of a column that a row gets which names none.

    Raises:
        DataError: the value does not fit; the message names the column.
        InvalidSchemaError: it is no constant. The present is none here: every row would get the
            moment at which the table was made, where its own was meant.
    """
    if any(current_nodes(_tree_of(expression, text))):
        raise InvalidSchemaError(
            f"DEFAULT {expression} of column '{column.name}' is no constant",
            hint="a default is computed once, not for each row: let INSERT give the time",
            position=_position(expression, text),
        )
    return cell_of(expression, column, text, context)


def _tree_of(expression: Expression, text: str) -> exp.Expr:
    tree = parse("SELECT " + expression.text)
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or tree.args.get("from_"):
        position = _position(expression, text)
        raise InvalidSchemaError(f"{expression} is no constant", position=position)
    only: exp.Expr = tree.expressions[0]
    return only


def _position(expression: Expression, text: str) -> SourcePosition:
    return source_position(text, expression.start, len(expression.text))
