"""Compactions of a whole store, for tests that want its rowsets to be others."""

from pykudu_sql.storage.store import Store
from pykudu_sql.storage.tablet.maintenance.compaction import compact_rowsets


def compact_tablets(store: Store) -> None:
    """Merge the rowsets of each tablet."""
    for tablet in store.tablets.values():
        with tablet.maintenance_lock:
            compact_rowsets(tablet, tablet.components.tree.rowsets, store.committer.tablet_services)
