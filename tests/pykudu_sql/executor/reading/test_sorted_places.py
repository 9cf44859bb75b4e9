"""Few rows in the order of an ORDER BY, without the engine."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pykudu_sql.executor.reading.sorted_places import sorted_places
from pykudu_sql.planner.plan.query_plans import ScannedRows, SortKey
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder

COLUMNS = {
    3: pa.array([2, None, 1, 2, None, 3]),
    5: pa.chunked_array([["b", "a"], ["c", None, "d", "e"]]),
}


def places(*sort: SortKey, offset: int = 0, limit: int | None = None) -> list[int] | None:
    scanned = ScannedRows((3,), ScanOrder.NONE, offset, sort, limit)
    order = sorted_places(COLUMNS, scanned)
    return None if order is None else order.to_pylist()


def test_each_column_has_its_own_direction_and_place_for_nulls() -> None:
    ascending, descending = SortKey(3, False, True), SortKey(3, True, False)
    word, back = SortKey(5, False, False), SortKey(5, True, True)
    assert places(ascending, word) == [1, 4, 2, 0, 3, 5]
    assert places(descending, back) == [5, 3, 0, 2, 4, 1]


def test_a_limit_and_an_offset_cut_the_rows_that_are_sorted() -> None:
    key = (SortKey(3, False, False), SortKey(5, False, False))
    assert places(*key, offset=1, limit=2) == [0, 3]
    assert places(*key, offset=9, limit=2) == []
    assert places(*key, offset=4) == [1, 4]


@pytest.mark.parametrize("rows", [5, 20_000])
def test_floating_point_numbers_are_sorted_unless_one_is_no_number(rows: int) -> None:
    numbers = [1.5, float("-inf"), -0.0, float("inf"), 0.5, *map(float, range(5, rows))]
    key = (SortKey(3, True, False),)
    scanned = ScannedRows((3,), ScanOrder.NONE, 0, key, 3)

    def of(values: pa.Array) -> list[int] | None:
        order = sorted_places({3: values}, scanned)
        return None if order is None else order.to_pylist()

    for kind in (pa.float32(), pa.float64()):
        first = of(pa.array(numbers, kind))
        assert first == ([3, 0, 4] if rows == 5 else [3, rows - 1, rows - 2])
        assert of(pa.array([*numbers, float("nan")], kind)) is None


def test_of_more_rows_few_are_picked_and_all_are_left_to_the_engine() -> None:
    many = {3: pa.array(range(50_000))}
    descending = (SortKey(3, True, True),)

    def of_many(offset: int, limit: int | None) -> pa.Array | None:
        return sorted_places(many, ScannedRows((3,), ScanOrder.NONE, offset, descending, limit))

    picked = of_many(2, 3)
    assert picked is not None
    assert picked.to_pylist() == [49_997, 49_996, 49_995]
    assert of_many(0, None) is None
    assert of_many(9000, 5) is None
    many[3] = pa.array([None, *range(50_000)])
    assert of_many(0, 3) is None


@pytest.mark.parametrize("limit", [1, None])
def test_no_rows_have_no_places(limit: int | None) -> None:
    none = {3: pa.array([], pa.int64())}
    order = sorted_places(
        none, ScannedRows((3,), ScanOrder.NONE, 0, (SortKey(3, True, True),), limit)
    )
    assert order is not None
    assert len(order) == 0


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(
    "kind",
    [
        *(pa.int8(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.date32()),
        *(pa.timestamp("us"), pa.decimal64(12, 0), pa.decimal128(20, 0), pa.string()),
    ],
)
def test_the_first_of_many_rows_are_those_of_a_sort_whatever_order_they_are_in(
    kind: pa.DataType, descending: bool
) -> None:
    ascending = np.arange(20_000) // 160 - 60
    shuffled = np.random.default_rng(7).permutation(ascending)
    for numbers in (ascending, ascending[::-1], shuffled):
        integers = pa.array(numbers.astype(np.int32))
        through = pa.int64() if pa.types.is_timestamp(kind) else pa.int32()
        cells = integers.cast(through).cast(kind)
        columns = {3: pa.chunked_array([cells[:700], cells[700:]]), 5: pa.array(range(20_000))}
        sort = (SortKey(3, descending, False), SortKey(5, True, False))
        whole = pa.table({"a": columns[3], "b": columns[5]})
        order = [("a", "descending" if descending else "ascending"), ("b", "descending")]
        kept = cells.cast(pa.decimal128(12, 0)) if kind == pa.decimal64(12, 0) else columns[3]
        expected = pc.sort_indices(whole.set_column(0, "a", kept), order).to_pylist()
        for offset, limit in ((0, 1), (0, 7), (5, 400), (0, 0)):
            scanned = ScannedRows((3,), ScanOrder.NONE, offset, sort, limit)
            found = sorted_places(columns, scanned)
            assert found is not None
            assert found.to_pylist() == expected[offset : offset + limit]
