"""Correlation names: how a writing statement calls its tables, and columns qualified so."""

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.relations import Relation
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.storage.catalog.namespace import database_of, own_name
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.errors import UndefinedColumnError


@dataclass(frozen=True, slots=True)
class CorrelationName:
    """The name of an item of a FROM clause.

    Attributes:
        alias: the name its columns are qualified with.
        database: that may stand before it, where it is a table's own name; None for an alias.
    """

    alias: str
    database: str | None

    def column(self, name: str) -> exp.Column:
        """One of its columns, qualified."""
        return exp.column(name, table=self.alias, db=self.database)

    def qualify(self, column: exp.Column) -> None:
        """Give a column without a qualifier this one, in place."""
        qualified = self.column(column.name)
        for key in ("table", "db"):
            column.set(key, qualified.args.get(key))

    def is_named_by(self, column: exp.Column) -> bool:
        """Whether a column has no qualifier, or one that names this."""
        if not column.table:
            return True
        fits = column.table.lower() == self.alias.lower() and not column.args.get("catalog")
        return fits and column.db.lower() in ("", self.database)

    def check_owns(self, column: exp.Column, what: str) -> None:
        """See that a column to be written is one of this; `what`: clause and verb, for the error.

        Raises UndefinedColumnError: its qualifier names another table.
        """
        if not self.is_named_by(column):
            other = ".".join(part.name for part in column.parts[:-1])
            raise UndefinedColumnError(
                f"{what} columns of '{self.alias}', and '{other}' is another table",
                span=node_span(column),
            )


def name_of_target(node: exp.Table, table: TableInfo) -> CorrelationName:
    """What a mention of the table to be written calls it."""
    return CorrelationName(node.alias, None) if node.alias else name_of_table(table)


def name_of_table(table: TableInfo) -> CorrelationName:
    """What a table is called that has no alias."""
    return CorrelationName(own_name(table.name), database_of(table.name))


def name_of_relation(relation: Relation) -> CorrelationName:
    """What a relation of a bound query is called."""
    return CorrelationName(relation.alias, relation.database)
