"""History scans: the changes of a table's rows between two moments, and the versions of its rows.

One call reads a whole table, tablet after tablet, as Arrow batches:

    scan_changes(store, table, low, high, column_ids)   -> Iterator[pa.RecordBatch]
    scan_versions(store, table, window, until, column_ids) -> Iterator[pa.RecordBatch]

Changes have the columns wanted, `_change_type` (text) and `_commit_timestamp`; versions have
`_valid_from` and `_valid_to`. Times are hybrid times as uint64. `store` may be one that writes or
one that only reads, in any process: `plan_changes` names one share a tablet as JSON, `read_share`
reads it with a store of its own.

Both read the tablets of range partitions that were dropped meanwhile too, up to the drop, which
deletes their rows. So the changes from one moment to another are those to a moment between them
and those from there on, whatever became of the table.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import TypeVar

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.catalog.tablet_spans import TabletSpan, with_rows_of
from pykudu_sql.storage.common.predicate.column_predicate import Predicate
from pykudu_sql.storage.common.rows.history_columns import (
    CHANGE_TYPE,
    COMMIT_TIMESTAMP,
    VALID_FROM,
    VALID_TO,
    HistoryKind,
)
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, Timestamp
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import DataError, FormatVersionError, HistoryPurgedError
from pykudu_sql.storage.open_store import OpenStore
from pykudu_sql.storage.remote.idle_history import hold_changes
from pykudu_sql.storage.scan.scan_token import BATCH_ROWS
from pykudu_sql.storage.tablet.history.row_versions import CHANGE_TYPES, STILL_VALID
from pykudu_sql.storage.tablet.read.version_scan import (
    MOST_SLICE_BYTES,
    HistoryRange,
    scan_tablet_changes,
    scan_tablet_versions,
)
from pykudu_sql.storage.tablet.tablet import Tablet

SHARE_VERSION = 2
T = TypeVar("T")
_TabletScan = Callable[
    [Tablet, Sequence[ColumnSchema], Sequence[int], HistoryRange, int], Iterator[T]
]
_LOOKS = 20
_SLICES = 4  # in memory at once: read, made, and with whoever takes them


@dataclass(frozen=True, slots=True)
class ChangeShare:
    """The changes of one tablet between two moments, to be read in any process.

    Attributes:
        table_id: of the table.
        tablet_id: of the tablet, which may be dropped by now.
        low, high: commits at times low <= t < high.
        column_ids: wanted, in order.
    """

    table_id: str
    tablet_id: str
    low: SnapshotBound
    high: SnapshotBound
    column_ids: tuple[int, ...]

    def to_json(self) -> str:
        """The share as text."""
        return json.dumps({"version": SHARE_VERSION, **asdict(self)})

    @classmethod
    def from_json(cls, text: str) -> "ChangeShare":
        """The inverse of `to_json`.

        Raises DataError: the text is no share; FormatVersionError: it is one of a newer version.
        """
        try:
            value = json.loads(text)
            version = int(value["version"])
            share = cls(
                str(value["table_id"]),
                str(value["tablet_id"]),
                SnapshotBound(int(value["low"])),
                SnapshotBound(int(value["high"])),
                tuple(int(column_id) for column_id in value["column_ids"]),
            )
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(f"{text[:60]!r} is no share of a history scan") from error
        if version != SHARE_VERSION:
            raise FormatVersionError(f"a share of version {version} cannot be read by this release")
        return share


def plan_changes(
    store: OpenStore,
    table: TableInfo,
    low: SnapshotBound,
    high: SnapshotBound,
    column_ids: Sequence[int],
) -> tuple[ChangeShare, ...]:
    """The shares that together are `scan_changes`, one a tablet; see there."""
    follow(store, high)
    store.wait_until_readable(high)
    if hold_changes(store, table, low, high).bound >= high:
        return ()
    return tuple(
        ChangeShare(table.id, span.tablet_id, low, high, tuple(column_ids))
        for span in store.tablet_spans(table.id, low, high)
    )


def with_later_columns(store: OpenStore, table: TableInfo) -> TableInfo:
    """A table of a past moment with the columns that it got since; its rows have their defaults.

    A column whose name another one had at that moment is left out. `store`: of the table; `table`:
    as of the moment.
    """
    newest = store.catalog.by_id.get(table.id)
    if newest is None or newest.schema == table.schema:
        return table
    existing, names = table.schema.by_id, table.schema.by_name
    later = [c for c in newest.schema.columns if c.id not in existing and c.name not in names]
    schema = replace(table.schema, columns=(*table.schema.columns, *later))
    return replace(table, schema=schema)


def follow(store: OpenStore, bound: SnapshotBound) -> None:
    """See the commits below a bound that was readable in another process, in a store that reads.

    A view just opened may end before it, if the writer was at work meanwhile; edits that keep a
    later view behind are younger than the bound. Where no commit came close to the bound, the looks
    end without reaching it, and cost a few small reads each. Raises CorruptionError, DiskError: a
    file cannot be read.
    """
    for _ in range(_LOOKS):
        if store.history.snapshots.hold_newest().bound >= bound:
            return
        store.refresh()


def read_share(store: OpenStore, share: ChangeShare) -> Iterator[pa.RecordBatch]:
    """The changes of one share; see `scan_changes`.

    `store`: of the same database, opened after the share was planned; `share`: of `plan_changes`.
    Raises HistoryPurgedError: history does not reach back so far, or the table was purged;
    CorruptionError, DiskError: a file cannot be read.
    """
    follow(store, share.high)
    table = store.catalog_at(share.high).by_id.get(share.table_id)
    if table is None:
        raise HistoryPurgedError(f"table {share.table_id} of a share of a history scan is gone")
    if not table.schema.by_id.keys() >= set(share.column_ids):
        store.refresh()  # the share was planned by a process that saw a newer table
        table = with_later_columns(store, table)
    return _scan_changes(
        store,
        table,
        share.low,
        share.high,
        share.column_ids,
        lambda spans: [one for one in spans if one.tablet_id == share.tablet_id],
    )


def scan_changes(
    store: OpenStore,
    table: TableInfo,
    low: SnapshotBound,
    high: SnapshotBound,
    column_ids: Sequence[int],
    predicate: Predicate | None = None,
) -> Iterator[pa.RecordBatch]:
    """The changes of a table's rows by commits at times low <= t < high.

    With `AS OF` in mind: the changes that lead from a snapshot of bound `low` to one of `high`.

    Args:
        store: of the table.
        table: as of `high`.
        low, high: bounds.
        column_ids: wanted, in order.
        predicate: on the key: leaves out tablets; rows are not filtered.

    Raises HistoryPurgedError: history does not reach back to `low`, and something may have happened
    since (see `idle_history`); SnapshotInFutureError: `high` has not come yet; CorruptionError,
    DiskError: a file cannot be read.
    """
    return _scan_changes(
        store, table, low, high, column_ids, lambda spans: with_rows_of(spans, predicate)
    )


def _scan_changes(
    store: OpenStore,
    table: TableInfo,
    low: SnapshotBound,
    high: SnapshotBound,
    column_ids: Sequence[int],
    choose: Callable[[Sequence[TabletSpan]], Sequence[TabletSpan]],
) -> Iterator[pa.RecordBatch]:
    """See `scan_changes`; `choose`: the tablets to read."""
    store.wait_until_readable(high)
    hold = hold_changes(store, table, low, high)
    if hold.bound >= high:
        return
    low = max(low, hold.bound)
    reach = HistoryRange(low, high, high, hold.bound)
    schema = history_schema(table, column_ids, HistoryKind.CHANGES)
    names = pa.array(CHANGE_TYPES)
    spans = choose(store.tablet_spans(table.id, low, high))
    for part in _slices(scan_tablet_changes, store, spans, table, column_ids, reach):
        times = pa.array(part.timestamps)
        columns = [*part.columns, names.take(pa.array(part.kinds)), times]
        yield from _batches(schema, columns)
    del hold  # held until here


def scan_versions(
    store: OpenStore,
    table: TableInfo,
    window: tuple[SnapshotBound | None, SnapshotBound],
    until: SnapshotBound,
    column_ids: Sequence[int],
    predicate: Predicate | None = None,
) -> Iterator[pa.RecordBatch]:
    """The versions of a table's rows that were valid some time within a window.

    Args:
        store: of the table.
        table: as of the end of the window.
        window: versions that began below its second bound and did not end below its first; None
            is where history begins.
        until: bound of the snapshot that is read: later commits are not seen.
        column_ids: wanted, in order.
        predicate: on the key: leaves out tablets; rows are not filtered.

    Raises: as `scan_changes`.
    """
    store.wait_until_readable(until)
    whole = store.history.hold_all(table)
    low = whole.bound if window[0] is None else window[0]
    if low < whole.bound:
        store.history.hold((table,), low)  # which says what is wrong
        low = whole.bound
    reach = HistoryRange(low, window[1], until, whole.bound)
    schema = history_schema(table, column_ids, HistoryKind.VERSIONS)
    spans = with_rows_of(store.tablet_spans(table.id, low, until), predicate)
    for part in _slices(scan_tablet_versions, store, spans, table, column_ids, reach):
        begins = pa.array(part.valid_from, mask=part.valid_from == 0)
        ends = pa.array(part.valid_to, mask=part.valid_to == STILL_VALID)
        yield from _batches(schema, [*part.columns, begins, ends])
    del whole  # held until here


def history_schema(table: TableInfo, column_ids: Sequence[int], kind: HistoryKind) -> pa.Schema:
    """The Arrow schema of a history scan's batches."""
    columns: list[ColumnSchema] = [table.schema.by_id[i] for i in column_ids]
    if kind is HistoryKind.CHANGES:
        history_fields = [pa.field(CHANGE_TYPE, pa.string(), False)]
        history_fields.append(pa.field(COMMIT_TIMESTAMP, pa.uint64(), False))
    else:
        history_fields = [pa.field(VALID_FROM, pa.uint64()), pa.field(VALID_TO, pa.uint64())]
    return pa.schema([*(column.field for column in columns), *history_fields])


