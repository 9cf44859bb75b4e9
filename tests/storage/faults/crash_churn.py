"""Rounds of writing beside every kind of compaction until SIGKILL (see `crash_rounds`).

The writer does what that of `crash_rounds` does, DELETEs included. Beside it the store's own
maintenance flushes nearly every commit, and another thread merges rowsets, compacts deltas wholly
and by column, and drops old files, one after the other for ever.

Usage: python -m tests.storage.faults.crash_churn FOLDER ROUNDS SEED; prints one JSON line.
"""

import json
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_major, compact_redo
from tests.storage.faults.crash_rounds import main, write_for_ever


def churn(store: Store, seed: int, tell: Callable[[dict[str, Any]], None]) -> None:
    """Compact for ever; an operation that fails is told, which ends the round with an error."""
    rng, host = random.Random(seed), store.committer.tablet_services
    try:
        while True:
            for tablet in list(store.tablets.values()):
                store.flush()
                with tablet.maintenance_lock:
                    for rowset in tablet.components.tree.rowsets:
                        if rng.random() < 0.5:
                            compact_major(tablet, rowset, [rng.choice([1, 2])], host)
                        else:
                            compact_redo(tablet, rowset, host)
            store.optimize("t", full=rng.random() < 0.5)
            store.vacuum("t")
    except BaseException as error:
        tell({"failed": repr(error)})
        raise


def write_beside_compactions(path: str, seed: int, tell: Callable[[dict[str, Any]], None]) -> None:
    """Open and do both until the process is killed."""
    options = StoreOptions(threads=1, flush_bytes=1, rowset_bytes=4000)
    store = Store(LocalEnv(), path, options)
    threading.Thread(target=churn, args=(store, seed, tell), daemon=True).start()
    write_for_ever(store, seed, tell)


if __name__ == "__main__":
    folder, rounds, seed = sys.argv[1:]
    print(json.dumps(main(folder, int(rounds), int(seed), write_beside_compactions)))
