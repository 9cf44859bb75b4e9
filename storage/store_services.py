"""The services over one view of a database: catalog and tablets, and whoever reads or changes them.

A store that writes has one set of them as long as it is open, a store that reads a new set for each
view. They are the same in both: a committer without a manifest refuses every change.
"""

from typing import TYPE_CHECKING

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.snapshots import SnapshotRegistry
from pykudu_sql.storage.commit.committer import Committer
from pykudu_sql.storage.commit.definitions import Definitions
from pykudu_sql.storage.commit.history import History
from pykudu_sql.storage.commit.history_purge import HistoryPurge
from pykudu_sql.storage.commit.log_retention import LogRetention
from pykudu_sql.storage.common.memory_budget import Holder
from pykudu_sql.storage.common.thread_pool import ThreadPool
from pykudu_sql.storage.common.types.hybrid_time import HybridClock, last_before
from pykudu_sql.storage.ingest.auto_increment import AutoIncrement
from pykudu_sql.storage.maintenance.context import MaintenanceContext
from pykudu_sql.storage.maintenance.manager import MaintenanceManager
from pykudu_sql.storage.tablet.rowset.mvcc import MvccManager
from pykudu_sql.storage.transaction.transaction_services import TransactionServices

if TYPE_CHECKING:
    from pykudu_sql.storage.catalog.store_state import StoreState
    from pykudu_sql.storage.cfile.block_cache import BlockCache
    from pykudu_sql.storage.common.memory_budget import MemoryBudget
    from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
    from pykudu_sql.storage.fs.env import Env
    from pykudu_sql.storage.log.read_only_log import ReadOnlyLog
    from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog
    from pykudu_sql.storage.recovery.manifest_log import ManifestLog
    from pykudu_sql.storage.recovery.tablet_opener import TabletOpener
    from pykudu_sql.storage.store_options import StoreOptions
    from pykudu_sql.storage.tablet.tablet import Tablet


@dataclass(frozen=True, slots=True)
class StoreResources:
    """What a store has from its opening to its end.

    `options`: as opened; `budget`: of its memory; `pool`: threads for scans and large inserts.
    """

    env: "Env"
    path: str
    options: "StoreOptions"
    cache: "BlockCache"
    budget: "MemoryBudget"
    pool: ThreadPool


@dataclass(frozen=True, slots=True)
class StoreServices:
    """The services over one view.

    Attributes:
        tablets: by UUID; those of new tables are added, purged ones taken out.
        committer: commits, or refuses to.
        history: how far back tables can be read.
        definitions: changes the catalog.
        auto_increment: the hidden counters of tables.
        log_retention: which part of the log is needed.
        purge: lets go of what no readable snapshot sees.
        maintenance: flushes, compacts and collects.
        transactions: what a transaction works on.
    """

    database_id: bytes
    state: "StoreState"
    tablets: dict[str, "Tablet"]
    committer: Committer
    history: History
    definitions: Definitions
    auto_increment: AutoIncrement
    log_retention: LogRetention
    purge: HistoryPurge
    maintenance: MaintenanceManager
    transactions: TransactionServices


def store_services(
    resources: StoreResources,
    opener: "TabletOpener",
    state: "StoreState",
    tablets: dict[str, "Tablet"],
    log: "WriteAheadLog | ReadOnlyLog",
    manifest: "ManifestLog | None",
    visible: "SnapshotBound",
    past: "SnapshotBound",
) -> StoreServices:
    """The services over tablets.

    Args:
        opener: makes tablets, and has the reaper of their files.
        tablets: by UUID.
        log: takes records of commits.
        manifest: takes edits; None refuses every change.
        visible: all commits below it are.
        past: the clock begins behind it.
    """
    clock, options = HybridClock(resources.options.wall), resources.options
    clock.update(last_before(past))
    mvcc = MvccManager(visible)
    history = History(clock, SnapshotRegistry(lambda: mvcc.bound), state)
    sizes = (options.rowset_bytes, resources.budget.shares.piece)
    committer = Committer(clock, mvcc, log, manifest, history.mark_of_tablet, *sizes)
    auto_increment = AutoIncrement(tablets)
    definitions = Definitions(committer, history, state, tablets, opener.make)
    log_retention = LogRetention(log, tablets, committer, state)
    purge = HistoryPurge(
        resources.env, resources.path, opener.reaper, committer, history, state, log, tablets
    )
    maintenance = MaintenanceManager(
        MaintenanceContext(
            tablets, committer, history, state, log_retention, purge, resources.budget, options
        )
    )
    resources.budget.measure_with(Holder.MEMSTORES, maintenance.memory)
    transactions = TransactionServices(
        tablets,
        committer,
        definitions,
        resources.pool,
        state.table_now,
        auto_increment,
        history,
        resources.cache.capacity,
        resources.budget,
        maintenance.relieve,
    )
    return StoreServices(
        database_id=opener.database_id,
        state=state,
        tablets=tablets,
        committer=committer,
        history=history,
        definitions=definitions,
        auto_increment=auto_increment,
        log_retention=log_retention,
        purge=purge,
        maintenance=maintenance,
        transactions=transactions,
    )
