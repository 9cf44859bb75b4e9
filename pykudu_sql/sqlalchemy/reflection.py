"""What a database has, as SQLAlchemy's inspector asks for it.

Read from `information_schema`, as of the moment that a connection reads, and from the `sys` tables,
which show the present. A database is a schema to SQLAlchemy; `default` is the one without a
name.
"""

import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import exc, text
from sqlalchemy.engine import Connection, reflection
from sqlalchemy.engine.interfaces import (
    ReflectedCheckConstraint,
    ReflectedColumn,
    ReflectedIndex,
    ReflectedPrimaryKeyConstraint,
    ReflectedTableComment,
)

from pykudu_sql.sqlalchemy.types import reflected_type

DEFAULT_SCHEMA = "default"
_PARTITION_BY = re.compile(r"^PARTITION BY (.*?)^(?:COMMENT|TBLPROPERTIES|STORED AS)", re.M | re.S)
_NAMES = "SELECT table_name FROM information_schema.tables WHERE table_schema = :schema"


def schema_of(name: str | None) -> str:
    """The database of a schema's name."""
    return DEFAULT_SCHEMA if name is None else name.lower()


def rows(connection: Connection, sql: str, **values: str) -> Sequence[Any]:
    """The rows of a query."""
    return connection.execute(text(sql), values).fetchall()


def table_kind(connection: Connection, table: str, schema: str | None) -> str | None:
    """`BASE TABLE`, `VIEW` or None where there is neither."""
    sql = _NAMES.replace("SELECT table_name", "SELECT table_type") + " AND table_name = :table"
    kinds = rows(connection, sql, schema=schema_of(schema), table=table.lower())
    return str(kinds[0][0]) if kinds else None


def require(connection: Connection, table: str, schema: str | None) -> str:
    """The kind of a table or view. Raises NoSuchTableError: there is none."""
    kind = table_kind(connection, table, schema)
    if kind is None:
        raise exc.NoSuchTableError(table if schema is None else f"{schema}.{table}")
    return kind


def relation_names(connection: Connection, schema: str | None, kind: str) -> list[str]:
    """Names of the tables or views of a database, sorted."""
    sql = f"{_NAMES} AND table_type = :kind ORDER BY table_name"
    return [str(row[0]) for row in rows(connection, sql, schema=schema_of(schema), kind=kind)]


def columns(connection: Connection, table: str, schema: str | None) -> list[ReflectedColumn]:
    """The columns of a table or view. Raises NoSuchTableError: there is none."""
    require(connection, table, schema)
    result = rows(
        connection,
        "SELECT column_name, data_type, is_nullable, column_default, is_identity, comment "
        "FROM information_schema.columns WHERE table_schema = :schema AND table_name = :table "
        "ORDER BY ordinal_position",
        schema=schema_of(schema),
        table=table.lower(),
    )
    return [
        {
            "name": name,
            "type": reflected_type(data_type),
            "nullable": nullable == "YES",
            "default": default,
            "comment": comment or None,
            "autoincrement": identity == "YES",
        }
        for name, data_type, nullable, default, identity, comment in result
    ]


def primary_key(
    connection: Connection, table: str, schema: str | None
) -> ReflectedPrimaryKeyConstraint:
    """The key of a table, without a hidden column. Raises NoSuchTableError: there is none."""
    require(connection, table, schema)
    key = rows(
        connection,
        "SELECT column_name, constraint_name FROM information_schema.key_column_usage "
        "WHERE table_schema = :schema AND table_name = :table ORDER BY ordinal_position",
        schema=schema_of(schema),
        table=table.lower(),
    )
    return {"constrained_columns": [row[0] for row in key], "name": None}


def indexes(connection: Connection, table: str, schema: str | None) -> list[ReflectedIndex]:
    """The skip indexes of a table. Raises NoSuchTableError: there is none."""
    if require(connection, table, schema) == "VIEW":
        return []
    by_name: dict[str, list[str | None]] = {}
    for row in rows(connection, f"SHOW INDEXES IN {_mention(connection, table, schema)}"):
        by_name.setdefault(row[0], []).append(row[1])
    return [
        {"name": name, "column_names": names, "unique": False, "dialect_options": {}}
        for name, names in sorted(by_name.items())
    ]


def check_constraints(
    connection: Connection, table: str, schema: str | None
) -> list[ReflectedCheckConstraint]:
    """The CHECK constraints of a table. Raises NoSuchTableError: there is none."""
    require(connection, table, schema)
    result = rows(
        connection,
        "SELECT constraint_name, check_clause FROM information_schema.check_constraints "
        "WHERE table_schema = :schema AND table_name = :table ORDER BY constraint_name",
        schema=schema_of(schema),
        table=table.lower(),
    )
    return [{"name": name, "sqltext": condition} for name, condition in result]


