"""Arrow columns as Python values."""

import datetime as dt
import tracemalloc
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pykudu_sql
from pykudu_sql.results.table_result import TableResult, python_values
from pykudu_sql.storage.errors import ValueOutOfRangeError

COLUMNS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int8(), st.integers(-128, 127)),
    (pa.int64(), st.integers(-(1 << 63), (1 << 63) - 1)),
    (pa.uint64(), st.integers(0, (1 << 64) - 1)),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.bool_(), st.booleans()),
    (pa.string(), st.text()),
    (pa.binary(), st.binary()),
    (pa.date32(), st.dates()),
    (pa.timestamp("us"), st.datetimes()),
    (pa.decimal128(20, 4), st.decimals(-(10**15), 10**15, places=4)),
]


@pytest.mark.parametrize(("kind", "values"), COLUMNS, ids=[str(kind) for kind, _ in COLUMNS])
def test_values_survive_the_way_through_arrow(
    kind: pa.DataType, values: st.SearchStrategy[Any]
) -> None:
    @given(st.lists(st.none() | values), st.integers(0, 5))
    def check(given_values: list[Any], cut: int) -> None:
        column = pa.chunked_array(
            [pa.array(given_values[:cut], kind), pa.array(given_values[cut:], kind)], kind
        )
        found = python_values(column, "")
        assert found == given_values
        assert [type(v) for v in found] == [type(v) for v in given_values]

    check()


def test_wide_integers_become_int() -> None:
    wide = pa.chunked_array([pa.array([Decimal(1 << 100), None], pa.decimal128(38, 0))])
    assert python_values(wide, "HUGEINT") == [1 << 100, None]
    assert python_values(wide, "DECIMAL(38,0)") == [Decimal(1 << 100), None]


@pytest.mark.parametrize("bits", [126, 127, 128, 136, 300])
def test_integers_of_any_size_are_given_as_they_are_written(bits: int) -> None:
    written = [sign * (1 << bits) + more for sign in (1, -1) for more in (-1, 0, 1)]
    with pykudu_sql.connect() as connection:
        cursor = connection.execute(f"select {', '.join(map(str, written))}, null + {1 << bits}")
        assert cursor.fetchone() == (*written, None)
        assert all(column[1] == pykudu_sql.NUMBER for column in cursor.description or ())


@pytest.mark.parametrize(
    ("kind", "bad"),
    [
        (pa.date32(), 2_932_897),
        (pa.date32(), -719_163),
        (pa.timestamp("us"), 253_402_300_800_000_000),
        (pa.timestamp("us", "UTC"), -62_135_596_800_000_001),
    ],
    ids=str,
)
def test_times_python_has_no_value_for_are_an_error_and_never_a_number(
    kind: pa.DataType, bad: int
) -> None:
    stored = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    column = pa.chunked_array([pa.array([0, None, bad], stored).view(kind)])
    with pytest.raises(ValueOutOfRangeError, match=str(bad)):
        python_values(column, "")


def test_intervals_become_timedelta_unless_they_have_months() -> None:
    column = pa.chunked_array(
        [pa.array([(0, 2, 3_000_000_000), (1, 0, 0), None], pa.month_day_nano_interval())]
    )
    day, month, nothing = python_values(column, "INTERVAL")
    assert day == dt.timedelta(days=2, seconds=3)
    assert month.months == 1
    assert nothing is None


def test_nanoseconds_are_cut_to_microseconds_and_zones_are_kept() -> None:
    nanos = pa.chunked_array([pa.array([1_999, None], pa.timestamp("ns"))])
    assert python_values(nanos, "TIMESTAMP_NS") == [dt.datetime(1970, 1, 1, 0, 0, 0, 1), None]
    zoned = pa.chunked_array([pa.array([0], pa.timestamp("us", "UTC"))])
    assert python_values(zoned, "") == [dt.datetime(1970, 1, 1, tzinfo=dt.UTC)]


@given(st.lists(st.integers(0, 9000), max_size=8), st.integers(0, 12_000))
def test_a_result_gives_each_row_once_in_any_portions(sizes: list[int], length: int) -> None:
    result = TableResult(pa.table({"a": range(length)}), ("BIGINT",))
    found = [row for size in sizes for row in result.fetch(size)]
    assert result.position == len(found) == min(length, sum(sizes))
    assert [*found, *result.fetch(length)] == [(i,) for i in range(length)]


def test_wide_rows_become_python_values_a_few_at_a_time() -> None:
    table = pa.table({name: ["x" * 100_000] * 400 for name in "abcd"})
    result = TableResult(table, ["STRING"] * 4)
    tracemalloc.start()
    try:
        assert sum(len(result.fetch(3)) for _ in range(200)) == 400
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("count", [1, 5000], ids=["one by one", "many at once"])
def test_rows_without_python_values_are_never_passed_over(count: int) -> None:
    days = [0] * 10_000
    days[8200] = 10_000_000
    result = TableResult(pa.table({"d": pa.array(days, pa.date32())}), ["DATE"])
    while result.position + count <= 4096 * 2 // count * count:
        assert result.fetch(count) == [(dt.date(1970, 1, 1),)] * count
    reached = result.position
    for _ in range(3):
        with pytest.raises(ValueOutOfRangeError):
            result.fetch(count)
        assert result.position == reached
    assert result.read_table().num_rows == len(days) - reached


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.int64(), pa.float32(), pa.float64()])
def test_numbers_of_slices_and_of_several_chunks_become_python_values(kind: pa.DataType) -> None:
    chunks = [pa.array([1, 2, 3, 4], kind).slice(1, 2), pa.array([], kind), pa.array([5], kind)]
    assert python_values(pa.chunked_array(chunks), "") == [2, 3, 5]
    with_null = pa.chunked_array([*chunks, pa.array([None, 7], kind)])
    assert python_values(with_null, "") == [2, 3, 5, None, 7]
