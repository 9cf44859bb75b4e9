"""Steps of ALTER TABLE, and their effect on a table's description.

A step is a value; `apply_steps` folds any number of them over a `TableInfo` and either returns the
new one or raises, so that a statement with many steps is atomic (Kudu's rules:
`master/catalog_manager.cc`, `docs/design-docs/schema-change.md`).
"""

import uuid
from collections.abc import Sequence
from dataclasses import asdict, replace
from types import MappingProxyType

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.check_constraint import CheckConstraint, check_names
from pykudu_sql.storage.catalog.schema_changes import (
    add_column,
    drop_column,
    rename_column,
    replace_column,
    set_nullable,
    set_type,
)
from pykudu_sql.storage.catalog.table_info import TableInfo, TabletInfo
from pykudu_sql.storage.cfile.encoding.type_encodings import resolve_encoding
from pykudu_sql.storage.common.default_function import DefaultFunction
from pykudu_sql.storage.common.partition.partition import PartitionSchema, RangePartition
from pykudu_sql.storage.common.types.identifiers import check_comment, check_identifier
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema
from pykudu_sql.storage.common.types.table_properties import check_properties
from pykudu_sql.storage.common.types.types import Cell, Compression, DataType, Encoding
from pykudu_sql.storage.errors import DuplicateObjectError, InvalidSchemaError, UndefinedObjectError


@dataclass(frozen=True, slots=True)
class AddColumn:
    """Append a column; its write default becomes the read default of the rows already there.

    See `Schema.add_column` for functions.
    """

    column: ColumnSchema


@dataclass(frozen=True, slots=True)
class DropColumn:
    """Drop a column that is not in the key."""

    name: str


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """Give a column another name."""

    name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class SetDefault:
    """Change what later INSERTs store when they leave the column out; None drops it.

    `value`: a constant; `function`: what computes it instead.
    """

    name: str
    value: Cell
    function: DefaultFunction | None = None


@dataclass(frozen=True, slots=True)
class SetAttributes:
    """Change attributes of a column; None leaves one as it is.

    How a column is stored changes for files written from now on.
    """

    name: str
    encoding: Encoding | None = None
    compression: Compression | None = None
    block_size: int | None = None
    comment: str | None = None
    immutable: bool | None = None


@dataclass(frozen=True, slots=True)
class SetNullable:
    """Let a column hold NULL, or no NULL any more; the rows that are there are checked."""

    name: str
    nullable: bool


@dataclass(frozen=True, slots=True)
class SetType:
    """Give a column a type that has every value of the one it has; rows stay as they are stored."""

    name: str
    type: DataType


@dataclass(frozen=True, slots=True)
class AddCheck:
    """Refuse rows that make a condition false from now on; those that are there are checked."""

    constraint: CheckConstraint


@dataclass(frozen=True, slots=True)
class DropCheck:
    """Drop a CHECK constraint."""

    name: str


@dataclass(frozen=True, slots=True)
class AddRange:
    """Add a range partition."""

    range: RangePartition


@dataclass(frozen=True, slots=True)
class DropRange:
    """Drop a range partition and the rows in it."""

    range: RangePartition


@dataclass(frozen=True, slots=True)
class RenameTable:
    """Give the table another name."""

    new_name: str


@dataclass(frozen=True, slots=True)
class SetTableComment:
    """Change the comment of the table."""

    comment: str


