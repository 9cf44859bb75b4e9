"""The table a statement writes, and constants written back into trees."""

from sqlglot import exp

from pykudu_sql.planner.bind.named_table import existing_table
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.plan.context import PlanContext, check_writable
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.range_bound import literal
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell, Kind
from pykudu_sql.storage.errors import NotSupportedError, SyntaxError


def mentioned_table(node: exp.Expr, context: PlanContext) -> TableInfo:
    """The table to write that a node of a parsed statement names.

    Raises UndefinedTableError, ProgrammingError, ReadOnlyError: as for `target_table`;
    NotSupportedError: the node names a moment of the past, or a WITH query; SyntaxError: it is no
    table.
    """
    check_writable(context.settings.as_of)
    span = node_span(node)
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        raise SyntaxError("only a table can be changed", span=span)
    if node.args.get("version") is not None:
        raise NotSupportedError("the past cannot be written", span=span)
    clause = node.root().args.get("with_")
    hiding = (query.alias.lower() for query in clause.expressions) if clause else ()
    if not node.db and node.name.lower() in hiding:
        raise NotSupportedError(
            f"a WITH query has the name of the table to be changed, '{node.name}'",
            hint="give the WITH query another name",
            span=span,
        )
    name = f"{node.db}.{node.name}" if node.db else node.name
    return existing_table(name.lower(), span, context)


def mention(name: str, alias: str) -> exp.Table:
    """A table in a FROM clause, by its name with its database, whatever that is made of."""
    whole = exp.to_identifier(name, quoted=True)
    return exp.Table(this=whole, alias=exp.TableAlias(this=exp.to_identifier(alias)))


def cell_literal(cell: Cell, column: ColumnSchema) -> exp.Expr:
    """A cell as a literal of the column's type in the engine's SQL."""
    if cell is None:
        value: exp.Expr = exp.Null()
    elif isinstance(cell, bool):
        return exp.Boolean(this=cell)
    elif isinstance(cell, bytes):
        return exp.HexString(this=cell.hex())
    elif isinstance(cell, str):
        value = exp.Literal.string(cell)
    elif column.type.kind in (Kind.DATE, Kind.UNIXTIME_MICROS, Kind.DECIMAL):
        value = exp.Literal.string(literal(cell, column.type).strip("'"))
    else:
        value = exp.Literal.string(repr(cell))
    kind = "text" if column.type.kind is Kind.VARCHAR else str(column.type)
    return exp.cast(value, kind, dialect="duckdb")
