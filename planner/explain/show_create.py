"""SHOW CREATE TABLE: a table as the statement that makes it again.

The key is always a separate item, every attribute that differs from the type's default is spelled
out, and the text plans to the same schema and partitions.
"""

from collections.abc import Collection

from pykudu_sql.planner.ddl_grammar.syntax import IDENTITY, property_list
from pykudu_sql.planner.parse.lexer import quote_string
from pykudu_sql.storage.catalog.namespace import ViewInfo, database_of
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.column_defaults import default_sql
from pykudu_sql.storage.common.partition.partition_text import partition_by_sql
from pykudu_sql.storage.common.quoted_name import quoted_full_name, quoted_name
from pykudu_sql.storage.common.types.schema import DEFAULT_BLOCK_SIZE, ColumnSchema, Schema
from pykudu_sql.storage.common.types.types import AUTO_ENCODING, Compression


def create_table_sql(table: TableInfo, databases: Collection[str] = ()) -> str:
    """The CREATE TABLE statement of a table, without a semicolon.

    `databases`: that there are; a dot behind none of them is part of the table's own name.
    """
    is_split = database_of(table.name) in databases
    name = quoted_full_name(table.name) if is_split else quoted_name(table.name)
    schema = table.schema
    items = [f"  {_column(column, schema)}" for column in schema.visible_columns]
    key = ", ".join(quoted_name(c.name) for c in schema.key_columns if not schema.is_hidden(c))
    if key:
        unique = "NON UNIQUE " if schema.auto_incrementing else ""
        items.append(f"  {unique}PRIMARY KEY ({key})")
    for check in table.checks:
        items.append(f"  CONSTRAINT {quoted_name(check.name)} CHECK ({check.text(schema)})")
    parts = [f"CREATE TABLE {name} (\n" + ",\n".join(items) + "\n)"]
    partitions = partition_by_sql(schema, table.partition_schema)
    if partitions:
        parts.append(partitions)
    if table.comment:
        parts.append(f"COMMENT {quote_string(table.comment)}")
    parts.append("STORED AS KUDU")
    if table.properties:
        parts.append(f"TBLPROPERTIES ({property_list(sorted(table.properties.items()))})")
    return "\n".join(parts)


def create_view_sql(view: ViewInfo) -> str:
    """The CREATE VIEW statement of a view, without a semicolon."""
    columns = ", ".join(
        quoted_name(c.name) + (f" COMMENT {quote_string(c.comment)}" if c.comment else "")
        for c in view.columns
    )
    comment = f" COMMENT {quote_string(view.comment)}" if view.comment else ""
    return f"CREATE VIEW {quoted_full_name(view.name)} ({columns}){comment} AS\n{view.query}"


def _column(column: ColumnSchema, schema: Schema) -> str:
    parts = [quoted_name(column.name), str(column.type)]
    if column.identity:
        parts.append(IDENTITY)
    if not column.nullable and column.id not in schema.key_ids:
        parts.append("NOT NULL")
    if column.immutable:
        parts.append("IMMUTABLE")
    if column.encoding != AUTO_ENCODING:
        parts.append(f"ENCODING {column.encoding}")
    if column.compression is not Compression.DEFAULT_COMPRESSION:
        parts.append(f"COMPRESSION {column.compression}")
    default = default_sql(column)
    if default is not None:
        parts.append(f"DEFAULT {default}")
    if column.block_size != DEFAULT_BLOCK_SIZE:
        parts.append(f"BLOCK_SIZE {column.block_size}")
    if column.comment:
        parts.append(f"COMMENT {quote_string(column.comment)}")
    return " ".join(parts)
