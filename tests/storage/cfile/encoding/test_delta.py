"""DELTA: differences that wrap around, and what they save."""

import numpy as np
import pytest

from pykudu_sql.storage.cfile.encoding import bitshuffle, delta
from pykudu_sql.storage.errors import CorruptionError


def payload_of(values: np.ndarray) -> np.ndarray:
    payload = delta.encoder(values)(values)
    assert payload is not None
    return np.frombuffer(payload, np.uint8)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_the_farthest_neighbours_come_back(width: int) -> None:
    limits = np.iinfo(f"i{width}")
    values = np.array([limits.min, limits.max, 0, limits.max, limits.min, -1], f"<i{width}")
    out = np.empty_like(values)
    delta.decode_into(payload_of(values), out)
    assert out.tolist() == values.tolist()


def test_values_that_ascend_take_less_room_than_their_bits() -> None:
    steps = np.random.default_rng(1).integers(900, 1100, 5000)
    values = (np.cumsum(steps) + (1 << 50)).astype("<i8")
    assert len(payload_of(values)) < len(bitshuffle.compress(values)) * 0.7


def test_one_value_is_its_header() -> None:
    values = np.array([7], "<i4")
    payload = payload_of(values)
    assert len(payload) == 8
    with pytest.raises(CorruptionError, match="carries differences"):
        delta.decode_into(np.append(payload, np.uint8(0)), np.empty(1, "<i4"))
    with pytest.raises(CorruptionError, match="shorter than its header"):
        delta.decode_into(payload[:7], np.empty(1, "<i4"))


def test_a_first_value_beyond_the_type_is_damage() -> None:
    with pytest.raises(CorruptionError, match="begins with 300"):
        delta.decode_into(payload_of(np.array([300], "<i8")), np.empty(1, "i1"))
