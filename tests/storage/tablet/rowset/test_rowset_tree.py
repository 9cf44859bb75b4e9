"""The tree names exactly the rowsets whose interval meets the one asked for."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.tablet.rowset.rowset_tree import RowSetTree
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta

KEYS = st.binary(max_size=2)


@dataclass(frozen=True)
class Interval:
    """As much of a DiskRowSet as the tree looks at."""

    meta: RowSetMeta

    @property
    def id(self) -> int:
        return self.meta.id


def interval(number: int, low: bytes, high: bytes) -> Interval:
    return Interval(RowSetMeta(number, number, 1, 1, low, high, (), None))


@given(bounds=st.lists(st.tuples(KEYS, KEYS), max_size=12), low=KEYS, high=KEYS)
def test_a_stab_finds_exactly_the_intervals_that_overlap(
    bounds: list[tuple[bytes, bytes]], low: bytes, high: bytes
) -> None:
    low, high = min(low, high), max(low, high)
    rowsets = [interval(i, min(pair), max(pair)) for i, pair in enumerate(bounds)]
    tree = RowSetTree(rowsets)  # type: ignore[arg-type]
    wanted = {r.id for r in rowsets if r.meta.min_key <= high and r.meta.max_key >= low}
    assert {rowset.id for rowset in tree.overlapping(low, high)} == wanted
    one = {r.id for r in rowsets if r.meta.min_key <= low <= r.meta.max_key}
    assert {rowset.id for rowset in tree.overlapping(low, low)} == one
