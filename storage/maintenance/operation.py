"""Maintenance operations: their kinds, the statistics of one that is due, the record of a run."""

from enum import StrEnum

from pykudu_sql.dataclass import dataclass


class OperationKind(StrEnum):
    """The eight operations, by Kudu's names (`tablet/tablet_mm_ops.h`)."""

    FLUSH_MEMROWSET = "FlushMRSOp"
    FLUSH_DELTA_STORES = "FlushDeltaMemStoresOp"
    LOG_GC = "LogGCOp"
    COMPACT_ROWSETS = "CompactRowSetsOp"
    MINOR_DELTA_COMPACTION = "MinorDeltaCompactionOp"
    MAJOR_DELTA_COMPACTION = "MajorDeltaCompactionOp"
    UNDO_GC = "UndoDeltaBlockGCOp"
    DELETED_ROWSET_GC = "DeletedRowsetGCOp"

    @property
    def flushes(self) -> bool:
        """Whether it brings memory to disk."""
        return self in (OperationKind.FLUSH_MEMROWSET, OperationKind.FLUSH_DELTA_STORES)

    @property
    def collects_data(self) -> bool:
        """Whether it drops files of old history."""
        return self in (OperationKind.UNDO_GC, OperationKind.DELETED_ROWSET_GC)


@dataclass(frozen=True, slots=True)
class OperationStats:
    """What speaks for running an operation now (Kudu's `MaintenanceOpStats`).

    Attributes:
        kind: which.
        tablet_id: UUID of its tablet, empty for the log, which all tablets share.
        table: name of the tablet's table, empty when it is dropped.
        ram: bytes of memory it would free.
        logs_retained: bytes of the log that nothing needs once it ran.
        replay_seconds: that an opening needs for the log that it holds back, roughly.
        data_retained: bytes of files it would drop.
        score: how much it would speed up the tablet, with the table's priority; 0 is not at all.
    """

    kind: OperationKind
    tablet_id: str
    table: str = ""
    ram: int = 0
    logs_retained: int = 0
    replay_seconds: float = 0.0
    data_retained: int = 0
    score: float = 0.0

    @property
    def is_due(self) -> bool:
        """Whether it gains something; a flush may just wait for memory or log to run short."""
        return self.score > 0 or self.data_retained > 0 or self.kind is OperationKind.LOG_GC


@dataclass(frozen=True, slots=True)
class OperationRun:
    """One run of an operation.

    Attributes:
        kind, tablet_id, table: see `OperationStats`.
        started: microseconds since 1970, UTC.
        seconds: that it took.
        written: bytes of the files it wrote.
        freed: bytes of the files it dropped, or of the log.
        error: why it failed, empty when it did not.
    """

    kind: OperationKind
    tablet_id: str
    table: str
    started: int
    seconds: float
    written: int
    freed: int
    error: str = ""