@dataclass(frozen=True, slots=True)
class SetProperties:
    """Set properties of the table; a value of None removes one."""

    values: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class CreateIndex:
    """Keep skip indexes of some columns in the files written from now on."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DropIndex:
    """Keep the skip indexes of an index no longer."""

    name: str


AlterStep = (
    AddColumn | DropColumn | RenameColumn | SetDefault | SetAttributes | AddRange | DropRange
    | RenameTable | SetTableComment | SetProperties | CreateIndex | DropIndex
    | SetNullable | SetType | AddCheck | DropCheck
)  # fmt: skip


def apply_steps(table: TableInfo, steps: Sequence[AlterStep]) -> TableInfo:
    """The table after all steps.

    Raises UndefinedColumnError, DuplicateObjectError, InvalidSchemaError: a step breaks a rule; the
    table given is unchanged in any case.
    """
    for step in steps:
        table = _apply(table, step)
    return table


def _apply(table: TableInfo, step: AlterStep) -> TableInfo:
    schema = table.schema
    match step:
        case AddColumn(column):
            resolve_encoding(column.type, column.encoding)
            return replace(table, schema=add_column(schema, column))
        case DropColumn(name):
            return _without_column(table, name)
        case RenameColumn(name, new_name):
            return replace(table, schema=rename_column(schema, name, new_name))
        case SetDefault(name, value, function):
            column = schema.column(name)
            column = replace(column, write_default=value, default_function=function)
            return replace(table, schema=replace_column(schema, column))
        case SetAttributes():
            column = _with_attributes(schema.column(step.name), step)
            resolve_encoding(column.type, column.encoding)
            return replace(table, schema=replace_column(schema, column))
        case SetNullable(name, nullable):
            return replace(table, schema=set_nullable(schema, name, nullable))
        case SetType(name, column_type):
            return _with_type(table, name, column_type)
        case AddCheck(constraint):
            check_names([*table.checks, constraint])
            return replace(table, checks=(*table.checks, constraint))
        case DropCheck(name):
            return _without_check(table, name)
        case RenameTable(new_name):
            check_identifier(new_name, "table")
            return replace(table, name=new_name)
        case SetTableComment(comment):
            check_comment(comment, f"table '{table.name}'")
            return replace(table, comment=comment)
        case SetProperties(values):
            merged = {**table.properties, **dict(values)}
            properties = {name: text for name, text in merged.items() if text is not None}
            check_properties(properties)
            return replace(table, properties=MappingProxyType(properties))
        case CreateIndex(name, columns):
            return replace(table, schema=_with_index(table, name, columns))
        case DropIndex(name):
            return replace(table, schema=_without_index(table, name))
        case AddRange(added):
            return repartition(table, table.partition_schema.add_range(schema, added))
        case DropRange(dropped):
            return repartition(table, table.partition_schema.drop_range(schema, dropped))


def _with_index(table: TableInfo, name: str, columns: Sequence[str]) -> Schema:
    check_identifier(name, "index")
    schema = table.schema
    if name in schema.indexes:
        raise DuplicateObjectError(
            f"index '{name}' of table '{table.name}' exists already",
            hint="choose another name, or drop it first",
        )
    for column in map(schema.column, dict.fromkeys(columns)):
        indexed = replace(column, indexes=(*column.indexes, name))
        schema = replace_column(schema, indexed)
    return schema


def _without_index(table: TableInfo, name: str) -> Schema:
    schema = table.schema
    if name not in schema.indexes:
        raise UndefinedObjectError(
            f"index '{name}' does not exist in table '{table.name}'",
            hint=f"SHOW INDEXES {table.name} lists them",
        )
    for column in schema.indexes[name]:
        rest = tuple(index for index in column.indexes if index != name)
        schema = replace_column(schema, replace(column, indexes=rest))
    return schema


def _without_check(table: TableInfo, name: str) -> TableInfo:
    left = tuple(check for check in table.checks if check.name != name)
    if len(left) == len(table.checks):
        listed = ", ".join(check.name for check in table.checks)
        raise UndefinedObjectError(
            f"constraint '{name}' of table '{table.name}' does not exist",
            hint=f"there are {listed}" if listed else "SHOW CREATE TABLE shows what there is",
        )
    return replace(table, checks=left)


def _without_column(table: TableInfo, name: str) -> TableInfo:
    schema = drop_column(table.schema, name)
    column_id = table.schema.column(name).id
    check = next((check for check in table.checks if column_id in check.column_ids), None)
    if check is not None:
        raise InvalidSchemaError(
            f"CHECK constraint '{check.name}' is about column '{name}'",
            hint=f"drop it first: ALTER TABLE {table.name} DROP CONSTRAINT {check.name}, "
            f"DROP COLUMN {name}",
        )
    return replace(table, schema=schema)


def _with_type(table: TableInfo, name: str, column_type: DataType) -> TableInfo:
    schema = set_type(table.schema, name, column_type)
    column = schema.column(name)
    resolve_encoding(column_type, column.encoding)
    return replace(table, schema=schema)


def _with_attributes(column: ColumnSchema, step: SetAttributes) -> ColumnSchema:
    attributes = {name: value for name, value in asdict(step).items() if value is not None}
    return replace(column, **{**attributes, "name": column.name})


def repartition(table: TableInfo, partition_schema: PartitionSchema) -> TableInfo:
    """The table under another partition schema: equal partitions keep their tablets."""
    existing = {tablet.partition: tablet for tablet in table.tablets}
    tablets = tuple(
        existing.get(partition) or TabletInfo(str(uuid.uuid4()), partition)
        for partition in partition_schema.partitions()
    )
    return replace(table, partition_schema=partition_schema, tablets=tablets)
