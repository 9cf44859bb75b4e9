"""The single changes of one row in memory, so kept that any snapshot finds its state quickly.

"Now" is one look-up: what all changes come to is kept up to date as they arrive. An earlier
snapshot is found by bisection and a walk back over the changes that ends once every column that
ever changed is found.
"""

from bisect import bisect_left
from collections.abc import Mapping

from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, Timestamp
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.row_change import RowChange


class NewestCells:
    """For each column of one row the cell that came last, and the last decision on its life.

    `timestamp`: of the newest change looked at, -1 before any.
    """

    __slots__ = ("_cells", "_decision", "timestamp")

    def __init__(self) -> None:
        """Nothing yet."""
        self.timestamp = Timestamp(-1)
        self._cells: dict[int, tuple[int, Cell]] = {}
        self._decision = (-1, DeltaKind.UPDATE)

    def add_cells(self, order: int, cells: Mapping[int, Cell]) -> None:
        """Cells of a change, which count where no later change set the column."""
        for column_id, cell in cells.items():
            current = self._cells.get(column_id)
            if current is None or current[0] < order:
                self._cells[column_id] = (order, cell)

    def add_decision(self, order: int, kind: DeltaKind) -> None:
        """A DELETE or REINSERT, which counts unless a later one is there."""
        if order > self._decision[0]:
            self._decision = (order, kind)

    def outcome(self) -> RowChange | None:
        """The combined effect of all changes, None when there was none."""
        if self.timestamp < 0:
            return None
        cells = {column_id: cell for column_id, (_, cell) in self._cells.items()}
        return RowChange(self.timestamp, self._decision[1], cells)


class RowHistory:
    """The single changes of one row, which arrive in the order of their times.

    `outcome`: the combined effect of all.
    """

    __slots__ = ("_changes", "_decisions", "outcome")

    def __init__(self, change: RowChange) -> None:
        """A row changed for the first time."""
        self._changes = [change]
        self._decisions: list[RowChange] | None = None
        self.outcome = change
        self._note_decision(change)

    def add(self, change: RowChange) -> None:
        """One more change, later than all."""
        self._changes.append(change)
        self._note_decision(change)
        before = self.outcome
        kind = before.kind if change.kind is DeltaKind.UPDATE else change.kind
        cells = {**before.cells, **change.cells}
        self.outcome = RowChange(change.timestamp, kind, cells, change.order)

    def _note_decision(self, change: RowChange) -> None:
        if change.kind is not DeltaKind.UPDATE:
            if self._decisions is None:
                self._decisions = []
            self._decisions.append(change)

    def gather(self, bound: SnapshotBound, newest: NewestCells) -> None:
        """Add the combined effect of the changes below a bound."""
        below: int = bound
        stop = bisect_left(self._changes, below, key=_time)
        if not stop:
            return
        newest.timestamp = max(newest.timestamp, self._changes[stop - 1].timestamp)
        cell_count = len(self.outcome.cells)
        column_ids: set[int] = set()
        for index in range(stop - 1, -1, -1):
            change = self._changes[index]
            newest.add_cells(change.order, change.cells)
            column_ids.update(change.cells)
            if len(column_ids) == cell_count:
                break
        decisions = self._decisions or ()
        index = bisect_left(decisions, below, key=_time)
        if index:
            newest.add_decision(decisions[index - 1].order, decisions[index - 1].kind)


def _time(change: RowChange) -> int:
    return change.timestamp
