"""Checks of a commit from the write-ahead log before it is applied again.

The checksum of a record shows that it is whole, not that it makes sense. A commit is applied only
if its cells are of their columns' types, its keys whole and its ordinals those of rows that are
there, so that nothing it names can lead outside the memory of what it changes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from pykudu_sql.storage.common.rows.distinct_integers import are_distinct
from pykudu_sql.storage.common.types.arrays import fixed_view
from pykudu_sql.storage.common.types.cell_check import is_cell_of
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.common.types.widening import holds_all_of
from pykudu_sql.storage.tablet.commit_record import (
    BatchInsert,
    BatchMutation,
    RowInsert,
    RowMutation,
)
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind


def row_count(insert: RowInsert | BatchInsert) -> int:
    """Rows of an insert."""
    if isinstance(insert, RowInsert):
        return 1
    return len(next(iter(insert.columns.values()), ()))


def check_insert(
    insert: RowInsert | BatchInsert, types: Mapping[int, DataType], key_ids: Sequence[int]
) -> None:
    """See that an insert can be applied. `insert`: as read. Raises ValueError: it cannot."""
    if isinstance(insert, RowInsert):
        _check_cells(insert.cells, types)
        whole = all(insert.cells.get(i) is not None for i in key_ids)
    else:
        if not row_count(insert):
            raise ValueError("no row is inserted")
        _check_columns(insert.columns, types, row_count(insert))
        columns = insert.columns
        whole = all(i in columns and not columns[i].null_count for i in key_ids)
    if not whole:
        raise ValueError("a cell of the primary key is missing")


def check_mutation(
    mutation: RowMutation | BatchMutation, types: Mapping[int, DataType], rows: int
) -> None:
    """See that a mutation can be applied.

    `mutation`: as read; `rows`: of the rowset that it changes. Raises ValueError: it cannot.
    """
    changed = mutation.cells if isinstance(mutation, RowMutation) else mutation.columns
    if mutation.kind is DeltaKind.UPDATE and not changed:
        raise ValueError("an update of no column")
    if isinstance(mutation, RowMutation):
        _check_cells(mutation.cells, types)
        low = high = mutation.ordinal
    else:
        _check_columns(mutation.columns, types, len(mutation.ordinals))
        if not len(mutation.ordinals):
            raise ValueError("no row is changed")
        low, high = int(mutation.ordinals.min()), int(mutation.ordinals.max())
        if not are_distinct(mutation.ordinals):
            raise ValueError("a row is changed twice at once")
    if low < 0 or high >= rows:
        raise ValueError(f"rows {low} to {high} of {rows} are changed")


def _check_cells(cells: Mapping[int, Cell], types: Mapping[int, DataType]) -> None:
    for column_id, cell in cells.items():
        if not is_cell_of(cell, types[column_id]):
            raise ValueError(f"{cell!r:.80} is no {types[column_id]} (column {column_id})")


def _check_columns(
    columns: Mapping[int, pa.Array], types: Mapping[int, DataType], rows: int
) -> None:
    for column_id, values in columns.items():
        kind: Any = values.type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        # It may have been narrower when the record was written.
        if not holds_all_of(types[column_id], kind) or len(values) != rows:
            raise ValueError(f"column {column_id} has {len(values)} values of {values.type}")
        values.validate(full=True)
        _check_range(values, types[column_id], column_id)


def _check_range(values: pa.Array, column_type: DataType, column_id: int) -> None:
    """See that days are of the calendar; Arrow sees to the digits of decimals."""
    present = values.drop_null()
    limits = column_type.integer_range
    if limits is None or column_type.kind is not Kind.DATE or not len(present):
        return
    stored = fixed_view(present, column_type)
    if not limits[0] <= int(stored.min()) <= int(stored.max()) <= limits[1]:
        raise ValueError(f"column {column_id} has days outside those of {column_type}")
