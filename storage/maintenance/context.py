"""The parts of a store that maintenance works on."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pykudu_sql.dataclass import dataclass

if TYPE_CHECKING:
    from pykudu_sql.storage.catalog.store_state import StoreState
    from pykudu_sql.storage.commit.committer import Committer
    from pykudu_sql.storage.commit.history import History
    from pykudu_sql.storage.commit.history_purge import HistoryPurge
    from pykudu_sql.storage.commit.log_retention import LogRetention
    from pykudu_sql.storage.common.memory_budget import MemoryBudget
    from pykudu_sql.storage.store_options import StoreOptions
    from pykudu_sql.storage.tablet.tablet import Tablet


@dataclass(frozen=True, slots=True)
class MaintenanceContext:
    """The parts of a store that maintenance works on.

    Attributes:
        tablets: by UUID; grows while the store is open.
        committer: commit lock, log and manifest.
        history: how far back tables can be read.
        log_retention: which part of the log is needed.
        purge: lets go of tables, partitions and columns that no readable snapshot sees, and of
            files that nobody reads.
        budget: whose share changes in memory have to keep to.
    """

    tablets: Mapping[str, "Tablet"]
    committer: "Committer"
    history: "History"
    state: "StoreState"
    log_retention: "LogRetention"
    purge: "HistoryPurge"
    budget: "MemoryBudget"
    options: "StoreOptions"
