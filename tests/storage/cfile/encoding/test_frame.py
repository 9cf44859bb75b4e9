"""Integers in a frame of reference: when codes are narrower, and frames that contradict values."""

import numpy as np
import pytest

from pykudu_sql.storage.cfile.encoding import frame
from pykudu_sql.storage.errors import CorruptionError


def test_values_with_a_common_step_become_narrow_codes() -> None:
    narrowed = frame.narrow(np.arange(100, dtype=np.int64) * 1000 - 5)
    assert narrowed is not None
    assert (narrowed.base, narrowed.step, narrowed.codes.dtype) == (-5, 1000, np.uint8)
    assert narrowed.codes.tolist() == list(range(100))


def test_a_step_that_only_the_sample_has_is_not_taken() -> None:
    values = np.arange(6400, dtype=np.int64) * 10
    values[1] += 1  # not among the sampled ones
    narrowed = frame.narrow(values)
    assert narrowed is not None
    assert narrowed.step == 1


@pytest.mark.parametrize(
    "values",
    [
        np.arange(10, dtype=np.int64),
        np.arange(100, dtype=np.int8),
        np.arange(100, dtype=np.float64),
        np.linspace(-(1 << 62), 1 << 62, 100).astype(np.int64) | 1,
    ],
    ids=["few", "narrow", "floats", "far apart"],
)
def test_values_that_a_frame_does_not_narrow_stay_as_they_are(values: np.ndarray) -> None:
    assert frame.narrow(values) is None


def test_the_whole_range_of_a_type_comes_back() -> None:
    values = np.tile(np.array([-(1 << 31), (1 << 31) - 1], np.int32), 50)
    payload = np.frombuffer(frame.encode(values, frame.choose_shuffle(values)), np.uint8)
    out = np.empty_like(values)
    frame.decode_into(payload, out)
    assert out.tolist() == values.tolist()


@pytest.mark.parametrize(("offset", "byte"), [(1, 3), (1, 8), (2, 1), (12, 0)])
def test_a_frame_that_contradicts_its_values_is_damage(offset: int, byte: int) -> None:
    values = np.arange(100, dtype=np.int64)
    payload = np.frombuffer(frame.encode(values, frame.choose_shuffle(values)), np.uint8).copy()
    payload[offset] = byte
    with pytest.raises(CorruptionError):
        frame.decode_into(payload, np.empty_like(values))
