"""The residual SQL of a query in Spark's dialect, where Spark gives the very same answer.

Both engines are generated from one tree: what binding, rules and push-down left of the statement.
Here it is qualified (every column with its source, no `*`, no USING), each part is translated with
its type, and what is not on the list of what was tested on both engines is refused with a reason;
then the embedded engine runs it. sqlglot's own translation is not relied on: it is silently wrong
for divisions, ordered aggregates and percentiles, and knows no types of literals.
"""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from pykudu_sql.planner.parse.dialect import Kudu
from pykudu_sql.planner.parse.printable_calls import with_printable_aggregates
from pykudu_sql.planner.plan.query_plans import Query, Scan
from pykudu_sql.planner.printing.engine_sql import check_spark
from pykudu_sql.planner.spark.spark_expressions import Expressions
from pykudu_sql.planner.spark.spark_functions import FUNCTIONS, ordered
from pykudu_sql.planner.spark.spark_operators import OPERATORS
from pykudu_sql.planner.spark.spark_scope import Outputs, SparkScope, describe, only
from pykudu_sql.planner.spark.spark_types import NotOnSparkError, common_type, type_of_column
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.value_bounds.value_bounds import without_bounds
from pykudu_sql.storage.errors import Error

_KINDS = frozenset({"", "INNER", "CROSS", "OUTER", "SEMI", "ANTI"})
_SELECT = (
    "expressions", "from_", "joins", "where", "group", "having", "qualify", "distinct", "order",
    "limit", "offset", "with_",
)  # fmt: skip
_SET_OPERATION = ("this", "expression", "distinct", "order", "limit", "offset", "with_")


def spark_sql(query: Query, parameters: Sequence[Any]) -> str:
    """A query in Spark's SQL, over views with the names of its scans.

    `parameters`: Python values of `$1`, `$2`, ...; they are written into the text. Raises
    NotOnSparkError: Spark would not, or might not, give the same answer.
    """
    try:
        tree = _filled(without_bounds(query.residual.copy()), parameters)
        shapes = {scan.name: _shape(scan) for scan in query.scans}
        tree = qualify(
            tree, dialect=Kudu(), schema=_schema(query.scans), validate_qualify_columns=False
        )
        _Translation().query(tree, SparkScope(shapes))
        printable = with_printable_aggregates(tree)
        sql = str(
            printable.sql(
                "spark", identify=True, comments=False, unsupported_level=ErrorLevel.RAISE
            )
        )
        check_spark(sql, tree)
        return sql
    except (SqlglotError, Error) as error:
        lines = str(error).splitlines() or [type(error).__name__]
        raise NotOnSparkError(f"the statement could not be translated: {lines[0]}") from error


def _shape(scan: Scan) -> Outputs:
    columns = (scan.table.schema.by_id[i] for i in scan.column_ids)
    return tuple((column.name, type_of_column(column.type)) for column in columns)


def _schema(scans: Sequence[Scan]) -> MappingSchema:
    """The names of columns; their types are no concern of `qualify`."""
    names: dict[str, object] = {
        scan.name: {name: "INT" for name, _ in _shape(scan)} for scan in scans
    }
    return MappingSchema(names, dialect=Kudu())


def _filled(tree: exp.Expr, parameters: Sequence[Any]) -> exp.Expr:
    """The tree with its parameters written out."""
    for node in nodes_of(tree, exp.Placeholder, exp.Parameter):
        node.replace(_written(parameters[int(node.name) - 1]))
    return tree


def _written(value: Any) -> exp.Expr:
    """A parameter as a literal of the type that the embedded engine takes it for."""
    match value:
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=value)
        case int():
            return _signed(str(abs(value)), value < 0)
        case Decimal() if value.is_finite():
            return _signed(f"{abs(value):f}", value < 0)
        case float() if math.isfinite(value):
            return exp.cast(exp.Literal.string(repr(value)), "DOUBLE")
        case str():
            return exp.Literal.string(value)
        case bytes():
            return exp.Unhex(this=exp.Literal.string(value.hex()))
        case dt.datetime() if value.tzinfo is None:
            return exp.cast(exp.Literal.string(value.isoformat(" ")), "TIMESTAMP")
        case dt.date() if not isinstance(value, dt.datetime):
            return exp.cast(exp.Literal.string(value.isoformat()), "DATE")
        case _:
            raise NotOnSparkError(f"a parameter of type {type(value).__name__}")


def _signed(digits: str, negative: bool) -> exp.Expr:
    number = exp.Literal.number(digits)
    return exp.Paren(this=exp.Neg(this=number)) if negative else number


