"""The services of the store that flush, compaction and history GC use."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.memory_budget import MOST_PIECE

if TYPE_CHECKING:
    from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
    from pykudu_sql.storage.tablet.rowset.tablet_metadata import TabletEdit


@dataclass(frozen=True, slots=True)
class TabletServices:
    """What maintenance needs of the store around a tablet.

    Attributes:
        commit_lock: held by whoever applies a commit or swaps components; re-entrant.
        check_writable: refuses, while nothing was appended, what `record` would refuse.
        sync_log: makes every commit applied so far durable.
        record: appends a tablet's edit to the manifest, durably.
        history_mark: the ancient history mark of a tablet, by its id: snapshots are read at this
            bound or above, and what only earlier ones need may go. 0 keeps everything.
        rowset_bytes: a rowset that grows past it on disk is closed and the next one begun.
        piece_bytes: of rows, decoded, that are taken at once.
    """

    commit_lock: AbstractContextManager[object]
    check_writable: Callable[[], None]
    sync_log: Callable[[], None]
    record: Callable[["TabletEdit"], None]
    history_mark: Callable[[str], "SnapshotBound"]
    rowset_bytes: int = 32 << 20
    piece_bytes: int = MOST_PIECE
