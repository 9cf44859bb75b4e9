"""Expressions for Spark: each is translated with its type, by the table of its node's class.

Whether an operator or a call means the same on both engines depends on the types of its operands.
Only what `spark_operators` or `spark_functions` handles reaches Spark.
"""

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from pykudu_sql.planner.spark.spark_casts import read_moment
from pykudu_sql.planner.spark.spark_scope import Outputs, SparkScope, describe
from pykudu_sql.planner.spark.spark_types import (
    NotOnSparkError,
    Typed,
    ValueType,
    common_type,
    meeting,
)

Subqueries = Callable[[exp.Expr, SparkScope], tuple[exp.Expr, Outputs]]
Handler = Callable[["Expressions", exp.Expr, SparkScope], Typed]


class Expressions:
    """Translates expressions; subqueries are handed back to whom it belongs."""

    def __init__(self, subqueries: Subqueries, handlers: Mapping[type[exp.Expr], Handler]) -> None:
        """Ready to translate.

        Args:
            subqueries: translates a query within an expression.
            handlers: translate operators and calls, by the class of the node.
        """
        self.subqueries = subqueries
        self._handlers = handlers

    def typed(self, node: exp.Expr, scope: SparkScope) -> Typed:
        """An expression in Spark's SQL.

        Raises NotOnSparkError: Spark would not, or might not, give the same.
        """
        if isinstance(node, exp.Anonymous):
            node = _parsed_call(node)
        handler = self._handlers.get(type(node))
        if handler is None:
            raise NotOnSparkError(describe(node))
        return handler(self, node, scope)

    def condition(self, node: exp.Expr, scope: SparkScope) -> exp.Expr:
        """An expression that is true or not."""
        typed = self.typed(node, scope)
        if typed.type not in (ValueType.BOOLEAN, ValueType.NULL):
            raise NotOnSparkError(f"a condition of type {typed.type.name}")
        return typed.node

    def number(self, node: exp.Expr, scope: SparkScope) -> Typed:
        """An expression one can calculate with."""
        typed = self.typed(node, scope)
        if not typed.type.is_number:
            raise NotOnSparkError(f"{describe(node)} of type {typed.type.name} as a number")
        return typed

    def text(self, node: exp.Expr, scope: SparkScope) -> Typed:
        """An expression that is text."""
        typed = self.typed(node, scope)
        if typed.type is not ValueType.TEXT:
            raise NotOnSparkError(f"{describe(node)} of type {typed.type.name} as text")
        return typed

    def together(
        self, nodes: Sequence[exp.Expr], scope: SparkScope
    ) -> tuple[list[exp.Expr], ValueType]:
        """Expressions that meet in a comparison or a column, and their common type."""
        return meeting(_days_read([self.typed(node, scope) for node in nodes]))


def _parsed_call(call: exp.Anonymous) -> exp.Expr:
    """A call that a rewrite made by its name, as the node that the parser makes of it."""
    try:
        return exp.func(call.name, *call.expressions, dialect="duckdb")
    except ValueError as error:
        raise NotOnSparkError(describe(call)) from error


def _days_read(values: list[Typed]) -> list[Typed]:
    """The values, text that is written out beside days taken as such."""
    moments = [value.type for value in values if value.type.is_moment]
    if not moments:
        return values
    common = common_type(moments)
    return [read_moment(v.node, common) if v.type is ValueType.TEXT else v for v in values]