class _Translation:
    """Translates the queries of one statement, in place; their expressions are made anew."""

    def __init__(self) -> None:
        self._expressions = Expressions(self._subquery, {**OPERATORS, **FUNCTIONS})

    def _subquery(self, node: exp.Expr, outer: SparkScope) -> tuple[exp.Expr, Outputs]:
        """A query within an expression."""
        copy = node.copy()
        return copy, self.query(copy, SparkScope(outer.tables, outer))

    def query(self, node: exp.Expr, scope: SparkScope) -> Outputs:
        """Translate a query of any kind; its columns."""
        scope = self._with(node, scope)
        match node:
            case exp.Select():
                return self._select(node, scope)
            case exp.SetOperation():
                return self._set_operation(node, scope)
            case exp.Subquery():
                only(node, "this", "alias", "with_")
                return self.query(node.this, scope)
            case _:
                raise NotOnSparkError(describe(node))

    def _with(self, node: exp.Expr, scope: SparkScope) -> SparkScope:
        clause = node.args.get("with_")
        if clause is None:
            return scope
        if clause.args.get("recursive"):
            raise NotOnSparkError("WITH RECURSIVE")
        tables: Mapping[str, Outputs] = scope.tables
        for each in clause.expressions:
            # Spark has no such word. It says how often a query runs, not what it answers.
            each.set("materialized", None)
            only(each, "this", "alias")
            outputs = self.query(each.this, SparkScope(tables, scope.outer))
            tables = {**tables, each.alias.lower(): _renamed(outputs, each.args["alias"])}
        return SparkScope(tables, scope.outer)

    def _set_operation(self, node: exp.Expr, scope: SparkScope) -> Outputs:
        only(node, *_SET_OPERATION)
        left = self.query(node.this, SparkScope(scope.tables, scope.outer))
        right = self.query(node.expression, SparkScope(scope.tables, scope.outer))
        outputs = tuple(
            (name, common_type([kind, other]))
            for (name, kind), (_, other) in zip(left, right, strict=True)
        )
        scope.aliases = dict(outputs)
        self._ordering(node, scope)
        return outputs

    def _select(self, node: exp.Select, scope: SparkScope) -> Outputs:
        only(node, *_SELECT)
        self._sources(node, scope)
        typed = self._expressions
        where = node.args.get("where")
        if where is not None:
            where.set("this", typed.condition(where.this, scope))
        items = [typed.typed(item, scope) for item in node.expressions]
        self._groups(node, scope)
        for clause in ("having", "qualify"):
            condition = node.args.get(clause)
            if condition is not None:
                condition.set("this", typed.condition(condition.this, scope))
        distinct = node.args.get("distinct")
        if distinct is not None:
            only(distinct)
        outputs = tuple((item.node.alias_or_name.lower(), item.type) for item in items)
        scope.aliases = dict(outputs)
        self._ordering(node, scope)
        node.set("expressions", [item.node for item in items])
        return outputs

    def _groups(self, node: exp.Expr, scope: SparkScope) -> None:
        group = node.args.get("group")
        if group is None:
            return
        only(group, "expressions")
        keys = [self._expressions.typed(key, scope).node for key in group.expressions]
        group.set("expressions", keys)

    def _ordering(self, node: exp.Expr, scope: SparkScope) -> None:
        """ORDER BY, LIMIT and OFFSET."""
        order = node.args.get("order")
        if order is not None:
            node.set("order", ordered(self._expressions, order, scope))
        for clause in ("limit", "offset"):
            count = node.args.get(clause)
            if count is not None:
                only(count, "expression")
                if not isinstance(count.expression, exp.Literal):
                    raise NotOnSparkError(f"{clause.upper()} that is no plain number")

    def _sources(self, node: exp.Select, scope: SparkScope) -> None:
        source = node.args.get("from_")
        if source is not None:
            self._source(source.this, scope)
        joins = node.args.get("joins") or ()
        for join in joins:
            only(join, "this", "side", "kind", "on")
            if join.kind.upper() not in _KINDS:
                raise NotOnSparkError(f"{join.kind.upper()} JOIN")
            self._source(join.this, scope)
        for join in joins:
            condition = join.args.get("on")
            if condition is not None:
                join.set("on", self._expressions.condition(condition, scope))

    def _source(self, node: exp.Expr, scope: SparkScope) -> None:
        """A table, a WITH query or a query in FROM."""
        alias = node.alias_or_name.lower()
        if isinstance(node, exp.Table):
            only(node, "this", "alias")
            columns = scope.tables.get(node.name.lower())
            if columns is None:
                raise NotOnSparkError(f"{node.name} in FROM")
        elif isinstance(node, exp.Subquery):
            only(node, "this", "alias")
            columns = self.query(node.this, SparkScope(scope.tables, scope.outer))
        else:
            raise NotOnSparkError(f"{describe(node)} in FROM")
        scope.sources[alias] = dict(_renamed(columns, node.args.get("alias")))


def _renamed(columns: Outputs, alias: exp.Expr | None) -> Outputs:
    """Columns under the names that an alias such as `t (a, b)` gives them."""
    names = (
        [] if alias is None else [column.name.lower() for column in alias.args.get("columns") or ()]
    )
    if not names:
        return columns
    if len(names) != len(columns):
        raise NotOnSparkError("names for some of the columns of a source")
    return tuple((new, kind) for new, (_, kind) in zip(names, columns, strict=True))
