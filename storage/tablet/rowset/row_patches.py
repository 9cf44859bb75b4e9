"""What a delta view changes of some rows of a rowset.

Many batches in memory that changed a few cells each of the rows' neighbourhood are cut to it, which
is one search in each, and what is left of them is looked at together. Few rows that lie far apart
are searched for in each layer.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.ordinal_take import take_ordinals
from pykudu_sql.storage.tablet.delta.delta_store import (
    CellPatch,
    CellsSet,
    ColumnPatch,
    Ordinals,
    concat_values,
    last_of_each,
    places_in_order,
    places_of,
)
from pykudu_sql.storage.tablet.delta.delta_view import CurrentView, DeltaView, merged

# The cells of several layers are searched as one while they are at most so many for each row.
_MOST_CELLS_FOR_A_ROW: Final = 2


class RowPatches:
    """What a view changes of some rows, located once for all columns that the same batches set."""

    def __init__(self, view: DeltaView, ordinals: Ordinals) -> None:
        """Nothing is looked for yet. `ordinals`: of the rows, distinct, in any order."""
        self.ordinals = ordinals
        self._view = view
        self._places: dict[int, tuple[Ordinals, Ordinals]] = {}
        self._is_ascending = len(ordinals) > 0 and bool((ordinals[1:] > ordinals[:-1]).all())
        self._find = places_in_order if self._is_ascending else places_of
        self._joined: dict[tuple[int, ...], _JoinedPlaces | None] = {}
        # What the identities in the keys are of: the view may let go of it.
        self._holds: list[object] = []

    def patch(self, column_id: int) -> ColumnPatch | None:
        """The cells that win in a column, by index among the rows; None when none changed."""
        if self._is_ascending and isinstance(self._view, CurrentView):
            numbers = self._view.numbers_set(column_id)
            if numbers is not None:
                return self._of_numbers(numbers)
        layers = self._view.layers(column_id)
        at_hand = [layer for layer in layers if isinstance(layer, ColumnPatch)]
        if self._is_ascending and len(layers) == len(at_hand) > 1:
            places = self._joined_places(at_hand)
            if places is not None:
                return places.cells_of(at_hand)
        return merged([part for layer in layers if (part := self._part(layer)) is not None])

    def _of_numbers(self, numbers: CellsSet) -> ColumnPatch | None:
        ordinals, values = numbers
        key = id(ordinals)
        if key not in self._places:
            self._holds.append(ordinals)
            self._places[key] = _last_places(ordinals, self.ordinals)
        indices, places = self._places[key]
        return ColumnPatch(indices, take_ordinals(values, places)) if len(indices) else None

    def _joined_places(self, layers: Sequence[ColumnPatch]) -> "_JoinedPlaces | None":
        key = tuple(id(layer.ordinals) for layer in layers)
        if key not in self._joined:
            self._holds.append(layers)
            self._joined[key] = _places_among([layer.ordinals for layer in layers], self.ordinals)
        return self._joined[key]

    def _part(self, layer: CellPatch) -> ColumnPatch | None:
        if not isinstance(layer, ColumnPatch):
            return layer.at_ordinals(self.ordinals)
        key = id(layer.ordinals)
        if key not in self._places:
            self._holds.append(layer)
            self._places[key] = self._find(layer.ordinals, self.ordinals)
        indices, places = self._places[key]
        if not len(indices):
            return None
        return ColumnPatch(indices, take_ordinals(layer.values, places))


@dataclass(frozen=True, slots=True)
class _JoinedPlaces:
    """The cells of some layers that win in some rows.

    Attributes:
        spans: of each layer first and end of the cells between the first row and the last.
        indices: of the changed rows among all that were asked for.
        picks: where their cells are among those of all spans, one after another.
    """

    spans: Sequence[tuple[int, int]]
    indices: Ordinals
    picks: Ordinals

    def cells_of(self, layers: Sequence[ColumnPatch]) -> ColumnPatch | None:
        """The cells of layers of these rows; None when none changed."""
        if not len(self.indices):
            return None
        cells = concat_values(
            layer.values.slice(first, end - first)
            for layer, (first, end) in zip(layers, self.spans, strict=True)
            if first < end
        )
        return ColumnPatch(self.indices, take_ordinals(cells, self.picks))


def _last_places(changed: Ordinals, ordinals: Ordinals) -> tuple[Ordinals, Ordinals]:
    """Which of some rows are changed ones: their indices, and the last place of each among these.

    `changed`: in any order, perhaps repeatedly; `ordinals`: ascending and distinct, at least one.
    """
    near = np.flatnonzero((changed >= ordinals[0]) & (changed <= ordinals[-1]))
    indices, hits = places_of(ordinals, changed[near])[::-1]
    places = np.full(len(ordinals), -1, np.int64)
    places[indices] = near[hits]
    changed_rows = np.flatnonzero(places >= 0)
    return changed_rows, places[changed_rows]


def _places_among(layers: Sequence[Ordinals], ordinals: Ordinals) -> _JoinedPlaces | None:
    """Places in the part of the layers that lies between the first of some rows and the last.

    `ordinals`: of the rows, ascending, distinct, at least one. Returns None where that part is
    much larger than the rows are many: few rows are searched for in each layer then.
    """
    ends = np.array([ordinals[0], ordinals[-1] + 1])
    limits = [changed.searchsorted(ends).tolist() for changed in layers]
    spans = [(first, end) for first, end in limits]
    if sum(end - first for first, end in spans) > _MOST_CELLS_FOR_A_ROW * len(ordinals):
        return None
    changed = np.concatenate([o[first:end] for o, (first, end) in zip(layers, spans, strict=True)])
    order = np.argsort(changed, kind="stable")
    newest = order[last_of_each(changed[order])]
    indices, places = places_in_order(changed[newest], ordinals)
    return _JoinedPlaces(spans, indices, newest[places])
