"""The kinds of deltas, as Kudu's `RowChangeList::ChangeType` (`common/row_changelist.h`)."""

from enum import IntEnum


class DeltaKind(IntEnum):
    """What a delta does to its row; the numbers are those of delta files and commit records."""

    UPDATE = 0
    DELETE = 1
    REINSERT = 2
