"""FLUSH, OPTIMIZE and VACUUM: maintenance on demand, and its effect.

The same operations that run by themselves, through the same manager, so that they are counted,
listed and kept apart from those in the background. `cancel_check` may be passed: what it raises
ends the statement, and what was done until then stays.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.cancellation import CancelCheck, cancellable
from pykudu_sql.storage.maintenance.manager import MaintenanceManager
from pykudu_sql.storage.maintenance.operation import OperationKind, OperationStats
from pykudu_sql.storage.maintenance.tablet_stats import delta_memory, memrowset_memory
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.upkeep.introspection import TabletInside, inside

_COMPACTIONS = frozenset(
    {
        OperationKind.MINOR_DELTA_COMPACTION,
        OperationKind.MAJOR_DELTA_COMPACTION,
        OperationKind.COMPACT_ROWSETS,
    }
)


@dataclass(frozen=True, slots=True)
class OptimizeReport:
    """What OPTIMIZE did to a table.

    Attributes:
        operations: how many ran.
        rowsets_before, rowsets_after: in memory and on disk.
        bytes_before, bytes_after: of its files.
        height_before, height_after: rowsets that a look-up of a random key asks, the mean of its
            tablets.
    """

    operations: int
    rowsets_before: int
    rowsets_after: int
    bytes_before: int
    bytes_after: int
    height_before: float
    height_after: float


@dataclass(frozen=True, slots=True)
class VacuumReport:
    """What VACUUM dropped.

    Attributes:
        undo_bytes: of history before the ancient history mark.
        rowset_bytes: of rowsets whose rows were all deleted before it.
        log_bytes: of the write-ahead log.
        files: that nobody read any more.
        tablets: of dropped tables and range partitions that no readable snapshot sees.
    """

    undo_bytes: int
    rowset_bytes: int
    log_bytes: int
    files: int
    tablets: int = 0


def flush_tables(
    manager: MaintenanceManager,
    tables: Sequence[TableInfo],
    tablets: Mapping[str, Tablet],
    cancel_check: CancelCheck,
) -> int:
    """Bring everything that tables hold in memory to disk.

    Returns the number of files written. Raises DiskError, ReadOnlyError: the disk refused.
    """
    written = 0
    for table, tablet in _each(tables, tablets):
        before = tablet.files.files_written
        _flush(manager, table, tablet, cancel_check)
        written += tablet.files.files_written - before
    manager.tidy_up()
    return written


def _each(
    tables: Sequence[TableInfo], tablets: Mapping[str, Tablet]
) -> Iterator[tuple[TableInfo, Tablet]]:
    return ((table, tablets[info.id]) for table in tables for info in table.tablets)


def _flush(
    manager: MaintenanceManager, table: TableInfo, tablet: Tablet, cancel_check: CancelCheck
) -> int:
    """Flush a tablet; how many operations that took."""
    cancel_check()
    due = []
    if memrowset_memory(tablet).size:
        due.append(OperationKind.FLUSH_MEMROWSET)
    if delta_memory(tablet).size:
        due.append(OperationKind.FLUSH_DELTA_STORES)
    for kind in due:
        manager.run(OperationStats(kind, tablet.id, table.name), cancel_check)
    return len(due)


def optimize_table(
    manager: MaintenanceManager,
    table: TableInfo,
    tablets: Mapping[str, Tablet],
    cancel_check: CancelCheck,
) -> OptimizeReport:
    """Flush a table, and compact it as long as a compaction gains something.

    Raises DiskError, ReadOnlyError: the disk refused; what was done until then stays.
    """

    def compact(tablet: Tablet) -> int:
        operations = 0
        while (compaction := _best_compaction(manager, tablet)) is not None:
            operations += 1
            if not manager.run(compaction, cancel_check):
                break
        return operations

    return _flush_and_compact(manager, table, tablets, cancel_check, compact)


def rewrite_table(
    manager: MaintenanceManager,
    table: TableInfo,
    tablets: Mapping[str, Tablet],
    cancel_check: CancelCheck,
) -> OptimizeReport:
    """Flush a table, and merge all rowsets of each tablet into ones in order.

    Raises DiskError, ReadOnlyError: the disk refused; what was done until then stays.
    """

    def compact(tablet: Tablet) -> int:
        if not len(tablet.components.tree):
            return 0
        manager.compact_all(tablet.id, table.name, cancel_check)
        return 1

    return _flush_and_compact(manager, table, tablets, cancel_check, compact)


def _flush_and_compact(
    manager: MaintenanceManager,
    table: TableInfo,
    tablets: Mapping[str, Tablet],
    cancel_check: CancelCheck,
    compact: Callable[[Tablet], int],
) -> OptimizeReport:
    """Flush each tablet of a table and compact it; `compact` gives the number of its operations."""
    own = [tablets[info.id] for info in table.tablets]
    before = [inside(tablet) for tablet in own]
    operations = 0
    for tablet in own:
        operations += _flush(manager, table, tablet, cancel_check)
        operations += compact(tablet)
    manager.tidy_up()
    return _report(operations, before, [inside(tablet) for tablet in own])


def _best_compaction(manager: MaintenanceManager, tablet: Tablet) -> OperationStats | None:
    """The compaction that gains most in a tablet, None when none does."""
    due = manager.due_in(tablet)
    compactions = [op for op in due if op.kind in _COMPACTIONS and op.score > 0]
    return max(compactions, key=lambda op: op.score, default=None)


def _report(
    operations: int, before: Sequence[TabletInside], after: Sequence[TabletInside]
) -> OptimizeReport:
    return OptimizeReport(
        operations,
        sum(tablet.rowsets for tablet in before),
        sum(tablet.rowsets for tablet in after),
        sum(tablet.disk_bytes for tablet in before),
        sum(tablet.disk_bytes for tablet in after),
        _mean_height(before),
        _mean_height(after),
    )


def _mean_height(tablets: Sequence[TabletInside]) -> float:
    return sum(tablet.average_height for tablet in tablets) / max(1, len(tablets))


def vacuum_tablets(
    manager: MaintenanceManager, tablets: Sequence[Tablet], cancel_check: CancelCheck
) -> VacuumReport:
    """Drop history before the ancient history mark, and what nothing needs of log and files.

    Raises DiskError, ReadOnlyError: the disk refused; what was done until then stays.
    """
    freed = {OperationKind.UNDO_GC: 0, OperationKind.DELETED_ROWSET_GC: 0}
    for tablet in cancellable(tablets, cancel_check):
        for op in cancellable(manager.due_in(tablet), cancel_check):
            if op.kind in freed:
                freed[op.kind] += manager.run(op, cancel_check).freed
    cancel_check()
    tidied = manager.tidy_up()
    return VacuumReport(
        freed[OperationKind.UNDO_GC],
        freed[OperationKind.DELETED_ROWSET_GC],
        tidied.log_bytes,
        tidied.files,
    )
