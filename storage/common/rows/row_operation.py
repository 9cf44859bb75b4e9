"""Row operations: what a batch of rows is meant to do to a table.

The eight operations are Kudu's (`common/row_operations.cc`). A batch has one kind and only the
columns it sets: an UPSERT of a present row and an UPDATE leave the others as they are.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import validity
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema
from pykudu_sql.storage.common.types.types import MAX_CELL_BYTES, Cell
from pykudu_sql.storage.errors import (
    NotNullError,
    ProgrammingError,
    ValueTooLargeError,
)

Mask = npt.NDArray[np.bool_]


class RowOpKind(StrEnum):
    """What happens to each row of a batch, by whether its key exists."""

    INSERT = "INSERT"
    INSERT_IGNORE = "INSERT_IGNORE"
    UPSERT = "UPSERT"
    UPSERT_IGNORE = "UPSERT_IGNORE"
    UPDATE = "UPDATE"
    UPDATE_IGNORE = "UPDATE_IGNORE"
    DELETE = "DELETE"
    DELETE_IGNORE = "DELETE_IGNORE"

    @property
    def may_insert(self) -> bool:
        """Whether a row with an unknown key is inserted."""
        return self.name.startswith(("INSERT", "UPSERT"))

    @property
    def numbers(self) -> bool:
        """Whether a table's hidden counter numbers the rows."""
        return self.name.startswith("INSERT")

    @property
    def ignores(self) -> bool:
        """Whether rows that do not fit are skipped and counted rather than refused."""
        return self.name.endswith("_IGNORE")


@dataclass(frozen=True, slots=True)
class RowOperations:
    """A batch of one kind of operation.

    Attributes:
        kind: what to do.
        columns: the columns set, by id, of equal length and of each column's own Arrow type
            (strings may be dictionaries); the key's columns always among them.
        length: rows.
    """

    kind: RowOpKind
    columns: Mapping[int, pa.Array]
    length: int


def check_set(schema: Schema, kind: RowOpKind, column_ids: Collection[int], table: str) -> None:
    """Check that a kind of operation may set just these columns.

    Args:
        schema: the table's schema.
        kind: what to do.
        column_ids: the columns set.
        table: the table's name, for messages.

    Raises:
        NotNullError: a column of the key is not set, other than the hidden counter of an INSERT.
        ProgrammingError: an UPDATE sets nothing but the key, or a DELETE more than that.
    """
    for column in schema.key_columns:
        counted = schema.is_hidden(column) and kind.numbers
        if column.id not in column_ids and not counted:
            if schema.is_hidden(column):
                raise NotNullError(f"{column.name} of table '{table}' should be set for {kind}")
            raise NotNullError(f"no value provided for key column '{column.name}' of '{table}'")
    others = [i for i in column_ids if i not in schema.key_ids]
    if kind in (RowOpKind.UPDATE, RowOpKind.UPDATE_IGNORE) and not others:
        raise ProgrammingError(
            f"no fields updated: {kind} of table '{table}' sets only its key", sqlstate="42601"
        )
    if kind in (RowOpKind.DELETE, RowOpKind.DELETE_IGNORE) and others:
        raise ProgrammingError(
            f"{kind} should not have a value for column '{schema.by_id[others[0]].name}' of table "
            f"'{table}'",
            hint="give only the columns of the key",
            sqlstate="42601",
        )


def check_columns(schema: Schema, columns: Mapping[int, pa.Array], table: str) -> None:
    """Check NULLs and cell sizes of a batch.

    Args:
        schema: the table's schema.
        columns: by column id.
        table: the table's name, for messages.

    Raises:
        NotNullError: a NULL in a NOT NULL column.
        ValueTooLargeError: a cell over 64 KiB.
    """
    for column_id, values in columns.items():
        column = schema.by_id[column_id]
        if values.null_count and not column.nullable:
            raise null_error(table, column.name)
        if column.type.is_variable:
            size = _longest(values)
            if size > MAX_CELL_BYTES:
                raise size_error(column.name, size)


def null_rows(column: ColumnSchema, values: pa.Array) -> Mask | None:
    """The rows whose cell is NULL where none may be; None when there are none."""
    valid = None if column.nullable else validity(values)
    return None if valid is None else ~valid


def large_rows(column: ColumnSchema, values: pa.Array) -> tuple[Mask, npt.NDArray[np.int64]] | None:
    """The rows whose cell is over 64 KiB and the bytes of each cell; None when there are none."""
    if not column.type.is_variable or _longest(values) <= MAX_CELL_BYTES:
        return None
    words = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    sizes = pc.fill_null(pc.binary_length(words), 0).to_numpy(zero_copy_only=False)
    return sizes > MAX_CELL_BYTES, sizes.astype(np.int64)


def check_cells(schema: Schema, cells: Mapping[int, Cell], table: str) -> None:
    """The same checks as `check_columns` for the cells of one row."""
    by_id = schema.by_id
    for column_id, cell in cells.items():
        if cell is None:
            column = by_id[column_id]
            if not column.nullable:
                raise null_error(table, column.name)
        elif type(cell) is str or type(cell) is bytes:
            size = len(cell) if len(cell) * 4 <= MAX_CELL_BYTES else _byte_length(cell)
            if size > MAX_CELL_BYTES:
                raise size_error(by_id[column_id].name, size)


def _byte_length(cell: str | bytes) -> int:
    return len(cell.encode()) if isinstance(cell, str) else len(cell)


def _longest(values: pa.Array) -> int:
    words = values.dictionary if pa.types.is_dictionary(values.type) else values
    longest = pc.max(pc.binary_length(words)).as_py()
    return int(longest or 0)


def null_error(table: str, column: str) -> NotNullError:
    """The error that says a cell is NULL where none may be."""
    return NotNullError(
        f"NULL values not allowed for non-nullable column '{column}' of table '{table}'",
        hint="give a value, or leave the column out if it has a DEFAULT",
    )


def size_error(column: str, size: int) -> ValueTooLargeError:
    """The error that says a cell is over its limit."""
    return ValueTooLargeError(
        f"value too large for column '{column}' ({size} bytes, maximum is {MAX_CELL_BYTES} bytes)"
    )
