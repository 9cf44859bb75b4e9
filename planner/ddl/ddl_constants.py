"""Constant expressions of our own grammar as cells: constant defaults and range bounds."""

from itertools import takewhile
from typing import Any

from sqlglot import exp

from pykudu_sql.planner.constant_folding.constant import Constant, Hole, constant
from pykudu_sql.planner.constant_folding.moment import fold_current
from pykudu_sql.planner.ddl_grammar.syntax import Expression
from pykudu_sql.planner.functions.parameter_literals import literal, parameter_key
from pykudu_sql.planner.operands.bound_parameters import BoundParameters
from pykudu_sql.planner.operands.value import ParameterKey
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.lexer import TOKEN_PATTERN, TokenKind, tokenize, unquote
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import DataError, InvalidSchemaError


def value_of(expression: Expression, context: PlanContext) -> Any:
    """The Python value of a constant expression; the present is the statement's time.

    Raises InvalidSchemaError: it is no constant; SyntaxError: it is no expression.
    """
    single = TOKEN_PATTERN.fullmatch(expression.text)
    if single is not None and single.lastindex == TokenKind.STRING:
        return unquote(expression.text)
    tree = fold_current(expression_tree(expression), context)
    value = constant(tree, context)
    if context.bound_parameters is not None:
        if isinstance(value, Hole):
            key = _key_in_statement(value.key, expression, context.bound_parameters)
            return context.bound_parameters.value(key, "")
        if value is None:
            value = constant(_with_values(tree, expression, context.bound_parameters), context)
    if not isinstance(value, Constant):
        raise InvalidSchemaError(
            f"{expression} is no constant",
            hint="write a literal, or an expression of literals",
            span=expression.span,
        )
    return value.value


def _key_in_statement(
    key: ParameterKey, expression: Expression, bound: BoundParameters
) -> ParameterKey:
    """The key in its statement of a parameter of an expression, which counts its own `?`."""
    return key + _questions_before(expression.start, bound.text) if isinstance(key, int) else key


def _with_values(tree: exp.Expr, expression: Expression, bound: BoundParameters) -> exp.Expr:
    """An expression with literals in the place of its parameters; changed in place."""
    for node in nodes_of(tree, exp.Placeholder):
        key = _key_in_statement(parameter_key(node), expression, bound)
        node.replace(literal(bound.value(key, ""), key))
    return tree


def _questions_before(offset: int, text: str) -> int:
    """How many `?` stand before a place of a statement."""
    tokens = takewhile(lambda token: token.start < offset, tokenize(text))
    return sum(token.kind is TokenKind.PARAMETER and token.text == "?" for token in tokens)


def cell_of(expression: Expression, column: ColumnSchema, context: PlanContext) -> Cell:
    """A constant expression as the cell of a column.

    Raises DataError: the value does not fit; the message names the column; InvalidSchemaError: it
    is no constant.
    """
    value = value_of(expression, context)
    try:
        return to_cell(value, column.type)
    except DataError as error:
        raise type(error)(
            f"column '{column.name}': {error.message}",
            hint=error.hint,
            span=expression.span,
            sqlstate=error.sqlstate,
        ) from error


def expression_tree(expression: Expression, kind: str = "constant") -> exp.Expr:
    """The tree of an expression, places as in the statement.

    `kind`: what it should be, for the error. Raises InvalidSchemaError: it is more than one
    expression; SyntaxError: it is none.
    """
    head = "SELECT "
    before = max(0, expression.start - len(head))  # so that positions are those of the statement
    tree = parse(" " * before + head + expression.text, before)
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or tree.args.get("from_"):
        raise InvalidSchemaError(f"{expression} is no {kind}", span=expression.span)
    only: exp.Expr = tree.expressions[0]
    return only
