"""Values as they are: bitmaps, fixed widths, and lengths beside bytes."""

import numpy as np
import pytest

from pykudu_sql.storage.cfile.encoding import plain
from pykudu_sql.storage.errors import CorruptionError

LENGTHS = np.array([2, 0, 3], np.uint32)
DATA = np.frombuffer(b"abcde", np.uint8)


def encoded(compressed: bool = False) -> np.ndarray:
    return np.frombuffer(plain.encode_binary(LENGTHS, DATA, compressed=compressed), np.uint8)


def test_the_first_value_of_a_bitmap_is_the_lowest_bit() -> None:
    assert plain.encode_bitmap(np.array([1, 0, 0, 0, 0, 0, 0, 0, 1], np.uint8)) == b"\x01\x01"


def test_fixed_values_of_another_length_are_damage() -> None:
    with pytest.raises(CorruptionError, match="4 bytes of values, expected 8"):
        plain.decode_fixed_into(np.zeros(4, np.uint8), np.zeros(8, np.uint8))


@pytest.mark.parametrize("compressed", [False, True])
def test_binary_values_come_back_as_lengths_and_bytes(compressed: bool) -> None:
    block = plain.open_binary(encoded(compressed), 3, limit=5)
    lengths, data = np.empty(3, np.uint32), np.empty(block.data_length, np.uint8)
    block.decode_into(lengths, data)
    assert (lengths.tolist(), data.tobytes()) == ([2, 0, 3], b"abcde")


def test_more_bytes_than_the_limit_are_refused_before_memory_is_asked_for() -> None:
    with pytest.raises(CorruptionError, match="claims 5 bytes of values, limit 4"):
        plain.open_binary(encoded(), 3, limit=4)


def test_lengths_that_do_not_add_up_are_damage() -> None:
    payload = encoded().copy()
    payload[0] = 4
    block = plain.open_binary(payload, 3, limit=5)
    with pytest.raises(CorruptionError, match="add up to 5, expected 4"):
        block.decode_into(np.empty(3, np.uint32), np.empty(4, np.uint8))
