"""Writing rows with their history as DiskRowSets of a bounded size.

Flush and merging compaction end here: the base image, an UNDO file for the way back, a REDO file
for the rows that died last. As Kudu does (`RollingDiskRowSetWriter`), a rowset that grows past the
target is closed and the next one begun. A rowset that one commit inserted keeps that time instead
of an UNDO file.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.cancellation import CancelCheck
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.types.hybrid_time import Timestamp
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.tablet.delta.delta_file_meta import DeltaFileMeta
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import Deltas, append_deltas, between, shifted
from pykudu_sql.storage.tablet.delta.deltafile import REDO, UNDO
from pykudu_sql.storage.tablet.files.staged_files import StagedFiles, write_deltas
from pykudu_sql.storage.tablet.history.row_slice import RowSlice, gather, part_of, way_back
from pykudu_sql.storage.tablet.maintenance.diskrowset_writer import write_base
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta
from pykudu_sql.storage.tablet.tablet import Tablet


@dataclass(slots=True)
class _Open:
    """The rowset being gathered."""

    slices: list[RowSlice]
    rows: int = 0


class RollingRowSetWriter:
    """Takes slices in key order and writes rowsets of about equal size.

    Attributes:
        metas: of the rowsets written so far, in key order.
        starts: for each, the first of its rows among all rows taken.
        rows: taken so far.
    """

    def __init__(
        self,
        tablet: Tablet,
        columns: Sequence[ColumnSchema],
        staged: StagedFiles,
        rows_per_rowset: int,
        cancel_check: CancelCheck,
    ) -> None:
        """Nothing is written yet.

        Args:
            tablet: whose rowsets they become.
            columns: that the files hold.
            staged: takes the files written.
            rows_per_rowset: a rowset is closed once it has so many rows.
            cancel_check: called between the steps of writing a rowset; see `common.cancellation`.
        """
        self.metas: list[RowSetMeta] = []
        self.starts: list[int] = []
        self.rows = 0
        self._tablet = tablet
        self._columns = columns
        self._staged = staged
        self._limit = rows_per_rowset
        self._cancel_check = cancel_check
        self._open = _Open([])

    def append(self, rows: RowSlice) -> None:
        """Take rows behind those taken before. Raises DiskError: the disk refused."""
        count, start = len(rows.keys), 0
        while start < count:
            stop = min(count, start + self._limit - self._open.rows)
            part = rows if stop - start == count else part_of(rows, start, stop)
            self._open.slices.append(part)
            self._open.rows += stop - start
            start = stop
            if self._open.rows >= self._limit:
                self.finish()

    def finish(self) -> None:
        """Write what is left. Raises DiskError: the disk refused."""
        if self._open.rows:
            slices, self._open = self._open.slices, _Open([])
            self.starts.append(self.rows)
            self.metas.append(self._write(slices))
            self.rows += self.metas[-1].rows

    def add_changes(self, late: Deltas) -> None:
        """Write later changes of rows taken, as one more REDO file of each rowset that has some.

        `late`: in REDO order, by place among all rows taken. Raises DiskError: the disk refused.
        """
        edges = [*self.starts, self.rows]
        for index, (start, end) in enumerate(pairwise(edges)):
            redo = self._write_deltas(REDO, between(late, start, end))
            meta = self.metas[index]
            self.metas[index] = replace(meta, redo=(*meta.redo, *redo))

    def _write(self, slices: Sequence[RowSlice]) -> RowSetMeta:
        tablet = self._tablet
        keys = EncodedKeys.concat([s.keys for s in slices]) if len(slices) > 1 else slices[0].keys
        self._cancel_check()
        columns = gather([s.columns for s in slices])
        died = np.concatenate([s.deleted_at for s in slices])
        starts = np.cumsum([0, *(len(s.keys) for s in slices)])
        undo = way_back(
            append_deltas(
                [shifted(s.undo, int(start)) for s, start in zip(slices, starts, strict=False)]
            ),
            np.concatenate([s.inserted_at for s in slices]),
        )
        dead = np.flatnonzero(died)
        inserted_at = _single_insertion(undo, len(keys))
        with_base = write_base(
            tablet.files,
            tablet.new_rowset_id(),
            self._columns,
            columns,
            keys,
            inserted_at,
            self._cancel_check,
        )
        self._staged.append(("base", with_base.base))
        redo = Deltas(dead, died[dead], np.full(len(dead), int(DeltaKind.DELETE), np.uint8), {})
        return replace(
            with_base,
            undo=() if inserted_at is not None else self._write_deltas(UNDO, undo),
            redo=self._write_deltas(REDO, redo),
        )

    def _write_deltas(self, kind: str, deltas: Deltas) -> tuple[DeltaFileMeta, ...]:
        tablet = self._tablet
        return write_deltas(tablet.files, self._staged, kind, deltas, tablet.types)


def _single_insertion(undo: Deltas, rows: int) -> Timestamp | None:
    """The time of the one commit that inserted all rows, if that is their whole history."""
    if len(undo) != rows or undo.timestamps[0] == 0:
        return None
    same = bool((undo.timestamps == undo.timestamps[0]).all())
    if not same or bool((undo.kinds != DeltaKind.DELETE).any()):
        return None
    return Timestamp(int(undo.timestamps[0]))
