"""A disk that refuses in the midst of a compaction leaves the tablet whole.

The operations run over an environment that fails its k-th call, for every k, once and from then
on. Afterwards the open store and one opened anew read every snapshot as before, and no file is
there that the manifest does not name.
"""

import errno
from contextlib import suppress
from dataclasses import dataclass, field, replace

import pytest

from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import Error
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.maintenance.compaction import compact_rowsets
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_major, compact_redo
from pykudu_sql.storage.tablet.maintenance.history_gc import collect_deleted_rowsets, collect_undo
from pykudu_sql.storage.tablet.tablet import Tablet
from tests.storage.fault_env import Fail, FaultAction, FaultEnv, FaultPoint
from tests.storage.model import Key, Row, apply, operations, read

INT = DataType(Kind.INT32)
ROOT = "/db"


@dataclass
class Faults:
    """Fails calls once it is told to begin."""

    failing: int
    once: bool
    begun: bool = False
    seen: int = 0
    fired: list[FaultPoint] = field(default_factory=list)

    def __call__(self, point: FaultPoint) -> FaultAction:
        if not self.begun:
            return None
        self.seen += 1
        if self.seen <= self.failing or (self.seen > self.failing + 1 and self.once):
            return None
        self.fired.append(point)
        return Fail(errno.EIO)


def open_store(env: Env) -> Store:
    return Store(env, ROOT, StoreOptions(threads=1, maintenance=False))


def tablet_of(store: Store) -> Tablet:
    return store.tablets[store.catalog.table("t").tablets[0].id]


def prepare(store: Store) -> list[tuple[int, dict[Key, Row]]]:
    """Two rowsets: one with REDO files over two columns, one whose rows are all deleted."""
    columns = [ColumnSchema(0, name, INT) for name in ("id", "a", "b")]
    store.create_table("t", create_schema(columns, ["id"]), PartitionSchema())
    table = store.catalog.table("t")
    rows: dict[Key, Row] = {}
    past = []

    def write(kind: RowOpKind, batch: list[Row]) -> None:
        nonlocal rows
        rows = apply(rows, table, kind, batch)
        txn = store.begin()
        txn.write(table, operations(table, kind, batch))
        timestamp = txn.commit(durable=True)
        assert timestamp is not None
        past.append((timestamp + 1, rows))

    write(RowOpKind.INSERT, [{0: key, 1: key, 2: key} for key in range(4)])
    write(RowOpKind.UPDATE, [{0: 0, 1: 9}])
    store.flush()
    write(RowOpKind.INSERT, [{0: key, 1: key, 2: key} for key in (10, 11)])
    store.flush()
    write(RowOpKind.UPDATE, [{0: 1, 1: 5}, {0: 2, 1: 6}])
    store.flush()
    write(RowOpKind.DELETE, [{0: 10}, {0: 11}])
    write(RowOpKind.UPDATE, [{0: 1, 2: 7}])
    store.flush()
    write(RowOpKind.UPDATE, [{0: 3, 1: 1}])
    return past


def operate(store: Store) -> None:
    """Every operation, the last two with nobody interested in the past."""
    tablet, services = tablet_of(store), store.committer.tablet_services
    first = tablet.components.tree.rowsets[0]
    compact_redo(tablet, first, services)
    compact_major(tablet, first, [1, 2], services)
    compact_rowsets(tablet, tablet.components.tree.rowsets, services, target_bytes=3000)
    marked = replace(services, history_mark=lambda _: tablet.newest + 1)
    collect_undo(tablet, marked)
    collect_deleted_rowsets(tablet, marked)
    store.collect_files()


def check(store: Store, past: list[tuple[int, dict[Key, Row]]], what: str) -> None:
    table = store.catalog.table("t")
    rowsets = tablet_of(store).components.tree.rowsets
    collected = len(rowsets) < 2 or not rowsets[0].meta.undo
    for bound, rows in past[-1:] if collected else past:
        assert read(store.begin(), table, bound) == rows, what


def named_and_found(store: Store, disk: MemoryEnv) -> tuple[set[str], set[str]]:
    files = tablet_of(store).files
    metas = [rowset.meta for rowset in tablet_of(store).components.tree.rowsets]
    named = {files.path(*file) for meta in metas for file in meta.files}
    folder = layout.tablet_directory(ROOT, files.tablet_id)
    return named, {f"{folder}/{name}" for name in disk.list_dir(folder)}


@pytest.mark.parametrize("once", [True, False], ids=["once", "from then on"])
def test_a_failing_call_changes_nothing_that_a_snapshot_sees(once: bool) -> None:
    fired: set[str] = set()
    failing = 0
    while True:
        disk, faults = MemoryEnv(), Faults(failing, once)
        store = open_store(FaultEnv(disk, faults))
        past = prepare(store)
        faults.begun = True
        with suppress(Error):
            operate(store)
        faults.begun = False
        what = f"call {failing}: {faults.fired[:1]}"
        check(store, past, what)
        with suppress(Error):
            store.close()
        store = open_store(disk)
        check(store, past, what)
        named, found = named_and_found(store, disk)
        assert named == found, what
        store.close()
        fired |= {point.point for point in faults.fired}
        failing += 1
        if not faults.fired:
            break
    for prefix in (
        "minor",
        "major",
        "compaction",
        "overlay.write",
        "redo.write",
        "undo.write",
        "tablet.unlink",
    ):
        assert any(name.startswith(prefix) for name in fired), prefix