def table_comment(connection: Connection, table: str, schema: str | None) -> ReflectedTableComment:
    """The comment of a table or view. Raises NoSuchTableError: there is none."""
    require(connection, table, schema)
    full = table if schema_of(schema) == DEFAULT_SCHEMA else f"{schema}.{table}"
    result = rows(
        connection, "SELECT comment FROM sys.tables WHERE name = :name", name=full.lower()
    )
    return {"text": (result[0][0] or None) if result else None}


def table_options(connection: Connection, table: str, schema: str | None) -> dict[str, Any]:
    """How a table is partitioned. Raises NoSuchTableError: there is none."""
    if require(connection, table, schema) == "VIEW":
        return {}
    statement = rows(connection, f"SHOW CREATE TABLE {_mention(connection, table, schema)}")[0][0]
    partitions = _PARTITION_BY.search(statement)
    return {"pykudu_partition_by": partitions[1].strip()} if partitions else {}


def view_definition(connection: Connection, view: str, schema: str | None) -> str:
    """The query of a view. Raises NoSuchTableError: there is none."""
    result = rows(
        connection,
        "SELECT view_definition FROM information_schema.views "
        "WHERE table_schema = :schema AND table_name = :table",
        schema=schema_of(schema),
        table=view.lower(),
    )
    if not result:
        raise exc.NoSuchTableError(view if schema is None else f"{schema}.{view}")
    return str(result[0][0])


def _mention(connection: Connection, table: str, schema: str | None) -> str:
    quote = connection.dialect.identifier_preparer.quote_identifier
    return f"{quote(schema_of(schema))}.{quote(table)}"


class Reflection:
    """The inspector's questions, for `PykuduDialect`."""

    @reflection.cache
    def get_schema_names(self, connection: Connection, **kw: Any) -> list[str]:
        result = rows(connection, "SELECT schema_name FROM information_schema.schemata")
        return sorted(str(row[0]) for row in result if row[0] not in ("information_schema", "sys"))

    @reflection.cache
    def get_table_names(
        self, connection: Connection, schema: str | None = None, **kw: Any
    ) -> list[str]:
        return relation_names(connection, schema, "BASE TABLE")

    @reflection.cache
    def get_view_names(
        self, connection: Connection, schema: str | None = None, **kw: Any
    ) -> list[str]:
        return relation_names(connection, schema, "VIEW")

    def get_temp_table_names(
        self, connection: Connection, schema: str | None = None, **kw: Any
    ) -> list[str]:
        return []

    def get_temp_view_names(
        self, connection: Connection, schema: str | None = None, **kw: Any
    ) -> list[str]:
        return []

    def get_materialized_view_names(
        self, connection: Connection, schema: str | None = None, **kw: Any
    ) -> list[str]:
        return []

    def get_sequence_names(
        self, connection: Connection, schema: str | None = None, **kw: Any
    ) -> list[str]:
        return []

    @reflection.cache
    def has_table(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> bool:
        return table_kind(connection, table_name, schema) is not None

    @reflection.cache
    def has_schema(self, connection: Connection, schema_name: str, **kw: Any) -> bool:
        sql = "SELECT 1 FROM information_schema.schemata WHERE schema_name = :name"
        return bool(rows(connection, sql, name=schema_name.lower()))

    def has_sequence(self, connection: Connection, *args: Any, **kw: Any) -> bool:
        return False

    @reflection.cache
    def get_columns(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[ReflectedColumn]:
        return columns(connection, table_name, schema)

    @reflection.cache
    def get_pk_constraint(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> ReflectedPrimaryKeyConstraint:
        return primary_key(connection, table_name, schema)

    @reflection.cache
    def get_indexes(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[ReflectedIndex]:
        return indexes(connection, table_name, schema)

    @reflection.cache
    def get_table_comment(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> ReflectedTableComment:
        return table_comment(connection, table_name, schema)

    @reflection.cache
    def get_table_options(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> dict[str, Any]:
        return table_options(connection, table_name, schema)

    @reflection.cache
    def get_view_definition(
        self, connection: Connection, view_name: str, schema: str | None = None, **kw: Any
    ) -> str:
        return view_definition(connection, view_name, schema)

    def _nothing(self, connection: Connection, table: str, schema: str | None) -> list[Any]:
        require(connection, table, schema)
        return []

    def get_foreign_keys(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        return self._nothing(connection, table_name, schema)

    def get_unique_constraints(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        return self._nothing(connection, table_name, schema)

    @reflection.cache
    def get_check_constraints(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[ReflectedCheckConstraint]:
        return check_constraints(connection, table_name, schema)
