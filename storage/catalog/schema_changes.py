"""Changes of a schema's columns, as the steps of ALTER TABLE make them; each gives a new schema.

A column keeps its id through all of them, so files and rows stay as they are.
"""

from dataclasses import replace

from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema
from pykudu_sql.storage.common.types.schema_rules import (
    check_column,
    check_column_count,
    check_identity,
    check_not_immutable_key,
    check_not_reserved,
    frozen_default,
)
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.errors import DuplicateObjectError, InvalidSchemaError


def add_column(schema: Schema, column: ColumnSchema) -> Schema:
    """A schema with one column more; the id given is replaced by the next free one.

    The write default at this moment is frozen as the read default of older rows; of a function
    of the moment the column's own read default is, its value then. Raises DuplicateObjectError:
    the name is taken; InvalidSchemaError: NOT NULL without a default, a function that has no
    one value for all rows, or a limit is passed.
    """
    if column.name in schema.by_name:
        raise DuplicateObjectError(f"column '{column.name}' exists already", sqlstate="42701")
    check_not_reserved(column.name)
    if not column.nullable and not column.has_default:
        raise InvalidSchemaError(
            f"column '{column.name}': NOT NULL columns must have a default",
            hint="add DEFAULT <value>, which the rows already there will show",
        )
    added = replace(column, id=schema.next_column_id, read_default=frozen_default(column))
    check_column(added)
    changed = replace(
        schema, columns=(*schema.columns, added), next_column_id=schema.next_column_id + 1
    )
    check_column_count(len(changed.columns))
    check_identity(changed)
    return changed


def drop_column(schema: Schema, name: str) -> Schema:
    """A schema without a column.

    Raises UndefinedColumnError: no such column; InvalidSchemaError: it belongs to the key.
    """
    column = schema.column(name)
    if column.id in schema.key_ids:
        raise InvalidSchemaError(
            f"cannot drop primary key column '{name}'",
            hint="the key is fixed when the table is created",
        )
    return replace(schema, columns=tuple(c for c in schema.columns if c.id != column.id))


def rename_column(schema: Schema, name: str, new_name: str) -> Schema:
    """A schema with a column renamed; its id and data stay.

    Raises UndefinedColumnError: no such column; DuplicateObjectError: the new name is taken.
    """
    column = schema.column(name)
    if new_name != name and new_name in schema.by_name:
        raise DuplicateObjectError(f"column '{new_name}' exists already", sqlstate="42701")
    check_not_reserved(name)
    check_not_reserved(new_name)
    return replace_column(schema, replace(column, name=new_name))


def replace_column(schema: Schema, column: ColumnSchema) -> Schema:
    """A schema with the column of the same id exchanged.

    Raises InvalidSchemaError: an attribute breaks its rule.
    """
    check_column(column)
    check_not_immutable_key(schema, column)
    changed = replace(
        schema, columns=tuple(column if c.id == column.id else c for c in schema.columns)
    )
    check_identity(changed)
    return changed


def set_nullable(schema: Schema, name: str, nullable: bool) -> Schema:
    """A schema with a column that may hold NULL, or may not any more.

    Raises UndefinedColumnError: no such column; InvalidSchemaError: it belongs to the key.
    """
    column = schema.column(name)
    if column.id in schema.key_ids and nullable:
        raise InvalidSchemaError(
            f"primary key column '{name}' cannot be NULL",
            hint="the key is fixed when the table is created",
        )
    nullable_before = column.nullable_before or column.nullable
    return replace_column(
        schema, replace(column, nullable=nullable, nullable_before=nullable_before)
    )


def set_type(schema: Schema, name: str, column_type: DataType) -> Schema:
    """A schema with a column of a type that has every value of the one it has now.

    Raises UndefinedColumnError: no such column; InvalidSchemaError: values or encoded keys that
    are there would not stay as they are.
    """
    from pykudu_sql.storage.common.types.widening import widens, wider_types

    column = schema.column(name)
    check_not_reserved(name)
    old = column.type
    if not widens(old, column_type):
        raise InvalidSchemaError(
            f"type of column '{name}' cannot be altered from {old} to {column_type}",
            hint=f"it may become {wider_types(old)}; for {column_type} add a column, UPDATE it "
            f"from '{name}', drop '{name}' and rename the new one",
        )
    if column.id in schema.key_ids and old.width != column_type.width:
        raise InvalidSchemaError(
            f"type of primary key column '{name}' cannot be altered from {old} to "
            f"{column_type}, which keys are encoded in other bytes for",
            hint=f"CREATE TABLE .. PRIMARY KEY (..) AS SELECT CAST({name} AS {column_type}) "
            "makes a table with another key",
        )
    return replace_column(schema, replace(column, type=column_type))
