"""What a view of the newest snapshot tells of the changes of many columns."""

import weakref
from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.tablet.delta import delta_view
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import (
    CellsSet,
    DeltaCells,
    Deltas,
    Ordinals,
    cells_set_by,
)
from pykudu_sql.storage.tablet.delta.delta_view import CurrentView, DeltaView, StorePart
from pykudu_sql.storage.tablet.rowset.row_patches import RowPatches

ROWS, COLUMNS = 50, 300


class Part:
    """A store in memory with batches in which each column is set in other rows."""

    def __init__(self) -> None:
        self.batches = [self._batch(first) for first in (0, 1, 2)]

    def _batch(self, first: int) -> Deltas:
        ordinals = np.arange(ROWS, dtype=np.int64)
        cells = {}
        for column_id in range(COLUMNS):
            positions = np.array([(column_id + first) % ROWS], np.int64)
            cells[column_id] = DeltaCells(positions, pa.array([column_id], pa.int32()))
        kinds = np.full(ROWS, DeltaKind.UPDATE, np.uint8)
        return Deltas(ordinals, np.ones(ROWS, np.uint64), kinds, cells)

    def since(self, _time: int) -> Sequence[Deltas]:
        return self.batches


def test_each_column_has_the_rows_that_its_own_batches_set() -> None:
    part = Part()
    view = CurrentView(DeltaView(()), [cast(StorePart, part)], 1, 0)
    patches = RowPatches(view, np.arange(ROWS, dtype=np.int64))
    for column_id in range(COLUMNS):
        rows = [(column_id + first) % ROWS for first in (0, 1, 2)]
        numbers = view.numbers_set(column_id)
        assert numbers is not None and numbers[0].tolist() == rows
        patch = patches.patch(column_id)
        assert patch is not None and patch.ordinals.tolist() == sorted(rows)


def test_what_is_found_by_its_identity_stays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[weakref.ref[Ordinals]] = []

    def noted(changes: Iterable[Deltas], column_id: int) -> list[CellsSet]:
        cells_set = cells_set_by(changes, column_id)
        made.extend(weakref.ref(ordinals) for ordinals, _ in cells_set)
        return cells_set

    monkeypatch.setattr(delta_view, "cells_set_by", noted)
    view = CurrentView(DeltaView(()), [cast(StorePart, Part())], 1, 0)
    for column_id in range(COLUMNS):
        view.numbers_set(column_id)
    # The memory of one that is gone may be that of another one, which has the same identity then.
    assert len(made) == 3 * COLUMNS and None not in [each() for each in made]
