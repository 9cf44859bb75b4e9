"""Merging deltas sorts them: by row, then in the order of time, then in that of their making."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import (
    DeltaCells,
    Deltas,
    merge_redo,
    merge_undo,
    places_in_order,
    places_of,
)

Record = tuple[int, int]  # ordinal and time


def deltas_of(records: list[Record], first: int) -> Deltas:
    """Deltas that set column 1 to numbers counted from `first`, on every second record."""
    setting = np.arange(0, len(records), 2, dtype=np.int64)
    return Deltas(
        np.array([ordinal for ordinal, _ in records], np.int64),
        np.array([time for _, time in records], np.uint64),
        np.full(len(records), int(DeltaKind.UPDATE), np.uint8),
        {1: DeltaCells(setting, pa.array(setting + first))} if len(setting) else {},
    )


def told(deltas: Deltas) -> list[tuple[int, int, int | None]]:
    """Each record with the cell it sets."""
    column = deltas.cells.get(1)
    cells = (
        {}
        if column is None
        else dict(zip(column.positions.tolist(), column.values.to_pylist(), strict=True))
    )
    return [
        (ordinal, time, cells.get(place))
        for place, (ordinal, time) in enumerate(
            zip(deltas.ordinals.tolist(), deltas.timestamps.tolist(), strict=True)
        )
    ]


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("follows_in_time", [True, False])
@given(parts=st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 9))), max_size=5))
def test_merged_deltas_are_those_of_all_parts_in_order(
    direction: int, follows_in_time: bool, parts: list[list[Record]]
) -> None:
    batches = []
    for number, records in enumerate(parts):
        later = 10 * (number if direction > 0 else len(parts) - number) if follows_in_time else 0
        moved = [(ordinal, time + later) for ordinal, time in records]
        batches.append(
            deltas_of(sorted(moved, key=lambda r: (r[0], direction * r[1])), 100 * number)
        )
    merged = merge_redo(batches) if direction > 0 else merge_undo(batches)
    everything = [record for batch in batches for record in told(batch)]
    assert told(merged) == sorted(everything, key=lambda r: (r[0], direction * r[1]))


@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60), min_size=1))
def test_places_of_rows_in_order_are_those_of_rows_in_any_order(
    changed: set[int], requested: set[int]
) -> None:
    changed_ordinals = np.array(sorted(changed), np.int64)
    requested_ordinals = np.array(sorted(requested), np.int64)
    indices, places = places_in_order(changed_ordinals, requested_ordinals)
    wanted_indices, wanted_places = places_of(changed_ordinals, requested_ordinals)
    assert indices.tolist() == wanted_indices.tolist()
    assert places.tolist() == wanted_places.tolist()
