"""The order of a MemRowSet's keys: an ordered tree of the newest, sorted runs of all others.

Kudu's MemRowSet is a B-tree in key order (`docs/design-docs/tablet.md`, "MemRowSet"). Here rows
stand in the order of their commits, and this index says in which order their keys come. Writers do
nothing for it: a dictionary keeps its keys in the order of insertion, which is that of ordinals, so
whoever asks for order takes up the keys added since the last time. A few go to a SortedList; many
at once, and a full tree, become a run, a sorted array of keys with their ordinals. Runs of
one size are merged once there are several, as in an LSM tree of tiers: a key is moved a few times,
however long the rowset grows, and a seek has few runs to look at.

A run never changes: a reader keeps the runs it took. The lock is that of readers among themselves;
it is not held while runs are merged, and others use the runs as they are meanwhile. Merging is the
work of background maintenance: a read of a few hundred rows would take several times as long. It
orders the newest keys too, for as long as somebody reads. Readers merge only where it does not.
"""

import threading
from collections.abc import Sequence
from itertools import islice

import numpy as np
from sortedcontainers import SortedList

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.predicate.key_bounds import KeyRange
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.delta.delta_view import DeltaView
from pykudu_sql.storage.tablet.rowset.memrowset_segments import MemRowSelection, Segment

_MOST_IN_TREE = 1024
# So many runs of one size become one, which is of the next size.
_FAN_BITS = 2
_FAN = 1 << _FAN_BITS
# Readers merge from here on: a search in each run more costs less than to merge some.
_MOST_RUNS = 32
# So many rounds of maintenance, five seconds, go on ordering keys after a read.
_ROUNDS_AFTER_READ = 20


@dataclass(frozen=True, slots=True)
class KeyRun:
    """Rows in the order of their keys.

    Attributes:
        keys: ascending and distinct.
        ordinals: of the rows, int64[n].
        stop: no ordinal is as high.
    """

    keys: EncodedKeys
    ordinals: Ordinals
    stop: int

    def __len__(self) -> int:
        return len(self.ordinals)

    def below(self, count: int) -> "KeyRun":
        """The rows with ordinals below a number."""
        if self.stop <= count:
            return self
        positions = np.flatnonzero(self.ordinals < count)
        return KeyRun(self.keys.take(positions), self.ordinals[positions], count)

    def part(self, start: int, stop: int) -> "KeyRun":
        """The rows start <= position < stop."""
        return KeyRun(self.keys.slice(start, stop), self.ordinals[start:stop], self.stop)

    def within(self, ranges: Sequence[KeyRange]) -> "list[KeyRun]":
        """The rows whose keys lie in some ranges, a part for each that holds any.

        `ranges`: of encoded keys, ascending and disjoint.
        """
        return [self.part(start, stop) for start, stop in self.positions(ranges)]

    def positions(self, ranges: Sequence[KeyRange]) -> list[tuple[int, int]]:
        """Where the rows of some ranges stand, start <= position < stop; see `within`."""
        keys = self.keys
        spans = [
            (keys.lower_bound(low), len(self)) if high is None else keys.span(low, high)
            for low, high in ranges
        ]
        return [(start, stop) for start, stop in spans if start < stop]


@dataclass(frozen=True, slots=True)
class _Search:
    """What was looked for: a reader counts the rows of its ranges before it reads them.

    `places`: the runs that have some, start <= position < stop.
    """

    runs: tuple[KeyRun, ...]
    ranges: Sequence[KeyRange]
    places: Sequence[tuple[KeyRun, int, int]]


def merged(runs: Sequence[KeyRun]) -> KeyRun:
    """Runs, at least one, as one."""
    if len(runs) == 1:
        return runs[0]
    keys = EncodedKeys.concat([run.keys for run in runs])
    order = keys.argsort()
    ordinals = np.concatenate([run.ordinals for run in runs])[order]
    return KeyRun(keys.take(order), ordinals, max(run.stop for run in runs))


def _first_to_merge(runs: Sequence[KeyRun]) -> int | None:
    """The first of the last runs that are to become one; None where all are to stay.

    Sizes never ascend but to the last run: it takes up smaller ones before it.
    """
    sizes = [_size_class(run) for run in runs]
    first = len(runs)
    while first and sizes[first - 1] <= sizes[-1]:
        first -= 1
    smaller = [place for place in range(first, len(runs)) if sizes[place] < sizes[-1]]
    if smaller:
        return smaller[0]
    return first if len(runs) - first >= _FAN else None


