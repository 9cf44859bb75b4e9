"""Runs of equal values: what pays, what comes back, what does not add up."""

import numpy as np
import pytest

from pykudu_sql.storage.cfile.encoding import rle
from pykudu_sql.storage.errors import CorruptionError


def test_runs_come_back_as_values_and_as_runs() -> None:
    values = np.repeat(np.array([7, -1, 7], np.int32), [4, 1, 5])
    payload = np.frombuffer(rle.encode(values) or b"", np.uint8)
    assert rle.decode(payload, 10, values.dtype).tolist() == values.tolist()
    kept, lengths = rle.decode_runs(payload, 10, values.dtype)
    assert (kept.tolist(), lengths.tolist()) == ([7, -1, 7], [4, 1, 5])


def test_runs_shorter_than_two_on_average_are_left_to_another_encoding() -> None:
    assert rle.encode(np.array([1, 1, 2, 2], np.int8)) is not None
    assert rle.encode(np.array([1, 1, 2, 3], np.int8)) is None
    assert rle.encode(np.array([5], np.int8)) is not None


@pytest.mark.parametrize("rows", [1, 9, 11])
def test_runs_of_another_number_of_rows_are_damage(rows: int) -> None:
    payload = np.frombuffer(rle.encode(np.repeat(np.int64([1, 2]), 5)) or b"", np.uint8)
    with pytest.raises(CorruptionError):
        rle.decode(payload, rows, np.dtype(np.int64))
