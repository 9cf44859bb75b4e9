"""Row operations: what a batch of rows is meant to do to a table.

The eight operations are Kudu's (`common/row_operations.cc`). A batch has one kind and only the
columns it sets: an UPSERT of a present row and an UPDATE leave the others as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa
import pyarrow.compute as pc

from pykudu_sql.storage.common.schema import Schema
from pykudu_sql.storage.common.types import MAX_CELL_BYTES, Cell
from pykudu_sql.storage.errors import NotNullError, ValueTooLargeError


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
            raise _null_error(table, column.name)
        if column.type.is_variable:
            size = _longest(values)
            if size > MAX_CELL_BYTES:
                raise _size_error(column.name, size)


def check_cells(schema: Schema, cells: Mapping[int, Cell], table: str) -> None:
    """The same checks for the cells of one row."""
    by_id = schema.by_id
    for column_id, cell in cells.items():
        if cell is None:
            column = by_id[column_id]
            if not column.nullable:
                raise _null_error(table, column.name)
        elif type(cell) is str or type(cell) is bytes:
            size = len(cell) if len(cell) * 4 <= MAX_CELL_BYTES else _byte_length(cell)
            if size > MAX_CELL_BYTES:
                raise _size_error(by_id[column_id].name, size)


def _byte_length(cell: str | bytes) -> int:
    return len(cell.encode()) if isinstance(cell, str) else len(cell)


def _longest(values: pa.Array) -> int:
    words = values.dictionary if pa.types.is_dictionary(values.type) else values
    longest = pc.max(pc.binary_length(words)).as_py()
    return int(longest or 0)


def _null_error(table: str, column: str) -> NotNullError:
    return NotNullError(
        f"NULL values not allowed for non-nullable column '{column}' of table '{table}'",
        hint="give a value, or leave the column out if it has a DEFAULT",
    )


def _size_error(column: str, size: int) -> ValueTooLargeError:
    return ValueTooLargeError(
        f"value too large for column '{column}' ({size} bytes, maximum is {MAX_CELL_BYTES} bytes)"
    )
