"""Chunks of the bit-shuffle kernel: values of every width, and headers that claim other sizes."""

import numpy as np
import pytest

from pykudu_sql.storage.cfile.encoding.bitshuffle import (
    Shuffle,
    choose_shuffle,
    compress,
    compress_bytes,
    decompress_into,
    store_bytes,
)
from pykudu_sql.storage.errors import CorruptionError


@pytest.mark.parametrize("shuffle", list(Shuffle))
@pytest.mark.parametrize("dtype", ["u1", "<i2", "<f4", "<i8"])
def test_values_of_every_width_come_back(dtype: str, shuffle: Shuffle) -> None:
    values = np.arange(999).astype(dtype)
    out = np.empty_like(values)
    decompress_into(np.frombuffer(compress(values, shuffle), np.uint8), out.view(np.uint8))
    assert out.tolist() == values.tolist()


def test_values_of_sixteen_bytes_are_rows_of_two_words() -> None:
    values = np.arange(200, dtype="<i8").reshape(100, 2)
    out = np.empty(1600, np.uint8)
    decompress_into(np.frombuffer(compress(values), np.uint8), out)
    assert out.view("<i8").tolist() == list(range(200))


def test_bytes_are_stored_or_compressed() -> None:
    data = np.zeros(5000, np.uint8)
    assert len(compress_bytes(data)) < 200 < 5000 <= len(store_bytes(data))
    for chunk in (compress_bytes(data), store_bytes(data)):
        out = np.ones(5000, np.uint8)
        decompress_into(np.frombuffer(chunk, np.uint8), out)
        assert not out.any()


def test_whole_bytes_that_vary_are_transposed_by_bytes() -> None:
    random = np.random.default_rng(3)
    whole = random.integers(0, 1 << 16, 4000).astype("<i8")
    assert choose_shuffle(whole) is Shuffle.BYTES
    assert choose_shuffle(random.integers(0, 8, 4000).astype("<i8")) is Shuffle.BITS


@pytest.mark.parametrize("offset", [0, 2, 4, 12])
def test_a_header_that_claims_another_chunk_is_damage(offset: int) -> None:
    values = np.arange(999, dtype="<i8")
    chunk = np.frombuffer(compress(values), np.uint8).copy()
    chunk[offset] ^= 0x15
    with pytest.raises(CorruptionError):
        decompress_into(chunk, np.empty(values.nbytes, np.uint8))


def test_room_of_another_size_takes_nothing() -> None:
    chunk = np.frombuffer(compress(np.arange(10, dtype="<i8")), np.uint8)
    with pytest.raises(CorruptionError):
        decompress_into(chunk, np.empty(72, np.uint8))
    with pytest.raises(CorruptionError):
        decompress_into(chunk[:5], np.empty(80, np.uint8))


@pytest.mark.parametrize(("count", "width"), [(4096, 2), (4095, 1)])
def test_single_bytes_are_shuffled_as_pairs_where_they_make_some(count: int, width: int) -> None:
    values = np.arange(count, dtype=np.int32).astype(np.int8) % 50
    chunk = np.frombuffer(compress(values), np.uint8)
    assert chunk[3] == width
    out = np.empty_like(values)
    decompress_into(chunk, out.view(np.uint8))
    assert out.tolist() == values.tolist()
