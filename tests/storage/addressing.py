"""Writes to rows by their addresses, for tests that name rows by key."""

from collections.abc import Mapping

import numpy as np

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.transaction.transaction import Transaction


def addresses(txn: Transaction, table: TableInfo) -> dict[Cell, int]:
    """The addresses of all rows of a table, by the first column of its key."""
    found = txn.table_scan(table, ScanSpec((table.schema.key_ids[0],), addressed=True))
    keys, places = found.columns
    return dict(zip(keys.to_pylist(), places.to_pylist(), strict=True))


def write_rows(
    txn: Transaction,
    table: TableInfo,
    known: Mapping[Cell, int],
    rows: Mapping[Cell, Mapping[int, Cell] | None],
    chunk: int = 0,
) -> int:
    """Write to some rows.

    Args:
        txn: that found them.
        table: it scanned.
        known: their addresses, by key.
        rows: by key the cells to set, the same columns in each; all None to delete them.
        chunk: rows of a chunk; 0 for all in one batch.
    """
    if chunk:
        keys = list(rows)
        parts = [keys[start : start + chunk] for start in range(0, len(keys), chunk)]
        batches = (_changes(table, known, {key: rows[key] for key in part}) for part in parts)
        return txn.change(table, batches)
    return txn.write(table, _changes(table, known, rows)).applied


def _changes(
    table: TableInfo, known: Mapping[Cell, int], rows: Mapping[Cell, Mapping[int, Cell] | None]
) -> RowOperations:
    where = np.array([known[key] for key in rows], np.int64)
    cells = [row for row in rows.values() if row is not None]
    if not cells:
        return RowOperations(RowOpKind.DELETE, {}, len(where), where)
    by_id = table.schema.by_id
    columns = {i: cells_to_array([row[i] for row in cells], by_id[i].type) for i in cells[0]}
    return RowOperations(RowOpKind.UPDATE_IGNORE, columns, len(where), where)
