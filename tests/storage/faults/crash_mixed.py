"""Rounds of everything at once until SIGKILL, run as a program of its own (see `crash_rounds`).

Three threads of a child write while maintenance flushes nearly every commit: large INSERTs into one
table, in one batch or in several, with an UPDATE of its other rows in chunks and a small UPSERT of
another table (one manifest edit, one conditional record), small statements over all tablets, and
CREATE, ALTER and DROP. The child is killed; openings of the database are killed, up to ten in a
row; then the database must hold what was acknowledged, no half of a commit, every earlier moment
unchanged, and no file that it does not need.

Usage: python -m tests.storage.faults.crash_mixed FOLDER ROUNDS SEED; prints one JSON line.
"""

import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.catalog.alter import AddColumn, DropColumn
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.maintenance.manager import POLL_SECONDS
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.transaction.transaction import Transaction
from tests.storage.faults.crash_rounds import drain, in_child
from tests.storage.model import operations, read

BULK = 50_500
CHUNKS = 3
KEYS = 8
MARKER = 1000
Tell = Callable[[dict[str, Any]], None]


def open_store(path: str) -> Store:
    """The store under test: durable commits, flushed as soon as maintenance looks."""
    return Store(LocalEnv(), path, StoreOptions(threads=2, flush_bytes=1))


def create(path: str) -> None:
    """Make the tables: `t` for small statements, `big` for large ones."""
    columns = [ColumnSchema(0, name, DataType(Kind.INT64)) for name in ("id", "n")]
    partitions = PartitionSchema((HashDimension((0,), 3),))
    store = open_store(path)
    for name in ("t", "big"):
        store.create_table(name, create_schema(columns, ["id"]), partitions)
    store.close()


def inserts(keys: npt.NDArray[np.int64], number: int) -> RowOperations:
    """Rows of the large table."""
    columns = {0: pa.array(keys), 1: pa.array(np.full_like(keys, number))}
    return RowOperations(RowOpKind.INSERT, columns, len(keys))


def update_all(txn: Transaction, table: TableInfo, number: int) -> None:
    """Set the large table's rows to a number, a chunk at a time."""
    places = txn.table_scan(table, ScanSpec((), addressed=True)).column(0).to_numpy()
    chunks = [part for part in np.array_split(places, CHUNKS) if len(part)]
    batches = [
        RowOperations(
            RowOpKind.UPDATE_IGNORE, {1: pa.array(np.full_like(part, number))}, len(part), part
        )
        for part in chunks
    ]
    txn.change(table, batches)


def insert_much(store: Store, number: int, tell: Tell) -> None:
    """Insert batch after batch, and write its number to all rows and, as a marker, to `t`."""
    while True:
        number += 1
        tell({"try bulk": number})
        keys = np.arange(number * BULK, (number + 1) * BULK, dtype=np.int64)
        txn = store.begin()
        marker = store.catalog.table("t")
        txn.write(marker, operations(marker, RowOpKind.UPSERT, [{0: MARKER, 1: number}]))
        big = store.catalog.table("big")
        update_all(txn, big, number)
        if number % 2:
            txn.write(big, inserts(keys, number))
        else:
            txn.insert(big, (inserts(keys[start::CHUNKS], number) for start in range(CHUNKS)))
        txn.commit(durable=True)
        tell({"bulk": number})


def write_little(store: Store, value: int, tell: Tell) -> None:
    """Set all rows to one value after another, in one statement over all tablets."""
    table = store.catalog.table("t")
    while True:
        value += 1
        tell({"try value": value})
        txn = store.begin()
        rows = [{0: key, 1: value} for key in range(KEYS)]
        txn.write(table, operations(table, RowOpKind.UPSERT, rows))
        tell({"value": value, "at": txn.commit(durable=True)})


def change_catalog(store: Store, number: int, tell: Tell) -> None:
    """Create a table, write into it, alter it, drop the one before it, and begin again."""
    column = ColumnSchema(0, "extra", DataType(Kind.STRING), True)
    while True:
        number += 1
        tell({"try table": number})
        like = store.catalog.table("t")
        made = store.create_table(f"made{number}", like.schema, like.partition_schema)
        store.write_row(made, RowOpKind.INSERT, {0: 1, 1: number})
        store.alter_table(made.name, [AddColumn(column)])
        store.alter_table(made.name, [DropColumn("extra"), AddColumn(column)])
        for name in list(store.catalog.tables):
            if name.startswith("made") and name != made.name:
                store.drop_table(name)
        tell({"table": number})


def write_until_killed(path: str, state: dict[str, int], tell: Tell) -> None:
    """Open and let all writers go on for ever; one that fails ends the child with an error."""
    store = open_store(path)

    def guarded(work: Callable[[Store, int, Tell], None], start: int) -> None:
        try:
            work(store, start, tell)
        except BaseException as error:
            tell({"failed": repr(error)})
            raise

    for work, name in ((insert_much, "bulk"), (write_little, "value"), (change_catalog, "table")):
        threading.Thread(target=guarded, args=(work, state[name]), daemon=True).start()
    time.sleep(60)


def values_of(txn: Transaction, table: TableInfo, bound: int | None = None) -> dict[int, int]:
    """The small table's rows."""
    rows = read(txn, table, bound)
    return {int(row[0]): int(row[1]) for row in rows.values()}  # type: ignore[arg-type]


