"""Which rowsets of a tablet to compact together: Kudu's budgeted compaction policy.

A look-up asks every rowset whose key range holds the key, so its average cost is the sum of the
rowsets' widths (see `key_interval`). A merging compaction replaces rowsets by ones that do not
overlap and cover the same keys; it gains

    sum of the widths of the set - width of their union

and costs reading and writing the set once. The policy looks for the set of largest gain within a
budget of bytes. Rowsets below the target size weigh a little more than their width, so that small
ones are merged even where they do not overlap (KUDU-1400):

    value = width + 0.009 * max(0, 1 - size / 32 MiB)

For each rowset taken as the leftmost of the set, the others are added in the order of their highest
key; the width of the union is then known at each step, and what is left is a 0-1 knapsack problem.
A first pass solves it as a fractional one, which gives a set to begin with and a bound for each
leftmost rowset; a second pass solves exactly where the bound is more than 5 % better than the best
set known. See `docs/design-docs/compaction-policy.md` and `tablet/compaction_policy.cc` of Kudu.
"""

import heapq
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.tablet.rowset.key_interval import KeyInterval

TARGET_ROWSET_BYTES = 32 << 20
BUDGET_BYTES = 256 << 20
SMALL_ROWSET_TRADEOFF = 0.009
MINIMUM_IMPROVEMENT = 0.01
APPROXIMATION_RATIO = 1.05
# Where rowsets overlap, a wider set must gain a little more than a narrower one: bytes that are
# moved without need are not free.
SUPPORT_ADJUST = 1.003
# The budget is counted in units of that size. A rowset weighs at least one: else any number of
# tiny ones would be taken along.
_UNIT = 1 << 20


@dataclass(frozen=True, slots=True)
class RowSetChoice:
    """Rowsets to compact together.

    Attributes:
        ids: of the rowsets, ascending; none when no compaction pays.
        score: by how much the average height of the tablet falls, small rowsets' bonus included.
    """

    ids: tuple[int, ...]
    score: float


NO_CHOICE = RowSetChoice((), 0.0)


@dataclass(frozen=True, slots=True)
class _Item:
    """A rowset as the knapsack sees it."""

    interval: KeyInterval
    weight: int
    value: float

    @property
    def density(self) -> float:
        return self.value / self.weight


@dataclass(slots=True)
class _Best:
    """The best set found so far."""

    score: float = 0.0
    items: tuple[_Item, ...] = ()

    def offer(self, score: float, items: Sequence[_Item]) -> None:
        """Keep a set if it is better."""
        if score > self.score:
            self.score, self.items = score, tuple(items)


def value_of(interval: KeyInterval, target_bytes: int = TARGET_ROWSET_BYTES) -> float:
    """What taking a rowset into a compaction is worth, before the width of the union is paid."""
    return interval.width + SMALL_ROWSET_TRADEOFF * max(0.0, 1 - interval.size / target_bytes)


def choose_rowsets(
    candidates: Sequence[KeyInterval],
    budget_bytes: int = BUDGET_BYTES,
    target_bytes: int = TARGET_ROWSET_BYTES,
) -> RowSetChoice:
    """The rowsets whose compaction gains most.

    Args:
        candidates: the rowsets that may be compacted.
        budget_bytes: most bytes to read.
        target_bytes: the size at which a compaction begins a new rowset; smaller ones are small.
    """
    budget = budget_bytes // _UNIT
    items = [_item(interval, target_bytes) for interval in candidates]
    items = [item for item in items if item.weight <= budget]
    if len(items) < 2:
        return NO_CHOICE
    best = _Best()
    by_low = sorted(items, key=lambda item: item.interval.low)
    by_high = sorted(items, key=lambda item: item.interval.high)
    bounds = [_approximate(item, _behind(item, by_high), budget, best) for item in by_low]
    for item, bound in zip(by_low, bounds, strict=True):
        if bound > best.score * APPROXIMATION_RATIO:
            _solve(item, list(_behind(item, by_high)), budget, best)
    if best.score <= MINIMUM_IMPROVEMENT or len(best.items) < 2:
        return NO_CHOICE
    return RowSetChoice(tuple(sorted(item.interval.id for item in best.items)), best.score)


