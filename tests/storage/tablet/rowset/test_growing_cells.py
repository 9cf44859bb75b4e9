"""Cells that grow at their end are those that were added, and arrays taken earlier stay."""

from decimal import Decimal

import pyarrow as pa
import pytest

from pykudu_sql.storage.tablet.rowset.growing_cells import GrowingCells

MOST = 1000


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us"), pa.decimal128(20, 2)],
    ids=str,
)
def test_an_array_taken_earlier_stays_while_more_is_added(kind: pa.DataType) -> None:
    made = pa.array([Decimal(n) for n in range(100)], pa.decimal128(20, 2))
    whole = (
        made
        if pa.types.is_decimal(kind)
        else pa.array(range(100), pa.int64())
        .cast(pa.int32() if kind == pa.date32() else pa.int64())
        .cast(kind)
    )
    column = GrowingCells([whole.slice(0, 3), whole.slice(3, 4)], MOST)
    taken = [column.cells]
    for start in range(7, 97, 9):
        column.extend([whole.slice(start, 2), whole.slice(start + 2, 7)])
        taken.append(column.cells)
    for cells in taken:
        cells.validate(full=True)
        assert cells.equals(whole.slice(0, len(cells)))


def test_most_additions_copy_only_what_is_added() -> None:
    column = GrowingCells([pa.array([0] * 100)], MOST)
    buffers = set()
    for _ in range(900):
        column.extend([pa.array([1])])
        buffers.add(column.cells.buffers()[1].address)
    assert len(buffers) < 20
    assert column.cells.buffers()[1].size <= MOST * 8


@pytest.mark.parametrize(
    ("first", "more"),
    [
        (["a", "bc"], [["d"], ["", None]]),
        ([True, False], [[True], [None]]),
        ([1, 2], [[3], [None, 4], [5]]),
        ([None, 1], [[2], [3]]),
    ],
    ids=["texts", "bits", "a NULL later", "a NULL first"],
)
def test_cells_of_other_shapes_are_put_together_anew(
    first: list[object], more: list[list[object]]
) -> None:
    kind = pa.array(first).type
    column, wanted = GrowingCells([pa.array(first, kind)], MOST), list(first)
    for part in more:
        column.extend([pa.array(part, kind)])
        wanted += part
        assert column.cells.to_pylist() == wanted
