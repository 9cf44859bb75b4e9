"""A transaction's changes of a rowset, which go to a store when they are read."""

import sys
import threading
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.own_deltas import OwnDeltas

TYPES = {1: DataType(Kind.INT64)}


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def add(own: OwnDeltas, rows: int, cell: int) -> None:
    cells = pa.array(np.full(rows, cell, np.int64))
    own.add_batch(DeltaKind.UPDATE, np.arange(rows, dtype=np.int64), {1: cells})


def cell_of(own: OwnDeltas, row: int) -> object:
    (change,) = own.row_changes(row, (1,))
    return change.cells[1]


def test_batches_and_single_changes_count_in_their_order() -> None:
    own = OwnDeltas(TYPES)
    add(own, 4, 1)
    own.add_one(2, DeltaKind.UPDATE, {1: 2})
    assert (cell_of(own, 1), cell_of(own, 2)) == (1, 2)
    add(own, 3, 3)
    assert [cell_of(own, row) for row in range(4)] == [3, 3, 3, 1]


def test_what_is_not_read_yet_counts_as_memory() -> None:
    own = OwnDeltas(TYPES)
    add(own, 1000, 1)
    before = own.bytes
    assert before >= 16_000
    assert len(own.parts()) == 1
    assert own.bytes == before


def test_readers_that_come_at_once_all_see_what_was_added(hasty_threads: None) -> None:
    for _ in range(200):
        own = OwnDeltas(TYPES)
        for cell in range(3):
            add(own, 200, cell)
        together = threading.Barrier(2)
        seen: list[int] = []

        def read(own: OwnDeltas, together: threading.Barrier, seen: list[int]) -> None:
            together.wait()
            seen.append(sum(len(part.deltas) for layer in own.layers for part in layer.current()))

        threads = [threading.Thread(target=read, args=(own, together, seen)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [600, 600]
