"""The changes of some rows are those of all rows, however the rows lie among the changed ones."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.types.hybrid_time import Timestamp, bound_at
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_view import DeltaView, StorePart
from pykudu_sql.storage.tablet.delta.deltamemstore import DeltaMemStore
from pykudu_sql.storage.tablet.rowset.row_patches import RowPatches

ROWS = 60
TYPES = {1: DataType(Kind.INT32), 2: DataType(Kind.STRING)}


def view_of(batches: Sequence[Sequence[int]]) -> DeltaView:
    """Of batches that set two columns by turns, one after another."""
    store = DeltaMemStore(1, TYPES)
    for time, rows in enumerate(batches, 1):
        numbers = [100 * time + row for row in rows]
        cells = {1: pa.array(numbers, pa.int32()), 2: pa.array([f"{n}" for n in numbers])}
        if time % 3 == 0:
            del cells[1]
        ordinals = np.array(rows, np.int64)
        store.add_batch(DeltaKind.UPDATE, ordinals, cells, Timestamp(time))
    return DeltaView([StorePart(store, bound_at(Timestamp(len(batches))))] if batches else [])


rows = st.lists(st.integers(0, ROWS - 1), min_size=1, max_size=20, unique=True)


@given(st.lists(rows, max_size=6), rows, st.booleans())
def test_changes_of_some_rows_are_those_of_the_last_batch_that_has_each(
    batches: list[list[int]], some: list[int], is_ascending: bool
) -> None:
    some = sorted(some) if is_ascending else some
    patches = RowPatches(view_of(batches), np.array(some, np.int64))
    for column_id in (1, 2, 1):
        expected = {}
        for time, changed in enumerate(batches, 1):
            if column_id == 2 or time % 3:
                expected |= {row: str(100 * time + row) for row in changed if row in some}
        patch = patches.patch(column_id)
        if patch is None:
            assert not expected
            continue
        cells = [str(cell) for cell in patch.values.to_pylist()]
        assert {some[i]: c for i, c in zip(patch.ordinals, cells, strict=True)} == expected
        assert len(patch.ordinals) == len(expected)
