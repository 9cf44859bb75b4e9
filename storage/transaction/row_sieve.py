"""Kudu's way with a batch: rows that fit are done, the others are taken out and reported.

A batch is sieved in the order in which Kudu finds fault (`common/row_operations.cc`, then
`tablet/tablet.cc`): cells, the encoded key's size, the range partitions, and at last whether the
key exists. What remains of a tablet's share is done in one go, with the same outcome as row after
row: of rows with one key the first is inserted or deleted, and the last update wins. Each step is a
mask over all rows; only rows that are reported are looked at one by one.
"""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.keys.key_encoder import MAX_ENCODED_KEY_BYTES, key_too_large
from pykudu_sql.storage.common.rows.row_operation import (
    Mask,
    RowOperations,
    RowOpKind,
    check_set,
    large_rows,
    null_error,
    null_rows,
    size_error,
)
from pykudu_sql.storage.common.rows.row_result import RowErrorCollector, RowResults
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import Error
from pykudu_sql.storage.ingest.auto_increment import AutoIncrement, negative_number
from pykudu_sql.storage.ingest.table import (
    AssignedRows,
    TabletRows,
    complete,
    key_text,
    set_columns,
    take,
)
from pykudu_sql.storage.tablet.rowset.locator import Located
from pykudu_sql.storage.tablet.write.keyed_operations import KeyedOperations
from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites, misfits

Places = npt.NDArray[np.int64]
Columns = Mapping[int, pa.Array]