def _size_class(run: KeyRun) -> int:
    """How often a full tree has grown by `_FAN` to be as large as a run, -1 for smaller ones."""
    return ((len(run) // _MOST_IN_TREE).bit_length() - 1) // _FAN_BITS


class KeyOrder:
    """The keys of a MemRowSet in order. Safe for threads; see the module's text."""

    def __init__(
        self, ordinals: dict[bytes, int], segments: Sequence[Segment], encoder: KeyEncoder
    ) -> None:
        """Nothing is in order yet.

        Args:
            ordinals: of all keys, in ascending order; grows at its end, and loses none.
            segments: of the rows, which are there before their keys are; grows alike.
            encoder: of the keys.
        """
        self._all = ordinals
        self._segments = segments
        self._encoder = encoder
        self._covered = 0
        self._tree_start = 0
        self._tree: SortedList = SortedList()
        self._tree_run: KeyRun | None = None
        self._runs: tuple[KeyRun, ...] = ()
        self._last_search: _Search | None = None
        self._rounds_left = 0
        self._lock = threading.Lock()
        self._merging = threading.Lock()

    @property
    def nbytes(self) -> int:
        """A rough size of what the order takes, the keys' bytes of the tree left aside."""
        return sum(run.keys.nbytes + run.ordinals.nbytes for run in self._runs)

    def runs(self) -> tuple[KeyRun, ...]:
        """Every row that was there when this was called, and perhaps later ones."""
        self._take_up()
        with self._lock:
            if self._tree and self._tree_run is None:
                self._tree_run = self._newest_run()
            return self._runs if self._tree_run is None else (*self._runs, self._tree_run)

    def within(self, ranges: Sequence[KeyRange]) -> Ordinals:
        """The ordinals of the rows whose keys lie in some ranges, in no order, int64[n].

        `ranges`: of encoded keys, ascending and disjoint.
        """
        self._take_up()
        with self._lock:
            runs = self._runs
            newest = [
                self._all[key]
                for low, high in ranges
                for key in self._tree.irange(low, high, inclusive=(True, False))
            ]
        places = self._positions(runs, ranges)
        parts = [run.ordinals[start:stop] for run, start, stop in places]
        return np.concatenate([*parts, np.array(newest, np.int64)])

    def count_within(self, ranges: Sequence[KeyRange]) -> int:
        """How many rows have keys in some ranges, as `within` has them."""
        self._take_up()
        with self._lock:
            runs, find = self._runs, self._tree.bisect_left
            places = [
                (find(low), len(self._tree) if high is None else find(high)) for low, high in ranges
            ]
        places += [(start, stop) for _, start, stop in self._positions(runs, ranges)]
        return sum(stop - start for start, stop in places)

    def _positions(
        self, runs: tuple[KeyRun, ...], ranges: Sequence[KeyRange]
    ) -> Sequence[tuple[KeyRun, int, int]]:
        """Where the rows of some ranges stand in the runs; those asked for last are at hand."""
        last = self._last_search
        if last is not None and last.runs is runs and last.ranges is ranges:
            return last.places
        places = [(run, *place) for run in runs for place in run.positions(ranges)]
        self._last_search = _Search(runs, ranges, places)
        return places

    def whole(self) -> KeyRun:
        """Every row as one run, which takes the place of all runs; there must be a row."""
        with self._merging:
            with self._lock:
                self._catch_up(_MOST_IN_TREE)
                self._end_tree()
                runs = self._runs
            return self._replace(runs, 0)

    def order_newest(self) -> None:
        """A round of maintenance: add the newest keys and merge runs, if anybody read lately."""
        if self._rounds_left:
            self._rounds_left -= 1
            with self._lock:
                self._catch_up(_MOST_IN_TREE)
            self._merge_runs()

    def _take_up(self) -> None:
        """Add the newest keys for a reader."""
        self._rounds_left = _ROUNDS_AFTER_READ
        with self._lock:
            self._catch_up(_FAN * _MOST_IN_TREE)
        if len(self._runs) > _MOST_RUNS:
            self._merge_runs()

    def _merge_runs(self) -> None:
        """Merge runs unless another thread is merging them."""
        while (first := _first_to_merge(self._runs)) is not None:
            if not self._merging.acquire(blocking=False):
                return
            try:
                runs = self._runs
                first = _first_to_merge(runs)
                if first is not None:
                    self._replace(runs, first)
            finally:
                self._merging.release()

    def _replace(self, runs: tuple[KeyRun, ...], first: int) -> KeyRun:
        """Merge the runs from a place on, while others may be added behind them; the result.

        `runs`: all, as they were. The caller holds the lock of merges, and not the readers' one.
        """
        run = merged(runs[first:])
        with self._lock:
            self._runs = (*runs[:first], run, *self._runs[len(runs) :])
            self._last_search = None  # which would keep the runs that are merged
        return run

    def _catch_up(self, most_in_tree: int) -> None:
        """Add the keys that were inserted since the last call. The caller holds the lock.

        `most_in_tree`: a tree of more keys becomes a run.
        """
        first, stop = self._covered, len(self._all)
        if stop - first > _MOST_IN_TREE:
            self._covered, self._tree_run = stop, None
            self._end_tree()
        elif keys := self._newest_keys():
            self._covered = first + len(keys)
            self._tree.update(keys)
            self._tree_run = None
        if len(self._tree) > most_in_tree:
            self._end_tree()

    def _newest_keys(self) -> list[bytes]:
        """The keys behind those taken up, in the order of their ordinals."""
        while count := len(self._all) - self._covered:
            try:
                keys = list(islice(reversed(self._all), count))
            except RuntimeError:  # a writer added one meanwhile
                continue
            if self._all[keys[-1]] == self._covered:
                keys.reverse()
                return keys
        return []

    def _newest_run(self) -> KeyRun:
        """The keys behind those of the runs as a run. The caller holds the lock."""
        first, stop = self._tree_start, self._covered
        if len(self._tree) == stop - first:
            in_order = list(self._tree)
            places = np.fromiter(map(self._all.__getitem__, in_order), np.int64, stop - first)
            return KeyRun(EncodedKeys.from_bytes(in_order, self._encoder.width), places, stop)
        ordinals = np.arange(first, stop, dtype=np.int64)
        rows = MemRowSelection(self._segments, ordinals, DeltaView(()))
        columns = self._encoder.columns
        keys = self._encoder.encode({c.id: rows.read(c, 0, len(ordinals)) for c in columns})
        if keys.is_sorted():
            return KeyRun(keys, ordinals, stop)
        order = keys.argsort()
        return KeyRun(keys.take(order), order + first, stop)

    def _end_tree(self) -> None:
        """Make the newest keys a run, if there are any. The caller holds the lock."""
        if self._tree_start < self._covered:
            self._runs = (*self._runs, self._tree_run or self._newest_run())
            self._tree_start, self._tree = self._covered, SortedList()
            self._tree_run = None
