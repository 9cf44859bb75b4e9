"""Eight writers beside compactions, ALTERs and readers: money moves, and none is made or lost.

Each transaction moves an amount from one account to another; now and then it closes the account
that pays and opens another with the rest, so rows die and keys come back. The sum over all accounts
is the same at every moment, to every reader, whatever is flushed, merged or altered meanwhile.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow.compute as pc

from pykudu_sql.storage.catalog.alter import AddColumn, DropColumn
from pykudu_sql.storage.check.database_check import DatabaseCheck
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import SerializationError
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_major, compact_redo
from tests.storage.model import operations

ACCOUNTS, KEYS, WRITERS, EACH = 40, 80, 8, 100
SECONDS = 6.0
TOTAL = ACCOUNTS * EACH


def move(store: Store, rng: random.Random) -> int | None:
    """Move money in one transaction; its time, or None when it lost to another one."""
    table = store.catalog.table("t")
    txn = store.begin()
    payer, payee, fresh = rng.sample(range(KEYS), 3)
    found = [txn.lookup(table, (key,), [1]) for key in (payer, payee, fresh)]
    if found[0] is None or found[1] is None:
        txn.rollback()
        return None
    (rich,), (poor,) = found[0], found[1]
    assert isinstance(rich, int) and isinstance(poor, int)
    amount = rng.randint(0, 30)
    if found[2] is None and rng.random() < 0.3:
        txn.write_row(table, RowOpKind.DELETE, {0: payer})
        txn.write_row(table, RowOpKind.INSERT, {0: fresh, 1: rich - amount})
        txn.write_row(table, RowOpKind.UPDATE, {0: payee, 1: poor + amount})
    else:
        rows = [{0: payer, 1: rich - amount}, {0: payee, 1: poor + amount}]
        txn.write(table, operations(table, RowOpKind.UPDATE, rows))
    try:
        return txn.commit(durable=False)
    except SerializationError:
        return None


def state_at(store: Store, bound: int | None) -> tuple[int, int]:
    """How many accounts there are, and what they hold together."""
    txn = store.begin()
    found = txn.table_scan(store.catalog.table("t"), ScanSpec((0, 1)), bound)
    return len(found), pc.sum(found.column("n")).as_py()


def compact(store: Store, rng: random.Random) -> None:
    """One operation of any kind."""
    choice = rng.randrange(5)
    if choice < 2:
        store.optimize("t", full=choice == 1)
    elif choice == 2:
        store.flush()
    else:
        for info in store.catalog.table("t").tablets:
            tablet = store.tablets[info.id]
            with tablet.maintenance_lock:
                for rowset in tablet.components.tree.rowsets:
                    if choice == 3:
                        compact_redo(tablet, rowset, store.committer.tablet_services)
                    else:
                        compact_major(tablet, rowset, [1], store.committer.tablet_services)


def alter(store: Store, rng: random.Random) -> None:
    """Add a column, and drop it again."""
    column = ColumnSchema(0, f"x{rng.randrange(9)}", DataType(Kind.STRING), True)
    store.alter_table("t", [AddColumn(column)])
    time.sleep(0.05)
    store.alter_table("t", [DropColumn(column.name)])


@contextmanager
def opened(path: Path) -> Iterator[Store]:
    options = StoreOptions(threads=2, durability="off", flush_bytes=4000, rowset_bytes=20_000)
    with closing(Store(LocalEnv(), str(path), options)) as store:
        yield store


def run_for_a_while(works: list[Callable[[random.Random], None]]) -> None:
    """Do each work over and over on a thread of its own; the first failure is raised."""
    failures: list[BaseException] = []
    deadline = time.monotonic() + SECONDS

    def repeat(work: Callable[[random.Random], None], seed: int) -> None:
        rng = random.Random(seed)
        try:
            while time.monotonic() < deadline and not failures:
                work(rng)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=repeat, args=(w, i)) for i, w in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_money_is_neither_made_nor_lost_while_everything_goes_on_at_once(tmp_path: Path) -> None:
    moments: list[int] = []

    with opened(tmp_path / "db") as store:
        columns = [ColumnSchema(0, name, DataType(Kind.INT64)) for name in ("id", "n")]
        partitions = PartitionSchema((HashDimension((0,), 3),))
        table = store.create_table("t", create_schema(columns, ["id"]), partitions)
        txn = store.begin()
        rows = [{0: key, 1: EACH} for key in range(ACCOUNTS)]
        txn.write(table, operations(table, RowOpKind.INSERT, rows))
        txn.commit(durable=False)

        def write(rng: random.Random) -> None:
            moment = move(store, rng)
            if moment is not None:
                moments.append(moment)

        def look(rng: random.Random) -> None:
            bound = rng.choice(moments) + 1 if moments and rng.random() < 0.7 else None
            if bound is not None:
                store.wait_until_readable(bound)
            assert state_at(store, bound) == (ACCOUNTS, TOTAL), bound

        works = [write] * WRITERS + [look, look]
        run_for_a_while([*works, lambda rng: compact(store, rng), lambda rng: alter(store, rng)])
        assert moments
        sample = random.Random(1).sample(moments, min(len(moments), 100))
        assert {state_at(store, moment + 1) for moment in sample} == {(ACCOUNTS, TOTAL)}
    assert list(DatabaseCheck(LocalEnv(), str(tmp_path / "db"), quick=False).run()) == []
    with opened(tmp_path / "db") as store:
        assert {state_at(store, moment + 1) for moment in sample} == {(ACCOUNTS, TOTAL)}
