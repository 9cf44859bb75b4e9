"""The mode COLLECT, as Kudu does a batch: rows that fit are applied, the others are reported.

The rest of a tablet's share is applied at once, with the same outcome as row after row: of rows
with one key the first is inserted or deleted, and the last update wins. Each step is a mask over
all rows; only rows that are reported are looked at one by one.
"""

from collections.abc import Sequence

import numpy as np

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowErrorCollector, RowResults
from pykudu_sql.storage.errors import Error
from pykudu_sql.storage.ingest.row_batch import Positions, RowBatch, key_text
from pykudu_sql.storage.ingest.validation import Mask, Violation
from pykudu_sql.storage.tablet.rowset.locator import Located
from pykudu_sql.storage.tablet.write.keyed_operations import (
    KeyedOperations,
    effective_rows,
    misfits,
)
from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites


class RowCollector:
    """What becomes of the rows of one batch. Used once, by one thread."""

    def __init__(self, table: TableInfo, rows: int) -> None:
        """No row is refused yet. `table`: to be written; `rows`: of the batch."""
        self._table = table
        self._rows = rows
        self._errors = RowErrorCollector()
        self._ignored = 0

    def refuse(self, batch: RowBatch, violation: Violation) -> RowBatch:
        """Note the rows that a rule refuses; the batch without them."""
        wrong = np.flatnonzero(violation.mask)

        def describe(index: int) -> tuple[str, Error]:
            row = int(wrong[index])
            return batch.key_text(row), violation.reason(row)

        self._errors.add(batch.positions[wrong], describe)
        return batch.take(np.flatnonzero(~violation.mask))

    def refuse_share(
        self, batch: KeyedOperations, positions: Positions, violation: Violation
    ) -> Positions:
        """Note the rows of a tablet's share that a rule refuses; the indices of the others.

        `positions`: of the rows in the statement.
        """
        wrong = np.flatnonzero(violation.mask)

        def describe(index: int) -> tuple[str, Error]:
            row = int(wrong[index])
            key = key_text(self._table, batch.operations.columns, row)
            return key, violation.reason(row)

        self._errors.add(positions[wrong], describe)
        return np.flatnonzero(~violation.mask)

    def decide(
        self, pending: PendingWrites, batch: KeyedOperations, located: Located, positions: Positions
    ) -> Sequence[Positions]:
        """Take out the rows that do not fit what a tablet holds.

        Args:
            pending: the transaction's writes to the tablet.
            batch: the tablet's share of the rows.
            located: where their keys are.
            positions: of the rows in the statement.

        Returns:
            Rows of the share that have an effect, in batches of distinct keys that are to be
            written one after the other.
        """
        alive = located.alive
        wrong = misfits(batch, located)
        self._refuse_located(pending, batch, positions, np.flatnonzero(wrong), alive)
        able = ~wrong & effective_rows(batch, alive)
        self._ignored += int(np.count_nonzero(~wrong & ~able))
        fit = np.flatnonzero(able)
        first, last = _occurrences(batch.keys.take(fit))
        deletes = batch.kind in (RowOpKind.DELETE, RowOpKind.DELETE_IGNORE)
        if batch.kind.numbers or deletes or batch.fixed is not None:
            later = fit[~first]
            if batch.kind.ignores:
                self._ignored += len(later)
            else:
                alive_later = np.full(len(alive), not deletes)
                self._refuse_located(pending, batch, positions, later, alive_later)
            return [fit[first]]
        if batch.kind is RowOpKind.UPSERT_IGNORE and self._table.schema.immutable_ids:
            # Immutable cells come from the row that inserts, the others from the last.
            begins = first & ~alive[fit]
            return [fit[begins], fit[last & ~begins]]
        return [fit[last]]

    def _refuse_located(
        self,
        pending: PendingWrites,
        batch: KeyedOperations,
        positions: Positions,
        indices: Positions,
        alive: Mask,
    ) -> None:
        """Note rows of a tablet's share; `alive`: whether their keys exist when applied."""

        def describe(index: int) -> tuple[str, Error]:
            row = int(indices[index])
            key = key_text(self._table, batch.operations.columns, row)
            return key, pending.misfit(batch, row, bool(alive[row]))

        self._errors.add(positions[indices], describe)

    def results(self) -> RowResults:
        """What became of the batch, once the rows of all tablets are written."""
        failed, ignored = self._errors.failed, self._ignored
        applied = self._rows - failed - ignored
        errors, refused_positions = self._errors.errors(), self._errors.positions()
        return RowResults(applied, ignored, failed, errors, refused_positions)


def _occurrences(keys: EncodedKeys) -> tuple[Mask, Mask]:
    """Which of some keys are the first of their kind, and which the last."""
    order = keys.argsort()
    repeated = keys.duplicates(order)
    first, last = np.ones(len(keys), np.bool_), np.ones(len(keys), np.bool_)
    # The sort is stable: of equal keys the one given earlier stands first.
    first[order[repeated]] = False
    last[order[repeated - 1]] = False
    return first, last
