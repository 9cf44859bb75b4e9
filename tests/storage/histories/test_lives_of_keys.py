"""Few keys with many lives: whatever is merged with whatever, every earlier moment reads as it was.

Keys are inserted, changed, deleted and inserted again through memory and past the log. Compactions
merge any choice of rowsets, so that the lives of one key lie in some rowsets and are absent from
those between. Behind each of them all snapshots, versions and changes must be the model's.

The machines over a whole store (`test_store_model`, `test_store_scripts`) have so much else to do
that three lives of one key in as many rowsets, with the middle one left out, do not come up there.
"""

from collections.abc import Mapping
from itertools import pairwise

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING
from pykudu_sql.storage.tablet.history.row_versions import CHANGE_TYPES, STILL_VALID
from pykudu_sql.storage.tablet.maintenance.compaction import compact_rowsets
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_major, compact_redo
from pykudu_sql.storage.tablet.read.version_scan import (
    HistoryRange,
    scan_tablet_changes,
    scan_tablet_versions,
)
from tests.properties.examples import examples
from tests.storage.model import operations, read
from tests.storage.small_bulks import bulk_inserts_from
from tests.storage.small_store import SmallStore

KEYS = range(3)
MEMORY = 1 << 30
FILES = 1

Values = Mapping[int, int]
Version = tuple[int, int, int, int]
Change = tuple[int, int, int, str]


class LivesMachine(RuleBasedStateMachine):
    """One tablet, and what it was after each commit.

    Every value is written once, so each commit that touches a row makes a version of it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.small = SmallStore()
        self.past: list[tuple[int, Values]] = [(0, {})]
        self.newest_value = 0

    def teardown(self) -> None:
        self.see_the_past()
        self.small.store.close()

    @rule(
        keys=st.sets(st.sampled_from(KEYS), min_size=1),
        bulk_rows=st.sampled_from([MEMORY, FILES]),
        anew=st.booleans(),
        flush=st.booleans(),
    )
    def put(self, keys: set[int], bulk_rows: int, anew: bool, flush: bool) -> None:
        """Insert or change rows; `anew` deletes them first, in the same commit."""
        values = {}
        for key in sorted(keys):
            self.newest_value += 1
            values[key] = self.newest_value
        with bulk_inserts_from(bulk_rows):
            self.commit(keys if anew else set(), values)
        if flush:
            self.small.store.flush()

    @precondition(lambda self: self.past[-1][1])
    @rule(keys=st.sets(st.sampled_from(KEYS), min_size=1), flush=st.booleans())
    def delete(self, keys: set[int], flush: bool) -> None:
        self.commit(keys, {})
        if flush:
            self.small.store.flush()

    def commit(self, deleted: set[int], put: Values) -> None:
        key, value = (column.id for column in self.small.table.schema.columns)
        transaction, table = self.small.store.begin(), self.small.table
        left = {k: v for k, v in self.past[-1][1].items() if k not in deleted}
        if deleted:
            gone = [{key: k} for k in sorted(deleted)]
            transaction.write(table, operations(table, RowOpKind.DELETE_IGNORE, gone))
        if put:
            rows = [{key: k, value: v} for k, v in put.items()]
            # Only INSERT goes past the log.
            kind = RowOpKind.UPSERT if put.keys() & left.keys() else RowOpKind.INSERT
            transaction.write(table, operations(table, kind, rows))
        time = transaction.commit(durable=False)
        if time is not None:
            self.past.append((time, {**left, **put}))

    @rule(choice=st.integers(1, 31))
    def merge(self, choice: int) -> None:
        """Merge some of the rowsets."""
        tablet, store = self.small.tablet, self.small.store
        rowsets = tablet.components.tree.rowsets
        chosen = [r for place, r in enumerate(rowsets) if choice >> place % 5 & 1]
        with tablet.maintenance_lock:
            compact_rowsets(tablet, chosen, store.committer.tablet_services)
        self.see_the_past()

    @rule(choice=st.integers(1, 31), major=st.booleans())
    def merge_deltas(self, choice: int, major: bool) -> None:
        """Merge the changes of some of the rowsets, with their rows or by themselves."""
        tablet, services = self.small.tablet, self.small.store.committer.tablet_services
        value = self.small.table.schema.by_name["v"].id
        with tablet.maintenance_lock:
            for place, rowset in enumerate(tablet.components.tree.rowsets):
                if choice >> place % 5 & 1 and major:
                    compact_major(tablet, rowset, [value], services)
                elif choice >> place % 5 & 1:
                    compact_redo(tablet, rowset, services)
        self.see_the_past()

    @invariant()
    def newest_rows_are_the_models(self) -> None:
        assert self.rows(None) == self.past[-1][1]

    def rows(self, bound: int | None) -> Values:
        transaction = self.small.store.begin()
        found = read(transaction, self.small.table, bound)
        transaction.rollback()
        key, value = (column.id for column in self.small.table.schema.columns)
        return {row[key]: row[value] for row in found.values()}

    def see_the_past(self) -> None:
        for time, rows in self.past[1:]:
            assert self.rows(time + 1) == rows
        assert self.versions() == versions_of(self.past)
        assert self.changes() == changes_of(self.past)

    def versions(self) -> list[Version]:
        columns = self.small.table.schema.columns
        ids = [column.id for column in columns]
        found = scan_tablet_versions(self.small.tablet, columns, ids, everything())
        return [
            version
            for batch in found
            for version in zip(
                *(column.to_pylist() for column in batch.columns),
                batch.valid_from.tolist(),
                batch.valid_to.tolist(),
                strict=True,
            )
        ]

    def changes(self) -> list[Change]:
        columns = self.small.table.schema.columns
        ids = [column.id for column in columns]
        found = scan_tablet_changes(self.small.tablet, columns, ids, everything())
        return [
            change
            for batch in found
            for change in zip(
                *(column.to_pylist() for column in batch.columns),
                batch.timestamps.tolist(),
                [CHANGE_TYPES[kind] for kind in batch.kinds],
                strict=True,
            )
        ]


def everything() -> HistoryRange:
    return HistoryRange(0, EVERYTHING, EVERYTHING, 0)


def versions_of(past: list[tuple[int, Values]]) -> list[Version]:
    versions: list[Version] = []
    for key in KEYS:
        for (_, before), (time, after) in pairwise(past):
            if before.get(key) == after.get(key):
                continue
            if key in before:
                versions[-1] = (*versions[-1][:3], time)
            if key in after:
                versions.append((key, after[key], time, int(STILL_VALID)))
    return versions


def changes_of(past: list[tuple[int, Values]]) -> list[Change]:
    changes: list[Change] = []
    for key in KEYS:
        for (_, before), (time, after) in pairwise(past):
            if before.get(key) == after.get(key):
                continue
            is_update = key in before and key in after
            if key in before:
                kind = "update_preimage" if is_update else "delete"
                changes.append((key, before[key], time, kind))
            if key in after:
                kind = "update_postimage" if is_update else "insert"
                changes.append((key, after[key], time, kind))
    return changes


TestLives = LivesMachine.TestCase
TestLives.settings = settings(max_examples=examples(40), stateful_step_count=30, deadline=None)
