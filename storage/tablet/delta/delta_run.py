"""A run of deltas in memory: columns that later changes leave as they are.

A DeltaMemStore holds its newest changes as runs in tiers, the oldest and largest first, as an LSM
tree does: a change makes only small runs anew, and what a run comes to in a column is worked out
once, when the column is read.
"""

import numpy as np
import numpy.typing as npt

from pykudu_sql.storage.tablet.delta.delta_store import (
    ColumnPatch,
    Deltas,
    Ordinals,
    is_distinct,
    liveness,
    winners,
)


class DeltaRun:
    """Deltas in memory, all of them visible; a part of a delta view. Safe for threads.

    Attributes:
        deltas: in REDO order.
    """

    __slots__ = ("_is_distinct", "_layers", "_liveness", "deltas")

    def __init__(self, deltas: Deltas) -> None:
        """A run of deltas in REDO order."""
        self.deltas = deltas
        self._layers: dict[int, tuple[ColumnPatch, ...]] = {}
        self._is_distinct: bool | None = None
        self._liveness: tuple[Ordinals, npt.NDArray[np.bool_]] | None = None

    def __len__(self) -> int:
        return len(self.deltas)

    @property
    def records(self) -> int:
        return len(self.deltas)

    def may_change(self, column_id: int) -> bool:
        return column_id in self.deltas.cells

    def layers(self, column_id: int) -> tuple[ColumnPatch, ...]:
        if column_id not in self._layers:
            patch = self._patch(column_id)
            self._layers[column_id] = () if patch is None else (patch,)
        return self._layers[column_id]

    def _patch(self, column_id: int) -> ColumnPatch | None:
        """Columns that every record sets share the rows, where each of these comes once."""
        cells = self.deltas.cells.get(column_id)
        if cells is None or len(cells.positions) < len(self.deltas):
            return winners(self.deltas, column_id)
        if self._is_distinct is None:
            self._is_distinct = is_distinct(self.deltas.ordinals)
        if self._is_distinct:
            return ColumnPatch(self.deltas.ordinals, cells.values)
        return winners(self.deltas, column_id)

    def liveness(self) -> tuple[Ordinals, npt.NDArray[np.bool_]]:
        if self._liveness is None:
            self._liveness = liveness(self.deltas)
        return self._liveness
