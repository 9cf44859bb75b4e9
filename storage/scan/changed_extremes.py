"""The least and the greatest cell of a column that deltas changed, from few blocks of it.

A block's bounds in the zone map are those of its base cells. Changed cells are looked at all, and
blocks only from the one with the outermost bound on, until no bound of another is further out than
what is there: a bound may be that of a cell that was changed to something else.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.zone_map import ZoneMap
from pykudu_sql.storage.common.types.arrays import extreme_cells
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell, Kind
from pykudu_sql.storage.common.types.widening import in_type
from pykudu_sql.storage.tablet.delta.delta_applier import apply_patch
from pykudu_sql.storage.tablet.delta.delta_store import ColumnPatch
from pykudu_sql.storage.tablet.delta.delta_view import DeltaView
from pykudu_sql.storage.tablet.rowset.cfile_set import CFileSet

# Of each end; from there on a scan, whose column is kept, is as good.
_MOST_BLOCKS: Final = 4
# Their NaN has no place in a zone map.
_WITH_NAN: Final = frozenset((Kind.FLOAT, Kind.DOUBLE))

Bounds = tuple[Cell, Cell]


def changed_extremes(
    base: CFileSet, view: DeltaView, zone: ZoneMap, column: ColumnSchema
) -> Bounds | None:
    """Both ends of a column of a rowset whose rows are all alive, NULL where it has no value.

    Args:
        base: of the rowset.
        view: its deltas, of which some change the column.
        zone: the column's zone map.
        column: of the snapshot.

    Returns:
        None where that takes more blocks, a bound is unknown, or changed cells stay in a file.
    """
    patch = view.patch(column.id)
    if not isinstance(patch, ColumnPatch) or column.type.kind in _WITH_NAN:
        return None
    if not zone.has_bounds[zone.null_counts < zone.row_counts].all():
        return None

    def bounds_of(block: int) -> Bounds:
        first, end = zone.first_ordinals[block : block + 2].tolist()
        cells = base.column(column, first, end)
        return extreme_cells(apply_patch(cells, first, patch, column.type), column.type)

    low, high = extreme_cells(in_type(patch.values, column.type.arrow), column.type)
    bounded = zone.has_bounds.nonzero()[0].tolist()
    least = _End(low, operator.lt).beyond(bounded, zone.mins.tolist(), lambda b: bounds_of(b)[0])
    greatest = _End(high, operator.gt).beyond(
        bounded, zone.maxs.tolist(), lambda b: bounds_of(b)[1]
    )
    return None if least is None or greatest is None else (least.cell, greatest.cell)


@dataclass(frozen=True, slots=True)
class _End:
    """One end of the cells looked at so far.

    `cell`: NULL where none has a value; `is_beyond`: whether a cell is further out than another.
    """

    cell: Cell
    is_beyond: Callable[[Any, Any], bool]

    def with_cell(self, cell: Cell) -> "_End":
        """The end once one more cell is looked at."""
        return _End(cell, self.is_beyond) if self._is_passed_by(cell) else self

    def beyond(
        self, blocks: Sequence[int], bounds: Sequence[Cell], end_of: Callable[[int], Cell]
    ) -> "_End | None":
        """The end of blocks too, of which few are read; None where those do not do.

        `bounds`: no cell of a block is beyond; `end_of`: reads a block.
        """
        end, left = self, list(blocks)
        for _ in range(_MOST_BLOCKS + 1):
            left = [block for block in left if end._is_passed_by(bounds[block])]
            if not left:
                return end
            outermost = left[0]
            for block in left:
                outermost = block if self.is_beyond(bounds[block], bounds[outermost]) else outermost
            left.remove(outermost)
            end = end.with_cell(end_of(outermost))
        return None

    def _is_passed_by(self, cell: Cell) -> bool:
        return cell is not None and (self.cell is None or self.is_beyond(cell, self.cell))
