"""Operations on our tablets at a chosen moment, which background maintenance runs when due.

A workload that measures a state between two of them has to pause what runs in the background.
"""

from collections.abc import Sequence

from benchmarks.peers.peer import Peer
from benchmarks.peers.pykudu import PykuduPeer
from pykudu_sql.storage.open_store import OpenStore
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_major
from pykudu_sql.storage.tablet.rowset.key_interval import average_height, tree_intervals
from pykudu_sql.storage.tablet.tablet import Tablet


def ours(peer: Peer) -> PykuduPeer:
    """A database as one of ours.

    Raises:
        TypeError: it is another engine's.
    """
    if not isinstance(peer, PykuduPeer):
        raise TypeError(f"{type(peer).__name__} has no tablets")
    return peer


def paused(peer: Peer) -> OpenStore:
    """The store of a database of ours, in whose background nothing runs from now on."""
    store = ours(peer).store
    store.maintenance.pause()
    return store


def tablets_of(store: OpenStore, table: str) -> Sequence[Tablet]:
    """The tablets of a table."""
    return [store.tablets[info.id] for info in store.catalog.table(table).tablets]


def compact_deltas(store: OpenStore, table: str) -> None:
    """Major delta compaction of every rowset, over all columns that were updated."""
    column_ids = [column.id for column in store.catalog.table(table).schema.columns]
    for tablet in tablets_of(store, table):
        with tablet.maintenance_lock:
            for rowset in tablet.components.tree.rowsets:
                compact_major(tablet, rowset, column_ids, store.committer.tablet_services)


def optimize(peer: Peer, table: str) -> None:
    """Flush a table and compact it as long as Kudu's policy finds something to gain."""
    peer.execute(f"OPTIMIZE TABLE {table}", ())


def height_of(store: OpenStore, table: str) -> float:
    """Rowsets that a look-up of a random key asks, the mean of a table's tablets."""
    trees = [tablet.components.tree for tablet in tablets_of(store, table)]
    return sum(average_height(tree_intervals(tree)) for tree in trees) / len(trees)
