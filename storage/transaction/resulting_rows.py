"""Rules on the row which comes of a change: set cells, and others as stored.

Every change of stored rows comes by here once these are located: batches, single rows, rows by
address, Spark's files. Rules on the cells that a statement sets are in `ingest/validation`; those
here are CHECK constraints, and `check_rule` says which of them need stored cells. The columns that
a change leaves alone are read of the rows that it was found to change, and only those that such a
constraint is about. What was read is what will stand: a commit that changes the row meanwhile is a
conflict.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.ingest.check_rule import (
    RowsSet,
    check_cells,
    decided_later,
    find_violations,
    violation_error,
)
from pykudu_sql.storage.ingest.row_batch import Positions, key_text
from pykudu_sql.storage.ingest.validation import Violation
from pykudu_sql.storage.tablet.rowset.locator import Located
from pykudu_sql.storage.tablet.write.addressed_operations import AddressedOperations
from pykudu_sql.storage.tablet.write.keyed_operations import KeyedOperations, KeyedRow
from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites

ReadStored = Callable[[Sequence[ColumnSchema]], tuple[Cell, ...] | None]


def violation_of(
    table: TableInfo, pending: PendingWrites, batch: KeyedOperations, located: Located
) -> Violation | None:
    """The rows of a tablet's share that would break constraints; None where none would.

    `pending`: the transaction's writes to the tablet; `located`: where the rows are.
    """
    columns, kind = batch.operations.columns, batch.kind
    checks = decided_later(table, RowsSet(kind, batch.set_ids))
    if not checks or not batch.operations.length:
        return None
    stored_ids = {i for check in checks for i in check.column_ids}
    stored_ids -= {*batch.set_ids, *table.schema.key_ids}
    stored = [table.schema.by_id[i] for i in sorted(stored_ids)]
    there = np.flatnonzero(located.alive)
    resulting = {i: values for i, values in columns.items() if i not in stored_ids}
    resulting |= _with_stored(stored, columns, pending, located, there)
    violated = find_violations(table, checks, resulting)
    if violated is None:
        return None
    mask, first = violated
    if not kind.may_insert:
        mask = mask & located.alive
    if not mask.any():
        return None
    return Violation(
        mask, lambda row: violation_error(table, first(row), key_text(table, columns, row))
    )


def _with_stored(
    stored: Sequence[ColumnSchema],
    columns: Mapping[int, pa.Array],
    pending: PendingWrites,
    located: Located,
    there: Positions,
) -> dict[int, pa.Array]:
    """Some columns as they are stored in the rows that are there, else as they are given or NULL.

    `there`: the rows that are alive.
    """
    if not stored:
        return {}
    rows: list[Positions] = []
    pieces: list[list[pa.Array]] = []
    for index in np.unique(located.where[there]).tolist():
        mine = there[located.where[there] == index]
        mine = mine[np.argsort(located.ordinals[mine], kind="stable")]
        rowset = located.rowsets[index]
        own = pending.own.get(rowset.id)
        pieces.append(rowset.read_rows(located.ordinals[mine], stored, pending.bound, own))
        rows.append(mine)
    fresh = np.flatnonzero(~located.alive)
    if len(fresh):
        indices = integers(fresh)
        pieces.append(
            [
                plain(columns[c.id]).take(indices)
                if c.id in columns
                else pa.nulls(len(fresh), c.type.arrow)
                for c in stored
            ]
        )
        rows.append(fresh)
    back = integers(np.argsort(np.concatenate(rows), kind="stable"))
    return {
        column.id: pa.concat_arrays([piece[place] for piece in pieces]).take(back)
        for place, column in enumerate(stored)
    }


def check_addressed(table: TableInfo, pending: PendingWrites, batch: AddressedOperations) -> None:
    """See that rows named by their addresses pass the constraints of their table.

    `pending`: the transaction's writes to the tablet. Raises CheckViolationError: one breaks some.
    """
    checks = decided_later(table, RowsSet(batch.kind, tuple(batch.columns)))
    if not checks or not len(batch.ordinals):
        return
    rowset, own = batch.rowset, pending.own.get(batch.rowset.id)
    ids = {i for check in checks for i in check.column_ids} - set(batch.columns)
    stored = [table.schema.by_id[i] for i in sorted(ids)]
    read = rowset.read_rows(batch.ordinals, stored, pending.bound, own)
    resulting = {**batch.columns, **{c.id: v for c, v in zip(stored, read, strict=True)}}
    violated = find_violations(table, checks, resulting)
    if violated is None:
        return
    row = int(np.argmax(violated[0]))
    ordinals, keys = batch.ordinals[row : row + 1], table.schema.key_columns
    cells = rowset.read_rows(ordinals, keys, pending.bound, own)
    key = key_text(table, {c.id: v for c, v in zip(keys, cells, strict=True)}, 0)
    raise violation_error(table, violated[1](row), key)


def check_row_result(table: TableInfo, row: KeyedRow, read_stored: ReadStored) -> None:
    """See that the row which comes of one operation passes the constraints of its table.

    `read_stored`: gives some columns of the row that is there, None where there is none. Raises
    CheckViolationError: it breaks one.
    """
    if not table.checks:
        return
    checks = decided_later(table, RowsSet(row.kind, row.set_ids))
    if not checks:
        return
    ids = {i for check in checks for i in check.column_ids}
    ids -= {*row.set_ids, *table.schema.key_ids}
    stored = [table.schema.by_id[i] for i in sorted(ids)]
    cells = read_stored(stored)
    if cells is not None:
        merged = {**row.cells, **dict(zip((c.id for c in stored), cells, strict=True))}
        check_cells(table, checks, merged)
    elif row.kind.may_insert:
        check_cells(table, checks, row.cells)