class RowSieve:
    """One batch on its way into the tablets. Used once, by one thread."""

    def __init__(self, table: TableInfo, operations: RowOperations) -> None:
        """Begin with all rows of a batch.

        Args:
            table: to be written.
            operations: what to do; keys may be NULL and repeat.

        Raises:
            NotNullError: a column of the key is not set at all.
            ProgrammingError: the kind of operation may not set just these columns.
        """
        check_set(table.schema, operations.kind, operations.columns, table.name)
        self._table = table
        self._operations = operations
        self._rows = operations.length
        self._positions = np.arange(operations.length, dtype=np.int64)
        self._errors = RowErrorCollector()
        self._ignored = 0

    def sift(self, counters: AutoIncrement) -> AssignedRows:
        """Take out rows that no tablet would take; complete, encode and assign the others.

        Args:
            counters: number the rows of tables that count.

        Returns:
            The rows that are left; a key may repeat.

        Raises:
            NotNullError: a required column is left out, which is wrong in every row.
        """
        table, schema = self._table, self._table.schema
        encoder = table.key_encoder
        for column_id in self._operations.columns:
            self._sift_column(schema.by_id[column_id])
        changed = set_columns(schema, self._operations.kind, self._operations.columns)
        self._operations = complete(table, counters.number(table, self._operations))
        sizes = encoder.sizes(self._operations.columns)
        if sizes is not None:
            self._refuse(sizes > MAX_ENCODED_KEY_BYTES, lambda row: key_too_large(int(sizes[row])))
        tablets, columns = self._tablets()
        self._refuse(tablets < 0, lambda row: table.assigner.uncovered(columns, row))
        keys = encoder.encode(self._operations.columns)
        return AssignedRows(self._operations, keys, tablets[tablets >= 0], changed)

    def _tablets(self) -> tuple[npt.NDArray[np.int32], Columns]:
        columns = {i: self._operations.columns[i] for i in self._table.schema.key_ids}
        return self._table.assigner.find(columns), columns

    def _sift_column(self, column: ColumnSchema) -> None:
        table = self._table
        missing = null_rows(column, self._operations.columns[column.id])
        if missing is not None:
            self._refuse(missing, lambda row: null_error(table.name, column.name))
        large = large_rows(column, self._operations.columns[column.id])
        if large is not None:
            mask, sizes = large
            self._refuse(mask, lambda row: size_error(column.name, int(sizes[row])))
        if table.schema.is_hidden(column):
            numbers = self._operations.columns[column.id].to_numpy(zero_copy_only=False)
            self._refuse(numbers < 0, lambda row: negative_number(table, int(numbers[row])))

    def _refuse(self, mask: Mask, error_of: Callable[[int], Error]) -> None:
        """Take rows out of the batch; `error_of` tells what is wrong with the n-th row."""
        wrong = np.flatnonzero(mask)
        if not len(wrong):
            return
        table, columns = self._table, self._operations.columns

        def describe(index: int) -> tuple[str, Error]:
            row = int(wrong[index])
            return key_text(table, columns, row), error_of(row)

        self._errors.add(self._positions[wrong], describe)
        kept = np.flatnonzero(~mask)
        kept_columns = take(columns, kept)
        self._operations = RowOperations(self._operations.kind, kept_columns, len(kept))
        self._positions = self._positions[kept]

    def rounds(self, pending: PendingWrites, rows: TabletRows, found: Located) -> list[Places]:
        """Take out the rows that do not fit what a tablet holds.

        Args:
            pending: the transaction's writes to the tablet.
            rows: the tablet's share of what `sift` left.
            found: where their keys are.

        Returns:
            Rows of the share that have an effect, in batches of distinct keys that are to be
            written one after the other.
        """
        batch, alive = rows.batch, found.alive
        wrong = misfits(batch, found)
        self._refuse_found(pending, rows, np.flatnonzero(wrong), alive)
        able = ~wrong & _effective(batch, alive)
        self._ignored += int(np.count_nonzero(~wrong & ~able))
        fit = np.flatnonzero(able)
        first, last = _occurrences(batch.keys.take(fit))
        deletes = batch.kind in (RowOpKind.DELETE, RowOpKind.DELETE_IGNORE)
        if batch.kind.numbers or deletes or batch.fixed is not None:
            later = fit[~first]
            if batch.kind.ignores:
                self._ignored += len(later)
            else:
                self._refuse_found(pending, rows, later, np.full(len(alive), not deletes))
            return [fit[first]]
        if batch.kind is RowOpKind.UPSERT_IGNORE and self._table.schema.immutable_ids:
            # Immutable cells come from the row that inserts, the others from the last.
            begins = first & ~alive[fit]
            return [fit[begins], fit[last & ~begins]]
        return [fit[last]]

    def _refuse_found(
        self, pending: PendingWrites, rows: TabletRows, places: Places, alive: Mask
    ) -> None:
        """Note rows of a tablet's share; `alive` says whether their keys exist at their turn."""
        table, batch = self._table, rows.batch

        def describe(index: int) -> tuple[str, Error]:
            place = int(places[index])
            key = key_text(table, batch.operations.columns, place)
            return key, pending.misfit(batch, place, bool(alive[place]))

        self._errors.add(self._positions[rows.places[places]], describe)

    def results(self) -> RowResults:
        """What became of the batch, once the rounds of all tablets are written."""
        failed, ignored = self._errors.failed, self._ignored
        applied = self._rows - failed - ignored
        return RowResults(applied, ignored, failed, self._errors.errors())


def _effective(batch: KeyedOperations, alive: Mask) -> Mask:
    """The rows that an *_IGNORE operation does not skip; of other kinds all."""
    match batch.kind:
        case RowOpKind.INSERT_IGNORE:
            return ~alive
        case RowOpKind.DELETE_IGNORE:
            return alive
        case RowOpKind.UPDATE_IGNORE:
            return alive if batch.set_ids else np.zeros(len(alive), np.bool_)
        case _:
            return np.ones(len(alive), np.bool_)


def _occurrences(keys: EncodedKeys) -> tuple[Mask, Mask]:
    """Which of some keys are the first of their kind, and which the last."""
    order = keys.argsort()
    repeated = keys.duplicates(order)
    first, last = np.ones(len(keys), np.bool_), np.ones(len(keys), np.bool_)
    # The sort is stable: of equal keys the one given earlier stands first.
    first[order[repeated]] = False
    last[order[repeated - 1]] = False
    return first, last
