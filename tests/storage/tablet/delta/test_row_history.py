"""The changes of one row: what all come to, and what those below a bound come to."""

from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, Timestamp
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.row_change import RowChange
from pykudu_sql.storage.tablet.delta.row_history import NewestCells, RowHistory

CELLS = st.dictionaries(st.integers(0, 3), st.integers(0, 9), max_size=4)
CHANGES = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(list(DeltaKind)), CELLS), min_size=1, max_size=12
)


def changes_at(drawn: list[tuple[int, DeltaKind, dict[int, int]]]) -> list[RowChange]:
    """Changes at times that never descend; the first number of each is how far it is apart."""
    time, changes = 1, []
    for order, (apart, kind, cells) in enumerate(drawn):
        time += apart
        changes.append(RowChange(Timestamp(time), kind, cells, order))
    return changes


def outcome_of(changes: list[RowChange]) -> RowChange | None:
    if not changes:
        return None
    cells = {column: cell for change in changes for column, cell in change.cells.items()}
    decisions = [change.kind for change in changes if change.kind is not DeltaKind.UPDATE]
    return RowChange(changes[-1].timestamp, decisions[-1] if decisions else DeltaKind.UPDATE, cells)


@given(CHANGES, st.integers(0, 30))
def test_any_snapshot_sees_what_the_changes_below_it_come_to(
    drawn: list[tuple[int, DeltaKind, dict[int, int]]], bound: int
) -> None:
    changes = changes_at(drawn)
    history = RowHistory(changes[0])
    for change in changes[1:]:
        history.add(change)
    assert history.outcome == outcome_of(changes)
    newest = NewestCells()
    history.gather(SnapshotBound(bound), newest)
    assert newest.outcome() == outcome_of([c for c in changes if c.timestamp < bound])


def test_the_later_of_two_histories_of_a_row_counts() -> None:
    older = RowHistory(RowChange(Timestamp(1), DeltaKind.DELETE, {1: 10, 2: 20}, order=5))
    newer = RowHistory(RowChange(Timestamp(2), DeltaKind.REINSERT, {1: 11}, order=6))
    for histories in ((older, newer), (newer, older)):
        newest = NewestCells()
        for history in histories:
            history.gather(SnapshotBound(9), newest)
        assert newest.outcome() == RowChange(Timestamp(2), DeltaKind.REINSERT, {1: 11, 2: 20})
