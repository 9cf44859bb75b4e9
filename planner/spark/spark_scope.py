"""The scope of names of a query while it is translated for Spark."""

from collections.abc import Iterator, Mapping
from dataclasses import field

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.spark.spark_types import NotOnSparkError, ValueType

Outputs = tuple[tuple[str, ValueType], ...]


@dataclass(slots=True)
class SparkScope:
    """The sources of one SELECT.

    Attributes:
        tables: stored tables and WITH queries by name, with their columns.
        outer: the SELECT around a subquery.
        sources: columns of each source in FROM, by alias.
        aliases: names of the SELECT list, which ORDER BY may use.
    """

    tables: Mapping[str, Outputs]
    outer: "SparkScope | None" = None
    sources: dict[str, Mapping[str, ValueType]] = field(default_factory=dict)
    aliases: Mapping[str, ValueType] = field(default_factory=dict)

    def column(self, node: exp.Column) -> ValueType:
        """The type of a column. Raises NotOnSparkError: its source is not in the scope."""
        name, table = node.name.lower(), node.table.lower()
        if not table and name in self.aliases:
            if not _orders_rows(node):
                # Here a column of that name comes first; to Spark the name of the SELECT list.
                raise NotOnSparkError(f"an expression over the output name {node.name}")
            return self.aliases[name]
        for scope in self._chain():
            column_type = scope.sources.get(table, {}).get(name)
            if column_type is not None:
                return column_type
        raise NotOnSparkError(f"the name {node.name} could not be followed to its table")

    def _chain(self) -> "Iterator[SparkScope]":
        scope: SparkScope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer


def _orders_rows(node: exp.Column) -> bool:
    """Whether a name alone is an item of a query's ORDER BY."""
    item = node.parent
    ordering = item.parent if isinstance(item, exp.Ordered) else None
    return ordering is not None and isinstance(ordering.parent, exp.Query)


def only(node: exp.Expr, *names: str) -> None:
    """See that a node has nothing but the parts that are known.

    Raises NotOnSparkError: it has more.
    """
    for name, value in node.args.items():
        if value and name not in names:
            raise NotOnSparkError(f"{name.strip('_').upper()} of {describe(node)}")


def describe(node: exp.Expr) -> str:
    """What a node is, for people."""
    if isinstance(node, exp.WithinGroup):
        return describe(node.this)
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return f"{node.name.lower()}()"
    if isinstance(node, exp.Func):
        return f"{type(node).sql_names()[0].lower()}()"
    return node.key.upper()
