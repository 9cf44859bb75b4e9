"""Chunks of the bit-shuffle kernel: values of every width, and headers that claim other sizes."""

from typing import Any

import numpy as np
import pytest

from pykudu_sql.storage.cfile.encoding.bitshuffle import (
    Shuffle,
    choose_shuffle,
    compress,
    compress_bytes,
    decompress_into,
    decompress_run_into,
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


def run_of(blocks: list[Any], shuffle: Shuffle = Shuffle.BITS) -> list[Any]:
    return [np.frombuffer(compress(values, shuffle), np.uint8) for values in blocks]


def unpacked(chunks: list[Any], lengths: list[int]) -> Any:
    out = np.full(sum(lengths), 0xAA, np.uint8)
    decompress_run_into(chunks, lengths, out)
    return out


@pytest.mark.parametrize("shuffle", list(Shuffle))
@pytest.mark.parametrize("dtype", ["u1", "<u2", "<u4", "<i8"])
@pytest.mark.parametrize("count", [1, 2, 9, 40])
def test_neighbours_come_back_one_after_the_other(dtype: str, shuffle: Shuffle, count: int) -> None:
    random = np.random.default_rng(count)
    blocks = [random.integers(n, n + 50, 32_768).astype(dtype) for n in range(count)]
    blocks.append(blocks[0][:777])  # the last one is shorter
    out = unpacked(run_of(blocks, shuffle), [values.nbytes for values in blocks])
    assert np.array_equal(out.view(dtype), np.concatenate(blocks))


def test_chunks_of_any_kind_may_be_neighbours() -> None:
    random = np.random.default_rng(8)
    few = random.integers(0, 9, 4096).astype("<u2")
    noise = random.integers(0, 1 << 16, 4096).astype("<u2")  # stored as it is
    long = random.integers(0, 9, 1 << 20).astype("<u2")  # of many slices
    wide = random.integers(0, 9, 2048).astype("<u4")
    blocks = [few, few, noise, noise, few, wide, wide, few[:5], few, long, few, few]
    chunks = run_of(blocks)
    chunks[1] = np.frombuffer(compress(few, Shuffle.BYTES), np.uint8)
    chunks.append(np.frombuffer(store_bytes(few.view(np.uint8)), np.uint8))
    blocks.append(few)
    out = unpacked(chunks, [values.nbytes for values in blocks])
    assert out.tobytes() == b"".join(values.tobytes() for values in blocks)


@pytest.mark.parametrize("damaged", [0, 3, 5])
@pytest.mark.parametrize("offset", [0, 2, 3, 4, 8, 12, 16, 17])
def test_damage_in_one_of_many_headers_is_seen(damaged: int, offset: int) -> None:
    values = np.arange(4096, dtype="<u2") % 7
    chunks = [chunk.copy() for chunk in run_of([values] * 6)]
    chunks[damaged][offset] ^= 0x15
    with pytest.raises(CorruptionError):
        unpacked(chunks, [values.nbytes] * 6)


def test_a_chunk_that_is_cut_off_is_seen() -> None:
    values = np.arange(4096, dtype="<u2") % 7
    chunks = run_of([values] * 4)
    for length in (0, 15, 16, 19, 20, len(chunks[2]) - 1):
        with pytest.raises(CorruptionError):
            unpacked([*chunks[:2], chunks[2][:length], chunks[3]], [values.nbytes] * 4)


@pytest.mark.parametrize(("dtype", "count"), [("<u2", 100), ("<u2", 1024), ("<i8", 1024)])
def test_a_stream_takes_nothing_of_the_next_chunk(dtype: str, count: int) -> None:
    values = np.arange(count).astype(dtype) % 50
    chunks = [chunk.copy() for chunk in run_of([values] * 6, Shuffle.BYTES)]
    damaged = chunks[2]
    raw = values.nbytes if damaged[2] & 16 else count
    last = 20
    while (end := last + 4 + int(damaged[last : last + 4].view("<u4")[0])) < len(damaged):
        last = end
    # Of a stream as long as what it holds the bytes would be taken as they stand.
    damaged[last : last + 4] = np.frombuffer(raw.to_bytes(4, "little"), np.uint8)
    with pytest.raises(CorruptionError):
        unpacked(chunks, [values.nbytes] * 6)