def _item(interval: KeyInterval, target_bytes: int) -> _Item:
    return _Item(interval, max(1, interval.size // _UNIT), value_of(interval, target_bytes))


def _behind(leftmost: _Item, by_high: Sequence[_Item]) -> Iterator[_Item]:
    """The rowsets that begin at or behind the leftmost one, by their highest key."""
    return (item for item in by_high if item.interval.low >= leftmost.interval.low)


def _gain(value: float, union: float) -> float:
    return value - union if value <= union else value - SUPPORT_ADJUST * union


def _approximate(leftmost: _Item, others: Iterator[_Item], budget: int, best: _Best) -> float:
    """Offer the best set that greed finds behind a leftmost rowset.

    Returns a gain that no set behind it exceeds.
    """
    upper = 0.0
    low = leftmost.interval.low
    knapsack = _FractionalKnapsack(budget)
    for item in others:
        knapsack.add(item)
        union = item.interval.high - low
        upper = max(upper, _gain(knapsack.upper_bound, union))
        score = _gain(knapsack.lower_bound, union)
        if score > best.score:
            best.offer(score, knapsack.whole_items())
    return upper


class _FractionalKnapsack:
    """The knapsack whose last item may be cut: the densest items, kept up as items come.

    It holds items until the budget is reached, and the least dense of them may hang over it. With
    a part of that one it is worth at least as much as any choice of whole items; without it, or it
    alone, it is such a choice.
    """

    def __init__(self, budget: int) -> None:
        """Empty, for so many units."""
        self._budget = budget
        self._heap: list[tuple[float, int, _Item]] = []
        self._weight = 0
        self._value = 0.0
        self._count = 0

    def add(self, item: _Item) -> None:
        """Take an item, and let go of the least dense ones that are not needed any more."""
        self._count += 1
        heapq.heappush(self._heap, (item.density, self._count, item))
        self._weight += item.weight
        self._value += item.value
        while self._weight - self._heap[0][2].weight >= self._budget:
            _, _, dropped = heapq.heappop(self._heap)
            self._weight -= dropped.weight
            self._value -= dropped.value

    @property
    def upper_bound(self) -> float:
        """No choice of whole items is worth more."""
        excess = self._weight - self._budget
        return self._value - excess * self._heap[0][0] if excess > 0 else self._value

    @property
    def lower_bound(self) -> float:
        """What `whole_items` are worth."""
        if self._weight <= self._budget:
            return self._value
        last = self._heap[0][2].value
        return max(self._value - last, last)

    def whole_items(self) -> list[_Item]:
        """Items that fit into the budget."""
        items = [item for _, _, item in self._heap]
        if self._weight <= self._budget:
            return items
        last = items[0]
        return items[1:] if self._value - last.value > last.value else [last]


def _solve(leftmost: _Item, others: Sequence[_Item], budget: int, best: _Best) -> None:
    """Offer the best set of all behind a leftmost rowset, by dynamic programming over weights."""
    worth = np.zeros(budget + 1)
    is_used = np.zeros((len(others), budget + 1), np.bool_)
    score, last = best.score, -1
    for index, item in enumerate(others):
        with_item = worth[: budget + 1 - item.weight] + item.value
        is_used[index, item.weight :] = with_item > worth[item.weight :]
        worth[item.weight :] = np.maximum(worth[item.weight :], with_item)
        gain = _gain(float(worth[budget]), item.interval.high - leftmost.interval.low)
        if gain > score:
            score, last = gain, index
    if last >= 0:
        best.offer(score, _traced(others[: last + 1], is_used, budget))


def _traced(items: Sequence[_Item], is_used: npt.NDArray[np.bool_], budget: int) -> list[_Item]:
    """The items that made up the best value within a budget, going back from the last."""
    solution = []
    room = budget
    for index in range(len(items) - 1, -1, -1):
        if is_used[index, room]:
            solution.append(items[index])
            room -= items[index].weight
    return solution
