"""Schemas: columns with ids that are never reused, and the key among them.

A table's schema changes over time; files do not. What joins the two is the column id (Kudu's
`docs/design-docs/schema-change.md`): files name columns by id, and reading projects by id. A
column that a file lacks reads as its *read default*, frozen when the column was added, or NULL.
The *write default* fills columns that an INSERT leaves out; it may change later. Dropping a name
and adding it again makes a new id, so old data never comes back.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import (
    AUTO_ENCODING,
    Cell,
    Compression,
    DataType,
    Encoding,
    Kind,
)
from pykudu_sql.storage.errors import DuplicateObjectError, InvalidSchemaError, UndefinedColumnError

MAX_COLUMNS = 300
MAX_IDENTIFIER_BYTES = 256
MAX_COMMENT_BYTES = 256
AUTO_INCREMENTING_ID = "auto_incrementing_id"
MIN_BLOCK_SIZE = 512
MAX_BLOCK_SIZE = 16 * 1024 * 1024
DEFAULT_BLOCK_SIZE = 256 * 1024


@dataclass(frozen=True, slots=True)
class ColumnSchema:
    """One column.

    Attributes:
        id: never reused within the table, never shown.
        name: lower case.
        nullable: whether a cell may be NULL.
        encoding, compression, block_size: how files written from now on store it.
        read_default: what older files read as; a cell.
        write_default: what an INSERT that leaves the column out stores; a cell. None is NULL.
        immutable: only an INSERT sets it (Kudu 1.17); the columns of the key are so anyway.
        indexes: names of the indexes it belongs to; files written from now on keep a skip index
            of it when there are any.
    """

    id: int
    name: str
    type: DataType
    nullable: bool = True
    encoding: Encoding = AUTO_ENCODING
    compression: Compression = Compression.DEFAULT_COMPRESSION
    block_size: int = DEFAULT_BLOCK_SIZE
    read_default: Cell = None
    write_default: Cell = None
    comment: str = ""
    immutable: bool = False
    indexes: tuple[str, ...] = ()

    @property
    def field(self) -> pa.Field:
        """The Arrow field that batches carry for it."""
        return pa.field(self.name, self.type.arrow, self.nullable)

    def to_json(self) -> dict[str, Any]:
        """The column as plain JSON values."""
        return {
            "id": self.id,
            "name": self.name,
            "type": str(self.type),
            "nullable": self.nullable,
            "encoding": self.encoding,
            "compression": str(self.compression),
            "block_size": self.block_size,
            "read_default": cell_to_json(self.read_default),
            "write_default": cell_to_json(self.write_default),
            "comment": self.comment,
            "immutable": self.immutable,
            "indexes": list(self.indexes),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ColumnSchema":
        """The inverse of `to_json`."""
        return cls(
            id=value["id"],
            name=value["name"],
            type=parse_type(value["type"]),
            nullable=value["nullable"],
            encoding=Encoding(value["encoding"]),
            compression=Compression(value["compression"]),
            block_size=value["block_size"],
            read_default=cell_from_json(value["read_default"]),
            write_default=cell_from_json(value["write_default"]),
            comment=value["comment"],
            immutable=value.get("immutable", False),
            indexes=tuple(value.get("indexes", ())),
        )


@dataclass(frozen=True)
class Schema:
    """The columns of a table at one time.

    Attributes:
        columns: in the order users see.
        key_ids: ids of the primary key's columns, in key order.
        next_column_id: the id the next added column gets.
        auto_incrementing: whether the last key column is the hidden counter.
    """

    columns: tuple[ColumnSchema, ...]
    key_ids: tuple[int, ...]
    next_column_id: int
    auto_incrementing: bool = False

    @cached_property
    def by_name(self) -> Mapping[str, ColumnSchema]:
        """Columns by name."""
        return MappingProxyType({column.name: column for column in self.columns})

    @cached_property
    def by_id(self) -> Mapping[int, ColumnSchema]:
        """Columns by id."""
        return MappingProxyType({column.id: column for column in self.columns})

    @cached_property
    def key_columns(self) -> tuple[ColumnSchema, ...]:
        """The primary key's columns, in key order."""
        return tuple(self.by_id[i] for i in self.key_ids)

    @cached_property
    def immutable_ids(self) -> frozenset[int]:
        """Ids of the columns that only an insert sets."""
        return frozenset(c.id for c in self.columns if c.immutable)

    @cached_property
    def indexes(self) -> Mapping[str, tuple[ColumnSchema, ...]]:
        """The columns of each index, by its name, in the order users see."""
        names = dict.fromkeys(name for column in self.columns for name in column.indexes)
        return {name: tuple(c for c in self.columns if name in c.indexes) for name in names}

    @cached_property
    def visible_columns(self) -> tuple[ColumnSchema, ...]:
        """The columns `SELECT *` shows: all but the hidden counter."""
        return tuple(c for c in self.columns if not self.is_hidden(c))

    @cached_property
    def arrow(self) -> pa.Schema:
        """The Arrow schema of all columns."""
        return pa.schema([column.field for column in self.columns])

    def is_hidden(self, column: ColumnSchema) -> bool:
        """Whether a column is the hidden auto-incrementing counter."""
        return self.auto_incrementing and self.key_ids[-1:] == (column.id,)

    def column(self, name: str) -> ColumnSchema:
        """The column of a name. Raises UndefinedColumnError: there is none."""
        column = self.by_name.get(name)
        if column is None:
            raise UndefinedColumnError(
                f"column '{name}' does not exist",
                hint=f"columns are {', '.join(c.name for c in self.visible_columns)}",
            )
        return column

    def project(self, names: Iterable[str]) -> tuple[ColumnSchema, ...]:
        """The columns of some names, in that order."""
        return tuple(self.column(name) for name in names)

    def add_column(self, column: ColumnSchema) -> "Schema":
        """This schema with one column more; the id given is replaced by the next free one.

        The write default at this moment is frozen as the read default of older rows. Raises
        DuplicateObjectError: the name is taken; InvalidSchemaError: NOT NULL without a default, or
        a limit is passed.
        """
        if column.name in self.by_name:
            raise DuplicateObjectError(f"column '{column.name}' exists already", sqlstate="42701")
        _check_not_reserved(column.name)
        if not column.nullable and column.write_default is None:
            raise InvalidSchemaError(
                f"column `{column.name}`: NOT NULL columns must have a default",
                hint="add DEFAULT <value>, which the rows already there will show",
            )
        added = replace(column, id=self.next_column_id, read_default=column.write_default)
        check_column(added)
        changed = replace(
            self, columns=(*self.columns, added), next_column_id=self.next_column_id + 1
        )
        _check_count(changed.columns)
        return changed

    def drop_column(self, name: str) -> "Schema":
        """This schema without a column.

        Raises UndefinedColumnError: no such column; InvalidSchemaError: it belongs to the key.
        """
        column = self.column(name)
        if column.id in self.key_ids:
            raise InvalidSchemaError(
                f"cannot drop primary key column '{name}'",
                hint="the key is fixed when the table is created",
            )
        return replace(self, columns=tuple(c for c in self.columns if c.id != column.id))

    def rename_column(self, name: str, new_name: str) -> "Schema":
        """This schema with a column renamed; its id and data stay.

        Raises UndefinedColumnError: no such column; DuplicateObjectError: the new name is taken.
        """
        column = self.column(name)
        if new_name != name and new_name in self.by_name:
            raise DuplicateObjectError(f"column '{new_name}' exists already", sqlstate="42701")
        _check_not_reserved(name)
        _check_not_reserved(new_name)
        return self.replace_column(replace(column, name=new_name))

    def replace_column(self, column: ColumnSchema) -> "Schema":
        """This schema with the column of the same id exchanged.

        Raises InvalidSchemaError: an attribute breaks its rule.
        """
        check_column(column)
        _check_not_immutable_key(self, column)
        return replace(
            self, columns=tuple(column if c.id == column.id else c for c in self.columns)
        )

    def to_json(self) -> dict[str, Any]:
        """The schema as plain JSON values."""
        return {
            "columns": [c.to_json() for c in self.columns],
            "key_ids": list(self.key_ids),
            "next_column_id": self.next_column_id,
            "auto_incrementing": self.auto_incrementing,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Schema":
        """The inverse of `to_json`."""
        return cls(
            columns=tuple(ColumnSchema.from_json(c) for c in value["columns"]),
            key_ids=tuple(value["key_ids"]),
            next_column_id=value["next_column_id"],
            auto_incrementing=value["auto_incrementing"],
        )


def create_schema(
    columns: Iterable[ColumnSchema], key: Iterable[str], *, unique: bool = True
) -> Schema:
    """A new table's schema; ids are given in column order, whatever ids the columns carry.

    Key columns become NOT NULL. A key that need not be unique gets the hidden counter
    `auto_incrementing_id` appended, as Kudu does since 1.17.

    Args:
        columns: name, type and attributes of each column.
        key: names of the key's columns, in key order; empty only with `unique=False`.
        unique: whether the key must be unique.

    Raises InvalidSchemaError, DuplicateObjectError, UndefinedColumnError: a rule is broken.
    """
    key_names = list(key)
    all_columns = list(columns)
    for column in all_columns:
        _check_not_reserved(column.name)
    if not unique:
        counter = ColumnSchema(0, AUTO_INCREMENTING_ID, DataType(Kind.INT64), nullable=False)
        all_columns.append(counter)
        key_names.append(AUTO_INCREMENTING_ID)
    if not key_names:
        raise InvalidSchemaError(
            "a table needs a primary key",
            hint="write PRIMARY KEY (column, ...), or NON UNIQUE PRIMARY KEY (column, ...)",
        )
    numbered = tuple(
        replace(
            c, id=i, nullable=c.nullable and c.name not in key_names, read_default=c.write_default
        )
        for i, c in enumerate(all_columns)
    )
    _check_count(numbered)
    names = [c.name for c in numbered]
    for name in names:
        if names.count(name) > 1:
            raise DuplicateObjectError(
                f"column '{name}' is given twice", hint="give one another name", sqlstate="42701"
            )
    for name in key_names:
        if key_names.count(name) > 1:
            raise InvalidSchemaError(f"column '{name}' is named twice in the primary key")
    schema = Schema(numbered, (), len(numbered), auto_incrementing=not unique)
    schema = replace(schema, key_ids=tuple(schema.column(name).id for name in key_names))
    for column in numbered:
        check_column(column)
        _check_not_immutable_key(schema, column)
        if column.id in schema.key_ids and not column.type.allowed_in_key:
            raise InvalidSchemaError(
                f"column '{column.name}' of type {column.type} cannot be in the primary key",
                hint="key columns may not be BOOLEAN, FLOAT or DOUBLE",
            )
    return schema


def _check_not_reserved(name: str) -> None:
    if name == AUTO_INCREMENTING_ID:
        raise InvalidSchemaError(
            f"column name '{AUTO_INCREMENTING_ID}' is reserved",
            hint="it is the hidden counter of tables with a NON UNIQUE PRIMARY KEY",
        )


def _check_not_immutable_key(schema: Schema, column: ColumnSchema) -> None:
    if column.immutable and column.id in schema.key_ids:
        raise InvalidSchemaError(
            f"primary key column '{column.name}' cannot be declared IMMUTABLE",
            hint="the columns of the key never change anyway",
        )


def check_column(column: ColumnSchema) -> None:
    """Check name, block size and comment of a column.

    Raises InvalidSchemaError: one breaks its rule.
    """
    check_identifier(column.name, "column")
    if not MIN_BLOCK_SIZE <= column.block_size <= MAX_BLOCK_SIZE:
        raise InvalidSchemaError(
            f"column '{column.name}': BLOCK_SIZE {column.block_size} is out of range",
            hint=f"use {MIN_BLOCK_SIZE} to {MAX_BLOCK_SIZE} bytes",
        )
    check_comment(column.comment, f"column '{column.name}'")


def check_comment(comment: str, owner: str) -> None:
    """Check the length of a table's or column's comment.

    Raises InvalidSchemaError: it is over 256 bytes.
    """
    if len(comment.encode()) > MAX_COMMENT_BYTES:
        raise InvalidSchemaError(f"comment of {owner} is longer than {MAX_COMMENT_BYTES} bytes")


def check_identifier(name: str, what: str) -> None:
    """Check a table's or column's name: 1 to 256 bytes of UTF-8 without NUL.

    Raises InvalidSchemaError: it is not.
    """
    try:
        size = len(name.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise InvalidSchemaError(f"{what} name {name!r} is not valid UTF-8") from error
    if not 1 <= size <= MAX_IDENTIFIER_BYTES or "\0" in name:
        raise InvalidSchemaError(
            f"{what} name {name[:40]!r} of {size} bytes is not valid",
            hint=f"a name has 1 to {MAX_IDENTIFIER_BYTES} bytes and no NUL character",
        )


def cell_to_json(cell: Cell) -> Any:
    """A cell as JSON; bytes become an object of hexadecimal, non-finite floats their name."""
    if isinstance(cell, bytes):
        return {"hex": cell.hex()}
    if isinstance(cell, float):
        return {"float": cell.hex()}
    return cell


def cell_from_json(value: Any) -> Cell:
    """The inverse of `cell_to_json`."""
    if isinstance(value, dict):
        return bytes.fromhex(value["hex"]) if "hex" in value else float.fromhex(value["float"])
    cell: Cell = value
    return cell


def _check_count(columns: tuple[ColumnSchema, ...]) -> None:
    if len(columns) > MAX_COLUMNS:
        raise InvalidSchemaError(f"{len(columns)} columns are more than the {MAX_COLUMNS} allowed")
