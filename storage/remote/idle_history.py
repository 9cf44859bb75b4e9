"""Changes from before the history that is kept, where nothing happened until that begins.

How long history is kept is a matter of time, so a table that nobody writes to grows out of it too.
Where its files still show all that was done since the moment, and that is nothing, the changes from
there are those from where history begins: none is missed. Whether the files do is known by the
marks that flushes, compactions and collections were given, of which the manifest keeps the highest
of each table: below it something may be gone without a trace.
"""

from pykudu_sql.storage.catalog.snapshots import Hold
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.errors import HistoryPurgedError
from pykudu_sql.storage.open_store import OpenStore
from pykudu_sql.storage.tablet.read.version_scan import HistoryRange, scan_tablet_changes


def hold_changes(
    store: OpenStore, table: TableInfo, low: SnapshotBound, high: SnapshotBound
) -> Hold:
    """Keep the history that a table's changes by commits at times low <= t < high need.

    The bound of the hold is `low`, or where history begins if nothing happened until there. Raises
    HistoryPurgedError: history does not reach back to `low`, and something may have happened.
    """
    try:
        return store.history.hold((table,), low)
    except HistoryPurgedError:
        whole = store.history.hold_all(table)
        if _is_unchanged(store, table, low, min(whole.bound, high)):
            return whole
        raise


def _is_unchanged(
    store: OpenStore, table: TableInfo, low: SnapshotBound, high: SnapshotBound
) -> bool:
    """Whether it is sure that no commit at a time low <= t < high touched a table's rows."""
    if table.id not in store.catalog_at(low).by_id:
        return False  # states of it are forgotten, perhaps with partitions that were dropped
    reach = HistoryRange(low, high, high, low)
    for span in store.tablet_spans(table.id, low, high):
        if span.dropped is not None:
            return False
        tablet = store.tablets[span.tablet_id]
        if tablet.newest < low:
            continue
        columns = span.state.schema.columns
        changes = scan_tablet_changes(tablet, columns, [c.id for c in columns], reach)
        if any(len(part.timestamps) for part in changes):
            return False
    # Looked at last: what was given a mark since has perhaps changed files under the scan.
    return store.history.collected_below(table.id) <= low
