"""Blocks of many sources come out by key, and a source is opened when its turn comes."""

import random
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.tablet.read.key_merge import KeyedBlock, KeyedSource, merge_by_key
from pykudu_sql.storage.tablet.read.memory_order import ordinals_by_key
from pykudu_sql.storage.tablet.rowset.key_runs import KeyRun

Keys = Sequence[int]


def encoded(keys: Keys) -> EncodedKeys:
    return EncodedKeys.from_bytes([key.to_bytes(4, "big") for key in keys], 4)


def block(keys: Keys) -> KeyedBlock:
    return KeyedBlock(encoded(keys), [pa.array(keys, pa.int64())])


def source(blocks: Sequence[Keys], opened: list[int]) -> KeyedSource:
    lowest = blocks[0][0]

    def read() -> Iterator[KeyedBlock]:
        opened.append(lowest)
        return map(block, blocks)

    return KeyedSource(lowest.to_bytes(4, "big"), read)


@pytest.mark.parametrize("seed", range(5))
def test_a_merge_is_the_sorted_list_of_all_keys_with_their_rows(seed: int) -> None:
    draw = random.Random(seed)
    keys = draw.sample(range(1000), 200)
    sources = []
    for number in range(7):
        own = sorted(keys[number::7])
        cuts = sorted(draw.sample(range(1, len(own)), 3))
        bounds = zip([0, *cuts], [*cuts, len(own)], strict=True)
        sources.append(source([own[i:j] for i, j in bounds], []))
    merged = [*merge_by_key(sources)]
    assert [row for part in merged for row in part.columns[0].to_pylist()] == sorted(keys)
    assert [key for part in merged for key in part.keys.to_pylist()] == [
        key.to_bytes(4, "big") for key in sorted(keys)
    ]


def test_a_source_is_opened_when_the_merge_comes_to_its_lowest_key() -> None:
    opened: list[int] = []
    merged = merge_by_key([source([[50, 60]], opened), source([[1, 2], [3, 4]], opened)])
    assert next(merged).columns[0].to_pylist() == [1, 2] and opened == [1]
    assert next(merged).columns[0].to_pylist() == [3, 4] and opened == [1]
    assert next(merged).columns[0].to_pylist() == [50, 60] and opened == [1, 50]


def test_ordinals_in_memory_come_by_key_without_those_of_later_commits() -> None:
    runs = [
        KeyRun(encoded([10, 30, 50]), np.array([2, 0, 1]), 3),
        KeyRun(encoded([20, 40]), np.array([4, 3]), 5),
    ]
    assert np.concatenate([*ordinals_by_key(runs, 5, 2)]).tolist() == [2, 4, 0, 3, 1]
    assert np.concatenate([*ordinals_by_key(runs, 4, 2)]).tolist() == [2, 0, 3, 1]
