"""The order of a MemRowSet's keys is that of a sorted list of them, whoever adds and asks when."""

import threading
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.predicate.key_bounds import KeyRange
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.tablet.rowset import key_runs
from pykudu_sql.storage.tablet.rowset.key_runs import KeyOrder, KeyRun, merged

WIDTH = 3


class Keys:
    """Rows that are their keys, as an index asks for them."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.columns = (ColumnSchema(1, "key", DataType(Kind.BINARY)),)

    def encode(self, columns: dict[int, pa.Array]) -> EncodedKeys:
        return EncodedKeys.from_bytes(columns[1].to_pylist(), self.width)


class KeySegment:
    """All keys so far as one segment."""

    start = 0

    def __init__(self, ordinals: dict[bytes, int]) -> None:
        self.ordinals = ordinals

    def cells(self, column: ColumnSchema, count: int) -> pa.Array:
        return pa.array(list(self.ordinals)[:count], pa.binary())


def order_of(ordinals: dict[bytes, int], width: int) -> KeyOrder:
    return KeyOrder(ordinals, [KeySegment(ordinals)], Keys(width))  # type: ignore[list-item, arg-type]


class OrderedKeys(RuleBasedStateMachine):
    """Keys added one by one and in batches, with reads of all kinds between them."""

    @initialize(width=st.sampled_from([0, WIDTH]))
    def begin(self, width: int) -> None:
        self.width = width
        self.ordinals: dict[bytes, int] = {}
        self.order = order_of(self.ordinals, width)
        self.earlier: list[tuple[int, tuple[KeyRun, ...]]] = []

    def key(self, data: st.DataObject) -> bytes:
        sizes = {"min_size": self.width, "max_size": self.width} if self.width else {"max_size": 5}
        return data.draw(st.binary(**sizes))

    @rule(data=st.data(), count=st.integers(1, 12))
    def add(self, data: st.DataObject, count: int) -> None:
        for _ in range(count):
            self.ordinals.setdefault(self.key(data), len(self.ordinals))

    @rule(start=st.integers(0, 1 << 20), count=st.integers(1, 40))
    def add_ascending(self, start: int, count: int) -> None:
        for number in range(start, start + count):
            self.ordinals.setdefault(number.to_bytes(WIDTH, "big"), len(self.ordinals))

    @rule(data=st.data())
    def read_ranges(self, data: st.DataObject) -> None:
        ends = sorted({data.draw(st.binary(max_size=WIDTH + 2)) for _ in range(4)})
        ranges: list[KeyRange] = list(zip(ends[::2], ends[1::2], strict=False))
        if len(ends) % 2:
            ranges.append((ends[-1], None))
        wanted = sorted(
            ordinal
            for key, ordinal in self.ordinals.items()
            if any(low <= key and (high is None or key < high) for low, high in ranges)
        )
        assert sorted(self.order.within(ranges).tolist()) == wanted
        if self.ordinals:
            parts = [p for run in self.order.runs() for p in run.within(ranges)]
            assert sorted(o for part in parts for o in part.ordinals.tolist()) == wanted

    @rule()
    def order_newest(self) -> None:
        self.order.order_newest()

    @rule()
    def keep_runs(self) -> None:
        if self.ordinals:
            self.earlier.append((len(self.ordinals), self.order.runs()))

    @rule()
    def read_whole(self) -> None:
        if self.ordinals:
            assert rows_of([self.order.whole()], len(self.ordinals)) == sorted(
                self.ordinals.items()
            )

    @invariant()
    def runs_taken_earlier_give_what_they_gave(self) -> None:
        for count, runs in self.__dict__.get("earlier", [])[-3:]:
            wanted = sorted((k, o) for k, o in self.ordinals.items() if o < count)
            assert sorted(rows_of(runs, count)) == wanted
            for run in runs:
                keys = run.keys.to_pylist()
                assert keys == sorted(keys)


def rows_of(runs: list[KeyRun] | tuple[KeyRun, ...], count: int) -> list[tuple[bytes, int]]:
    parts = [run.below(count) for run in runs]
    return [
        row
        for part in parts
        for row in zip(part.keys.to_pylist(), part.ordinals.tolist(), strict=True)
    ]


class TestOrderedKeys(OrderedKeys.TestCase):  # type: ignore[name-defined, misc]
    settings = settings(max_examples=60, stateful_step_count=30)

    @pytest.fixture(autouse=True)
    def small_tree(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """So that a few keys go through tree, runs and their merges."""
        monkeypatch.setattr(key_runs, "_MOST_IN_TREE", 8)
        monkeypatch.setattr(key_runs, "_MOST_RUNS", 3)


@pytest.mark.parametrize("most_runs", [0, 32])
@pytest.mark.parametrize("most_in_tree", [16, 4096])
def test_readers_beside_a_writer_see_every_key_that_was_there_when_they_asked(
    monkeypatch: pytest.MonkeyPatch, most_in_tree: int, most_runs: int
) -> None:
    monkeypatch.setattr(key_runs, "_MOST_IN_TREE", most_in_tree)
    monkeypatch.setattr(key_runs, "_MOST_RUNS", most_runs)
    ordinals: dict[bytes, int] = {}
    order = order_of(ordinals, 8)
    numbers = np.random.default_rng(5).permutation(30_000)
    keys = [int(number).to_bytes(8, "big") for number in numbers]
    wrong: list[str] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            count = len(ordinals)
            seen = sum(len(run.below(count)) for run in order.runs())
            low, high = (5_000).to_bytes(8, "big"), (9_000).to_bytes(8, "big")
            part = order.within([(low, high)])
            expected = int(np.count_nonzero((numbers[:count] >= 5_000) & (numbers[:count] < 9_000)))
            if seen != count or np.count_nonzero(part < count) != expected:
                wrong.append(f"{seen} of {count} rows, {len(part)} in the range of {expected}")

    def maintain() -> None:
        while not done.wait(0.001):
            order.order_newest()

    readers = [threading.Thread(target=target) for target in (read, read, read, maintain)]
    for reader in readers:
        reader.start()
    for start in range(0, len(keys), 50):
        if start % 100:
            for key in keys[start : start + 50]:
                ordinals[key] = len(ordinals)
        else:
            batch = keys[start : start + 50]
            ordinals.update(zip(batch, range(start, start + 50), strict=True))
    done.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert order.whole().keys.to_pylist() == sorted(keys)


def test_a_bound_longer_than_the_keys_is_above_the_key_that_it_begins_with() -> None:
    run = KeyRun(EncodedKeys.from_bytes([b"aa", b"ab", b"b0"], 2), np.arange(3), 3)
    keys = run.keys.to_pylist()
    for bound in (b"", b"a", b"aa", b"aa\0", b"ab", b"ab\xff", b"b", b"b0", b"b0\0", b"c"):
        (part,) = run.within([(b"", bound)]) or [run.part(0, 0)]
        assert len(part) == bisect_left(keys, bound)


@pytest.mark.parametrize("by", ["maintenance", "readers"])
@pytest.mark.parametrize("ahead", [0, 700], ids=["steady", "behind a large batch"])
def test_runs_stay_few_and_a_key_is_moved_a_few_times(
    monkeypatch: pytest.MonkeyPatch, ahead: int, by: str
) -> None:
    monkeypatch.setattr(key_runs, "_MOST_IN_TREE", 8)
    moved: list[int] = []

    def counted(runs: Sequence[KeyRun]) -> KeyRun:
        moved.append(sum(map(len, runs)))
        return merged(runs)

    monkeypatch.setattr(key_runs, "merged", counted)
    ordinals: dict[bytes, int] = {}
    order = order_of(ordinals, 4)
    numbers = np.random.default_rng(6).permutation(4_000 + ahead).tolist()
    most_runs = 0
    for place, number in enumerate(numbers):
        ordinals[number.to_bytes(4, "big")] = place
        if place >= ahead:
            if by == "maintenance":
                order.order_newest()
            most_runs = max(most_runs, len(order.runs()))
    # Of sizes from 8 to 2,048, the one that came since the last merge, and the tree.
    assert most_runs <= (3 * 5 + 2 if by == "maintenance" else 32 + 2)
    assert sum(moved) <= 5 * len(numbers)


def test_a_large_batch_takes_up_the_smaller_runs_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(key_runs, "_MOST_IN_TREE", 8)
    ordinals: dict[bytes, int] = {}
    order = order_of(ordinals, 4)
    sizes = []
    for batch in (500, 9, 9, 70, 1_000):
        add(ordinals, batch)
        order.runs()
        order.order_newest()
        sizes.append([len(run) for run in order.runs()])
    assert sizes == [[500], [500, 9], [500, 9, 9], [500, 88], [1588]]


def test_a_read_leaves_the_merges_to_maintenance_until_there_are_too_many_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(key_runs, "_MOST_IN_TREE", 8)
    ordinals: dict[bytes, int] = {}
    order = order_of(ordinals, 4)
    for batch in range(32):
        add(ordinals, 9)
        assert len(order.within([(b"", None)])) == len(ordinals)
        assert [len(run) for run in order.runs()] == [9] * (batch + 1)
    add(ordinals, 9)
    assert [len(run) for run in order.runs()] == [297]


def test_keys_are_brought_in_order_before_a_read_for_a_while_after_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(key_runs, "_MOST_IN_TREE", 8)
    monkeypatch.setattr(key_runs, "_ROUNDS_AFTER_READ", 2)
    ordinals: dict[bytes, int] = {}
    order = order_of(ordinals, 4)
    sizes = []
    for read in (False, True, False, False):
        add(ordinals, 9)
        if read:
            order.runs()
        order.order_newest()
        sizes.append(order.nbytes)
    assert sizes[0] == 0 < sizes[1] < sizes[2] == sizes[3]
    order.runs()
    assert order.nbytes > sizes[3]


def add(ordinals: dict[bytes, int], count: int) -> None:
    """So many keys more, ascending."""
    first = len(ordinals)
    ordinals.update({n.to_bytes(4, "big"): n for n in range(first, first + count)})
