"""Timestamps of any unit and zone as microseconds in UTC."""

import pyarrow as pa
import pytest

from pykudu_sql.storage.common.coercion.time_arrays import MICROS, to_micros


@pytest.mark.parametrize(
    ("numbers", "kind", "micros"),
    [
        ([1, None, -1], pa.timestamp("s"), [1_000_000, None, -1_000_000]),
        ([1], pa.timestamp("ms", "+02:00"), [1_000]),
        ([1499, 1500, -1500, -1501], pa.timestamp("ns"), [1, 2, -1, -2]),
        ([1500], pa.timestamp("ns", "UTC"), [2]),
        ([2**63 - 1], pa.timestamp("us"), [2**63 - 1]),
    ],
)
def test_times_become_microseconds(
    numbers: list[int | None], kind: pa.DataType, micros: list[int | None]
) -> None:
    times = to_micros(pa.array(numbers, pa.int64()).cast(kind))

    assert times.type == MICROS
    assert times.cast(pa.int64()).to_pylist() == micros


def test_a_time_too_far_for_microseconds_is_refused() -> None:
    with pytest.raises(pa.ArrowInvalid):
        to_micros(pa.array([2**62]).cast(pa.timestamp("s")))