def report(path: str, bounds: list[int], tell: Tell) -> None:
    """Open and tell what is there, now and at earlier bounds, and what lies about."""
    store = open_store(path)
    txn = store.begin()
    table, big = store.catalog.table("t"), store.catalog.table("big")
    keys, numbers = (column.to_numpy() for column in txn.table_scan(big, ScanSpec((0, 1))).columns)
    made = [name for name in store.catalog.tables if name.startswith("made")]
    tell(
        {
            "now": list(values_of(txn, table).items()),
            "past": [list(values_of(txn, table, bound).items()) for bound in bounds],
            "bulk": np.unique(keys // BULK, return_counts=True)[1].tolist(),
            "numbers": np.unique(numbers).tolist(),
            "distinct": len(np.unique(keys)) == len(keys),
            "made": {name: len(read(txn, store.catalog.table(name))) for name in made},
        }
    )
    store.close()
    tell({"orphans": orphans(path)})


def orphans(path: str) -> list[str]:
    """Files that the database does not need, after a clean close."""
    store = Store(LocalEnv(), path, StoreOptions(threads=2, maintenance=False))
    named = {
        f"{tablet.id}/{number}.{kind}"
        for tablet in store.tablets.values()
        for rowset in tablet.components.tree.rowsets
        for kind, number in rowset.meta.files
    }
    store.close()
    tablets = Path(path, "tablets")
    lying = {f"{file.parent.name}/{file.name}" for file in tablets.glob("*/*")}
    return sorted(lying - named) + os.listdir(Path(path, "tmp"))


def killed(pid: int, seconds: float) -> None:
    """Kill a child after a time; it may have ended."""
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def main(folder: str, rounds: int, seed: int) -> dict[str, int]:
    """Run the rounds; raises AssertionError on the first thing that is not as acknowledged."""
    path = os.path.join(folder, "db")
    pa.array([1])  # loads what pyarrow loads late, once for all children
    pid, _ = in_child(lambda tell: create(path))
    os.waitpid(pid, 0)
    rng = random.Random(seed)
    state = {"bulk": 0, "value": 0, "table": 0}
    past: list[tuple[int, int]] = []
    counts = {"rounds": 0, "bulk": 0, "value": 0, "table": 0, "recoveries_killed": 0}
    for number in range(rounds):
        pid, reader = in_child(lambda tell: write_until_killed(path, dict(state), tell))
        killed(pid, rng.uniform(0.1, 4 * POLL_SECONDS))
        tried, before = dict(state), state["table"]
        for message in drain(reader):
            assert "failed" not in message, f"round {number}: {message}"
            for name in state:
                if f"try {name}" in message:
                    tried[name] = message[f"try {name}"]
                elif name in message:
                    state[name] = message[name]
                    counts[name] += 1
            if "at" in message:
                past.append((message["at"] + 1, message["value"]))
        for _ in range(rng.choice([0, 0, 1, 3, 10])):
            pid, reader = in_child(lambda tell: open_store(path).close())
            killed(pid, rng.uniform(0, 0.06))
            os.close(reader)
            counts["recoveries_killed"] += 1
        checked = rng.sample(past, min(5, len(past)))
        pid, reader = in_child(lambda tell, c=checked: report(path, [b for b, _ in c], tell))
        assert os.waitpid(pid, 0)[1] == 0, f"round {number}: the database does not open"
        found, about = drain(reader)
        done = state["table"] if state["table"] > before else 0
        check(number, state, tried, done, found, [value for _, value in checked])
        assert not about["orphans"], f"round {number}: {about['orphans']}"
        counts["rounds"] += 1
    return counts


def check(
    number: int,
    state: dict[str, int],
    tried: dict[str, int],
    acknowledged: int,
    found: dict[str, Any],
    past: list[int],
) -> None:
    """Hold what a round left against what was acknowledged, and move `state` on to it.

    Args:
        number: of the round.
        state: the newest of each kind that is acknowledged.
        tried: the newest of each kind that was begun.
        acknowledged: the newest table made in this round, all before it dropped; 0 for none.
        found: what the database holds.
        past: values at the earlier moments found.
    """
    now = dict(map(tuple, found["now"]))
    marker = now.pop(MARKER, 0)
    assert found["distinct"], f"round {number}: a key is alive twice"
    assert found["bulk"] == [BULK] * marker, f"round {number}: {found['bulk']} for {marker}"
    assert found["numbers"] == [marker] * (marker > 0), f"round {number}: {found['numbers']}"
    assert state["bulk"] <= marker <= tried["bulk"], f"round {number}: bulk {marker}"
    values = set(now.values()) or {0}
    assert len(values) == 1, f"round {number}: half a statement {now}"
    (value,) = values
    assert state["value"] <= value <= tried["value"], f"round {number}: value {value}"
    for expected, rows in zip(past, found["past"], strict=True):
        earlier = dict(map(tuple, rows))
        earlier.pop(MARKER, None)
        assert set(earlier.values()) == {expected}, f"round {number}: the past changed {earlier}"
    made = {int(name.removeprefix("made")): rows for name, rows in found["made"].items()}
    assert max(made, default=0) <= tried["table"], f"round {number}: {made}"
    assert made.get(acknowledged, 1) == 1, f"round {number}: {made}"
    assert min(made, default=acknowledged) >= acknowledged, f"round {number}: {made}"
    state.update(bulk=marker, value=value, table=tried["table"])


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
