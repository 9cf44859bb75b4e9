"""What maintenance needs of the store around it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.commit.log_retention import LogRetention
from pykudu_sql.storage.store_options import StoreOptions
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.tablet_host import TabletHost


@dataclass(frozen=True, slots=True)
class MaintenanceHost:
    """What the manager needs of its store.

    Attributes:
        tablets: by UUID; grows while the store is open.
        host: commit lock, log and manifest.
        catalog: the tables now.
        log: which part of the log is needed.
        collect_files: unlinks files that nobody reads any more.
        purge: lets go of tables, partitions and columns that no readable snapshot sees.
        renew_mark: notes again how far the logs are durable, if the disk refused that before.
        options: of the store.
    """

    tablets: Mapping[str, Tablet]
    host: TabletHost
    catalog: Callable[[], Catalog]
    log: LogRetention
    collect_files: Callable[[], int]
    purge: Callable[[], int]
    renew_mark: Callable[[], None]
    options: StoreOptions
