"""The tablets that a table had within a span of time, those of dropped range partitions included.

What a commit did to a row stays history when the row's range partition is dropped later. So
whoever reads the history of a table reads the tablets of every state that the table was in, each
up to its drop; and the drop itself ends all rows of its tablets at one moment.

A table that was dropped and brought back has its tablets again, so that is no drop of them.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, Timestamp

if TYPE_CHECKING:
    from pykudu_sql.storage.catalog.catalog_history import TableEvent
    from pykudu_sql.storage.catalog.table_info import TableInfo
    from pykudu_sql.storage.common.predicate.column_predicate import Predicate


@dataclass(frozen=True, slots=True)
class TabletSpan:
    """A tablet of a table, and how long it is one.

    Attributes:
        state: the last state of the table that has it.
        index: of the tablet in that state.
        dropped: hybrid time at which its range partition was dropped; None where it was not.
    """

    state: "TableInfo"
    index: int
    dropped: Timestamp | None = None

    @property
    def tablet_id(self) -> str:
        """The tablet's UUID."""
        return self.state.tablets[self.index].id


def tablet_spans(
    events: Sequence["TableEvent"], low: SnapshotBound, high: SnapshotBound
) -> tuple[TabletSpan, ...]:
    """The tablets that some snapshot of bounds from `low` to `high` sees.

    Those that were dropped come first, in the order of the drops, so that what happened to a key
    comes in order of time; then those that the one of `high` sees.

    `events`: of one table, in the order of their times, with none missing from `low` on.
    """
    states = [
        (one.timestamp, one.table)
        for one in events
        if one.table is not None and one.timestamp < high
    ]
    if not states:
        return ()
    spans: list[TabletSpan] = []
    for (_, before), (timestamp, after) in pairwise(states):
        if timestamp >= low and after.tablets != before.tablets:
            later = {tablet.id for tablet in after.tablets}
            spans += [
                TabletSpan(before, index, timestamp)
                for index, tablet in enumerate(before.tablets)
                if tablet.id not in later
            ]
    newest = states[-1][1]
    return (*spans, *(TabletSpan(newest, index) for index in range(len(newest.tablets))))


def with_rows_of(
    spans: Sequence[TabletSpan], predicate: "Predicate | None"
) -> tuple[TabletSpan, ...]:
    """Those of some spans whose tablets can hold a row that a predicate on the key matches."""
    if predicate is None:
        return tuple(spans)
    states = {id(one.state): one.state for one in spans}
    indexes = {key: set(state.pruner.prune(predicate)) for key, state in states.items()}
    return tuple(one for one in spans if one.index in indexes[id(one.state)])
