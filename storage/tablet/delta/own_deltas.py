"""A transaction's uncommitted changes of one rowset, in the order in which they were made.

Small statements leave theirs in a DeltaMemStore, large ones in a delta file that no manifest names
yet. Both are layers here, the oldest first: what a later one says of a row or cell counts. All of
it has the time `UNCOMMITTED`, and so is seen by the transaction at any bound.

Batches go to the store only when the transaction reads it: most commit without.
"""

import threading
from collections.abc import Mapping, Sequence

import pyarrow as pa

from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING, UNCOMMITTED
from pykudu_sql.storage.common.types.types import Cell, DataType
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.delta.delta_view import DeltaPart, FilePart
from pykudu_sql.storage.tablet.delta.deltafile import DeltaFile
from pykudu_sql.storage.tablet.delta.deltamemstore import DeltaMemStore, batch_bytes
from pykudu_sql.storage.tablet.delta.row_change import RowChange


class OwnDeltas:
    """Changes of one rowset by one transaction. One thread adds; then several may read at once."""

    __slots__ = ("_layers", "_lock", "_types", "_unread", "_unread_bytes")

    def __init__(self, types: Mapping[int, DataType]) -> None:
        """No changes yet. `types`: of all columns that changes may name."""
        self._layers: list[DeltaMemStore | DeltaFile] = []
        self._unread: list[tuple[DeltaKind, Ordinals, Mapping[int, pa.Array]]] = []
        self._unread_bytes = 0
        self._types = types
        self._lock = threading.Lock()

    def add_batch(self, kind: DeltaKind, ordinals: Ordinals, cells: Mapping[int, pa.Array]) -> None:
        """Add one kind of change of many rows; see `DeltaMemStore.add_batch`."""
        self._unread.append((kind, ordinals, cells))
        self._unread_bytes += batch_bytes(ordinals, cells)

    def add_one(self, ordinal: int, kind: DeltaKind, cells: Mapping[int, Cell]) -> None:
        """Add a change of one row."""
        self._take_unread()
        self._memory().add_one(ordinal, kind, cells, UNCOMMITTED)

    def add_file(self, file: DeltaFile) -> None:
        """Add changes that stand in a staged file."""
        self.layers.append(file)

    @property
    def layers(self) -> list[DeltaMemStore | DeltaFile]:
        """Stores in memory and files, oldest first."""
        self._take_unread()
        return self._layers

    def _take_unread(self) -> None:
        if not self._unread:
            return
        with self._lock:
            for kind, ordinals, cells in self._unread:
                self._memory().add_batch(kind, ordinals, cells, UNCOMMITTED)
            # Last: until then another reader has to wait for the lock.
            self._unread, self._unread_bytes = [], 0

    def _memory(self) -> DeltaMemStore:
        """The store in memory that takes the next change."""
        newest = self._layers[-1] if self._layers else None
        if not isinstance(newest, DeltaMemStore):
            newest = DeltaMemStore(0, self._types)
            self._layers.append(newest)
        return newest

    @property
    def bytes(self) -> int:
        """Roughly those of the changes in memory that came after the last file."""
        newest = self._layers[-1] if self._layers else None
        stored = newest.bytes if isinstance(newest, DeltaMemStore) else 0
        return stored + self._unread_bytes

    @property
    def filed(self) -> Sequence[DeltaMemStore | DeltaFile]:
        """The files, and the stores in memory whose changes came before those of a file."""
        # What is unread came after the last file.
        count = len(self._layers)
        while count and isinstance(self._layers[count - 1], DeltaMemStore):
            count -= 1
        return self._layers[:count]

    @property
    def deletes(self) -> int:
        """How many rows of a rowset on disk files delete, none of which comes back."""
        files = (layer for layer in self.layers if isinstance(layer, DeltaFile))
        return sum(file.meta.stats.deletes for file in files)

    def parts(self) -> Sequence[DeltaPart]:
        """The changes as the last parts of a view."""
        parts: list[DeltaPart] = []
        for layer in self.layers:
            if isinstance(layer, DeltaFile):
                parts.append(FilePart(layer, EVERYTHING))
            else:
                parts += layer.current()
        return parts

    def row_changes(self, ordinal: int, column_ids: Sequence[int]) -> Sequence[RowChange]:
        """The combined effect of one row's changes, one for each layer, in their order.

        `ordinal`: of the row; `column_ids`: whose cells are wanted; others may come too.
        """
        changes = [
            layer.outcome_of(ordinal, EVERYTHING, column_ids, self._types)
            if isinstance(layer, DeltaFile)
            else layer.outcome_of(ordinal, EVERYTHING)
            for layer in self.layers
        ]
        return [change for change in changes if change is not None]
