"""Own mutations: uncommitted changes of a transaction in rows that were there before, by rowset.

A change is kept twice: as a delta, through which the transaction sees it, and as a mutation for the
log. Where a large statement has put its changes of a rowset into a delta file, the file is what the
commit brings, and what came before it in memory becomes a file too: a commit's files are applied
before its changes in memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.tablet.commit_record import (
    BatchInsert,
    BatchMutation,
    RowInsert,
    RowMutation,
)
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals, by_ordinal
from pykudu_sql.storage.tablet.delta.deltafile import DeltaFile
from pykudu_sql.storage.tablet.delta.deltamemstore import DeltaMemStore
from pykudu_sql.storage.tablet.delta.own_deltas import OwnDeltas
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset.rowset import RowSet
from pykudu_sql.storage.tablet.tablet import Tablet, store_id_of


class OwnMutations:
    """Changes of rows of one tablet by one transaction. Used by one thread at a time.

    `deltas`: the changes, by rowset id.
    """

    def __init__(self, tablet: Tablet) -> None:
        """No changes yet."""
        self.deltas: dict[int, OwnDeltas] = {}
        self._tablet = tablet
        self._mutations: list[RowMutation | BatchMutation] = []

    def change(
        self, rowset: RowSet, kind: DeltaKind, ordinals: Ordinals, cells: Mapping[int, pa.Array]
    ) -> None:
        """Change many rows alike; see `DeltaMemStore.add_batch`."""
        # Sorted here, and not again by each of those who keep them in order.
        ordinals, cells = by_ordinal(ordinals, cells)
        self._of(rowset).add_batch(kind, ordinals, cells)
        self._mutations.append(BatchMutation(rowset.id, 0, kind, ordinals, cells))

    def change_one(
        self, rowset: RowSet, ordinal: int, kind: DeltaKind, cells: Mapping[int, Cell]
    ) -> None:
        """Change one row."""
        self._of(rowset).add_one(ordinal, kind, cells)
        self._mutations.append(RowMutation(rowset.id, 0, kind, ordinal, cells))

    def add_file(self, rowset: DiskRowSet, file: DeltaFile) -> None:
        """Add changes that stand in a staged file."""
        self._of(rowset).add_file(file)
        # The commit will write what was in memory to a file, not to the log.
        self._mutations = [m for m in self._mutations if m.rowset_id != rowset.id]

    def _of(self, rowset: RowSet) -> OwnDeltas:
        deltas = self.deltas.get(rowset.id)
        if deltas is None:
            deltas = self.deltas[rowset.id] = OwnDeltas(self._tablet.types)
        return deltas

    def mutations(self, targets: Mapping[int, RowSet]) -> list[RowMutation | BatchMutation]:
        """What the log must keep, for the stores of these rowsets that take changes now."""
        return [replace(m, store_id=store_id_of(targets[m.rowset_id])) for m in self._mutations]

    def filed(self, rowset_id: int) -> Sequence[DeltaMemStore | DeltaFile]:
        """What the commit brings to a rowset as files; see `OwnDeltas.filed`."""
        own = self.deltas.get(rowset_id)
        return () if own is None else own.filed


def final_inserts(
    tablet: Tablet, inserts: MemRowSet, bound: SnapshotBound
) -> list[tuple[RowInsert | BatchInsert, Sequence[bytes]]]:
    """A transaction's new rows that are left after it changed some of them again, and their keys.

    `tablet`: that they are for; `inserts`: all of them; `bound`: of the transaction's snapshot.
    """
    schema = tablet.schema.columns
    final: list[tuple[RowInsert | BatchInsert, Sequence[bytes]]] = []
    for block in inserts.scan(schema, None, bound, None):
        columns = {c.id: v for c, v in zip(schema, block.columns, strict=True)}
        final.append((BatchInsert(columns), tablet.key_encoder.encode(columns).to_pylist()))
    return final
