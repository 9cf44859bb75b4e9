"""A transaction's uncommitted changes of one rowset, in the order in which they were made.

Small statements leave theirs in a DeltaMemStore, large ones in a delta file that no manifest names
yet. Both are layers here, the oldest first: what a later one says of a row or cell counts. All of
it has the time `UNCOMMITTED`, and so is seen by the transaction at any bound.
"""

from collections.abc import Mapping, Sequence

from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.tablet.delta.delta_view import DeltaPart, FilePart
from pykudu_sql.storage.tablet.delta.deltafile import DeltaFile
from pykudu_sql.storage.tablet.delta.deltamemstore import DeltaMemStore
from pykudu_sql.storage.tablet.delta.row_change import RowChange


class OwnDeltas:
    """Changes of one rowset by one transaction. Used by one thread at a time.

    `layers`: stores in memory and files, oldest first.
    """

    __slots__ = ("_types", "layers")

    def __init__(self, types: Mapping[int, DataType]) -> None:
        """No changes yet. `types`: of all columns that changes may name."""
        self.layers: list[DeltaMemStore | DeltaFile] = []
        self._types = types

    @property
    def memory(self) -> DeltaMemStore:
        """The store in memory that takes the next change."""
        if not self.layers or isinstance(self.layers[-1], DeltaFile):
            self.layers.append(DeltaMemStore(0, self._types))
        newest = self.layers[-1]
        assert isinstance(newest, DeltaMemStore)
        return newest

    @property
    def filed(self) -> Sequence[DeltaMemStore | DeltaFile]:
        """The files, and the stores in memory whose changes came before those of a file."""
        count = len(self.layers)
        while count and isinstance(self.layers[count - 1], DeltaMemStore):
            count -= 1
        return self.layers[:count]

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