def _slices(
    scan_tablet: _TabletScan[T],
    store: OpenStore,
    spans: Sequence[TabletSpan],
    table: TableInfo,
    column_ids: Sequence[int],
    reach: HistoryRange,
) -> Iterator[T]:
    """What a scan of each tablet gives, up to the moment when the tablet was dropped."""
    for tablet, dropped in _tablets(store, spans):
        size = store.budget.piece(_SLICES * MOST_SLICE_BYTES) // _SLICES
        columns = table.schema.columns
        yield from scan_tablet(tablet, columns, column_ids, reach.up_to(dropped), size)


def _tablets(
    store: OpenStore, spans: Sequence[TabletSpan]
) -> Sequence[tuple[Tablet, Timestamp | None]]:
    """The tablets to read, and when each was dropped, before a refresh may change the store."""
    tablets = store.tablets
    return [(tablets[span.tablet_id], span.dropped) for span in spans]


def _batches(schema: pa.Schema, columns: Sequence[pa.Array]) -> Iterator[pa.RecordBatch]:
    """Columns as batches of a bounded number of rows."""
    whole = pa.RecordBatch.from_arrays(list(columns), schema=schema)
    for start in range(0, whole.num_rows, BATCH_ROWS):
        yield whole.slice(start, BATCH_ROWS)
