"""Changes and versions against a model of all commits, over flushes and compactions."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.catalog.alter import AddColumn, AddRange, DropColumn, DropRange
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    PartitionSchema,
    RangePartition,
)
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import DataError, HistoryPurgedError, SnapshotInFutureError
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.remote.history_scan import (
    ChangeShare,
    plan_changes,
    read_share,
    scan_changes,
    scan_versions,
)
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.history.row_slice import RowSlice
from pykudu_sql.storage.tablet.maintenance import compaction_input
from pykudu_sql.storage.tablet.maintenance.compaction_input import CompactionInput
from pykudu_sql.storage.tablet.read import version_scan

INT = DataType(Kind.INT32)
TEXT = DataType(Kind.STRING)
Row = tuple[Any, ...]
States = list[tuple[int, dict[int, Row]]]


@contextmanager
def opened(env: Any, path: str, opening: Any = Store, **options: Any) -> Iterator[Store]:
    store = opening(env, path, StoreOptions(maintenance=False, **options))
    try:
        yield store
    finally:
        store.close()


RANGES = (RangePartition(None, (3,)), RangePartition((3,), None))


def new_table(store: Store, tablets: int = 1) -> TableInfo:
    columns = [
        ColumnSchema(0, "k", INT),
        ColumnSchema(0, "v", INT, True),
        ColumnSchema(0, "w", TEXT, True),
    ]
    schema = create_schema(columns, ["k"])
    hashed = (HashDimension(schema.key_ids, tablets),) if tablets > 1 else ()
    return store.create_table("t", schema, PartitionSchema(hashed, (0,), RANGES))


def write(store: Store, *batches: tuple[RowOpKind, list[dict[str, Any]]]) -> int:
    """Write in one commit and return its time."""
    table = store.catalog.table("t")
    transaction = store.begin()
    for kind, rows in batches:
        columns = {
            table.schema.by_name[name].id: pa.array(
                [row[name] for row in rows], table.schema.by_name[name].type.arrow
            )
            for name in rows[0]
        }
        transaction.write(table, RowOperations(kind, columns, len(rows)))
    time = transaction.commit(False)
    assert time is not None
    return time


def ids(store: Store) -> tuple[int, ...]:
    return tuple(column.id for column in store.catalog.table("t").schema.columns)


def changes(store: Store, low: int, high: int) -> list[Row]:
    table = store.catalog_at(high).table("t")
    wanted = tuple(column.id for column in table.schema.columns)
    batches = scan_changes(store, table, low, high, wanted)
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def versions(store: Store, low: int | None, high: int, until: int) -> list[Row]:
    table = store.catalog.table("t")
    batches = scan_versions(store, table, (low, high), until, ids(store))
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def model_changes(states: States, low: int, high: int) -> list[Row]:
    """What a list of all commits, each with the rows after it, says happened."""
    found: list[Row] = []
    before: dict[int, Row] = {}
    for time, (rows, touched) in ((t, r) for t, r in states):
        for key in touched if low <= time < high else ():
            old, new = before.get(key), rows.get(key)
            if old is None and new is not None:
                found.append((*new, "insert", time))
            elif old is not None and new is None:
                found.append((*old, "delete", time))
            elif old is not None and new is not None:
                found += [(*old, "update_preimage", time), (*new, "update_postimage", time)]
        before = rows
    return found


def model_versions(states: States, low: int, high: int, until: int) -> list[Row]:
    found: list[Row] = []
    living: dict[int, tuple[Row, int]] = {}
    for time, (rows, touched) in states:
        if time >= until:
            break
        for key in touched:
            if key in living:
                row, began = living.pop(key)
                if began < high and time >= low:
                    found.append((*row, began, time))
            if key in rows:
                living[key] = (rows[key], time)
    found += [(*row, began, None) for row, began in living.values() if began < high]
    return found


KEYS = st.integers(0, 5)
STEP = st.one_of(
    st.tuples(st.just("upsert"), st.dictionaries(KEYS, st.integers(0, 3), min_size=1)),
    st.tuples(st.just("update"), st.dictionaries(KEYS, st.integers(0, 3), min_size=1)),
    st.tuples(st.just("delete"), st.sets(KEYS, min_size=1)),
    st.tuples(st.just("replace"), st.dictionaries(KEYS, st.integers(0, 3), min_size=1)),
    st.tuples(st.just("renew"), st.sampled_from(RANGES)),
    st.tuples(st.sampled_from(["flush", "optimize", "rewrite", "reopen"]), st.none()),
)


def do(store: Store, rows: dict[int, Row], step: tuple[str, Any]) -> tuple[int, Any] | None:
    """Do one step of a script; the commit's time, the rows after it and the keys it touched."""
    name, what = step
    if name == "flush":
        store.flush()
    elif name in ("optimize", "rewrite"):
        store.optimize("t", full=name == "rewrite")
    if name == "upsert":
        cells = [{"k": k, "v": v, "w": f"w{v}"} for k, v in what.items()]
        time = write(store, (RowOpKind.UPSERT, cells))
        after = {**rows, **{k: (k, v, f"w{v}") for k, v in what.items()}}
        return time, (after, set(what))
    if name == "update":
        known = {k: v for k, v in what.items() if k in rows}
        if known:
            cells = [{"k": k, "v": v} for k, v in known.items()]
            time = write(store, (RowOpKind.UPDATE, cells))
            after = {**rows, **{k: (k, v, rows[k][2]) for k, v in known.items()}}
            return time, (after, set(known))
    if name == "renew":
        store.alter_table("t", [DropRange(what), AddRange(what)])
        gone = [k for k in rows if (k < 3) == (what is RANGES[0])]
        after = {k: row for k, row in rows.items() if k not in gone}
        return store.catalog.timestamp, (after, set(gone))
    if name == "delete" and (gone := [k for k in what if k in rows]):
        time = write(store, (RowOpKind.DELETE, [{"k": k} for k in gone]))
        return time, ({k: row for k, row in rows.items() if k not in gone}, set(gone))
    if name == "replace" and (known := {k: v for k, v in what.items() if k in rows}):
        cells = [{"k": k, "v": v, "w": None} for k, v in known.items()]
        deletes = (RowOpKind.DELETE, [{"k": k} for k in known])
        time = write(store, deletes, (RowOpKind.INSERT, cells))
        return time, ({**rows, **{k: (k, v, None) for k, v in known.items()}}, set(known))
    return None


def ordered(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=repr)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEP, max_size=14), st.data())
def test_changes_and_versions_are_those_of_a_model_with_full_history(
    script: list[tuple[str, Any]], data: st.DataObject
) -> None:
    env = MemoryEnv()
    store = Store(env, "/db", StoreOptions(maintenance=False))
    try:
        start = store.now()
        new_table(store, data.draw(st.sampled_from([1, 2])))
        states: States = []
        rows: dict[int, Row] = {}
        for step in script:
            if step[0] == "reopen":
                store.close()
                store = Store(env, "/db", StoreOptions(maintenance=False))
                continue
            done = do(store, rows, step)
            if done is not None:
                states.append(done)
                rows = done[1][0]
        bounds = [start + 1, *(time + 1 for time, _ in states), store.now()]
        low, high = sorted(data.draw(st.tuples(*[st.sampled_from(bounds)] * 2)))
        until = bounds[-1]
        with pytest.MonkeyPatch.context() as patch:
            # Rows that lie apart are taken one by one; as few as here only if any number is few.
            patch.setattr(compaction_input, "_APART", data.draw(st.sampled_from([0, 8])))
            if high > start + 1:
                expected = model_changes(states, low, high)
                assert ordered(changes(store, low, high)) == ordered(expected)
        found = versions(store, low, high, until)
        assert ordered(found) == ordered(model_versions(states, low, high, until))
        middle = data.draw(st.sampled_from([bound for bound in bounds if low <= bound <= high]))
        if middle > start + 1:
            parts = changes(store, low, middle) + changes(store, middle, high)
            assert ordered(parts) == ordered(changes(store, low, high))
    finally:
        store.close()


def test_a_bulk_insert_and_single_changes_of_it_are_told_in_batches(tmp_path: Path) -> None:
    count = 70_000
    with opened(LocalEnv(), str(tmp_path / "db")) as store:
        new_table(store)
        cells = [{"k": k, "v": k % 7, "w": "x"} for k in range(count)]
        inserted = write(store, (RowOpKind.INSERT, cells))
        updated = write(store, (RowOpKind.UPDATE, [{"k": 5, "v": 9}, {"k": 60_000, "v": 9}]))
        table = store.catalog.table("t")
        batches = list(scan_changes(store, table, inserted, inserted + 1, ids(store)))
        assert sum(batch.num_rows for batch in batches) == count
        assert len(batches) > 1
        assert changes(store, inserted + 1, updated + 1) == [
            (5, 5, "x", "update_preimage", updated),
            (5, 9, "x", "update_postimage", updated),
            (60_000, 3, "x", "update_preimage", updated),
            (60_000, 9, "x", "update_postimage", updated),
        ]


def test_what_changes_cost_is_what_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[int] = []
    load = CompactionInput.load

    def counted(rows: CompactionInput) -> None:
        loaded.append(rows.rows)
        load(rows)

    monkeypatch.setattr(CompactionInput, "load", counted)
    with opened(LocalEnv(), str(tmp_path / "db")) as store:
        new_table(store)
        for first in (10, 100_000, 200_000):
            keys = range(first, first + 20_000)
            write(store, (RowOpKind.INSERT, [{"k": k, "v": 0, "w": "x"} for k in keys]))
            store.flush()
        changed = [100_007, 110_000, 119_999]
        first = write(store, (RowOpKind.UPDATE, [{"k": k, "v": 1} for k in changed]))
        write(store, (RowOpKind.DELETE, [{"k": k} for k in changed[1:]]))
        last = write(store, (RowOpKind.UPDATE, [{"k": changed[0], "w": "y"}]))
        for _ in range(2):
            loaded.clear()
            found = changes(store, first, last + 1)
            assert loaded == [20_000]
            kinds = {k: [row[3] for row in found if row[0] == k] for k in changed}
            update, delete = ["update_preimage", "update_postimage"], ["delete"]
            assert list(kinds.values()) == [update * 2, update + delete, update + delete]
            assert [row[:3] for row in found[:4]] == [
                (changed[0], 0, "x"),
                (changed[0], 1, "x"),
                (changed[0], 1, "x"),
                (changed[0], 1, "y"),
            ]
            store.flush()


def test_rows_changed_here_and_there_are_read_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    read_rows = CompactionInput.read_rows

    def counted(rows: CompactionInput, ordinals: Ordinals) -> RowSlice:
        read.append(len(ordinals))
        return read_rows(rows, ordinals)

    monkeypatch.setattr(CompactionInput, "read_rows", counted)
    monkeypatch.setattr(version_scan, "_SLICE_ROWS", 3000)
    with opened(LocalEnv(), str(tmp_path / "db")) as store:
        new_table(store)
        cells = [{"k": k, "v": 0, "w": "x"} for k in range(3, 40_003)]
        write(store, (RowOpKind.INSERT, cells))
        store.flush()
        few = write(store, (RowOpKind.UPDATE, [{"k": k, "v": 1} for k in range(3, 40_003, 4000)]))
        assert len(changes(store, few, few + 1)) == 20
        assert read == [10]
        read.clear()
        many = write(store, (RowOpKind.UPDATE, [{"k": k, "v": 2} for k in range(3, 40_003, 8)]))
        assert len(changes(store, many, many + 1)) == 10_000
        assert sum(read) == 5000 and max(read) <= 3000


def test_shares_are_read_by_a_process_that_only_reads(tmp_path: Path) -> None:
    path = str(tmp_path / "db")
    with opened(LocalEnv(), path) as store:
        table = new_table(store, tablets=3)
        low = write(store, (RowOpKind.INSERT, [{"k": k, "v": k, "w": None} for k in range(9)]))
        store.flush()
        high = 1 + write(store, (RowOpKind.DELETE, [{"k": k} for k in range(4)]))
        texts = [share.to_json() for share in plan_changes(store, table, low, high, ids(store))]
        assert len(texts) == 6
        with opened(LocalEnv(), path, ReaderStore) as reader:
            found = [
                tuple(row.values())
                for text in texts
                for batch in read_share(reader, ChangeShare.from_json(text))
                for row in batch.to_pylist()
            ]
        assert ordered(found) == ordered(changes(store, low, high))
        assert len(found) == 13


def test_text_that_is_no_share_is_refused() -> None:
    with pytest.raises(DataError, match="no share"):
        ChangeShare.from_json('{"version": 1}')


def test_history_before_the_mark_and_in_the_future_is_refused(tmp_path: Path) -> None:
    with opened(LocalEnv(), str(tmp_path / "db")) as store:
        table = new_table(store)
        low = write(store, (RowOpKind.INSERT, [{"k": 1, "v": 1, "w": None}]))
        high = 1 + write(store, (RowOpKind.UPDATE, [{"k": 1, "v": 2}]))
        store.definitions.set_history_max_age(0)
        with pytest.raises(HistoryPurgedError, match="'t' cannot be read as of"):
            changes(store, low, high)
        with pytest.raises(SnapshotInFutureError):
            list(scan_changes(store, table, high, store.now() + (10**9 << 12), ids(store)))


def test_a_change_of_a_column_dropped_since_is_none(tmp_path: Path) -> None:
    with opened(LocalEnv(), str(tmp_path / "db")) as store:
        new_table(store)
        low = write(store, (RowOpKind.INSERT, [{"k": 1, "v": 1, "w": "a"}]))
        then = 1 + write(store, (RowOpKind.UPDATE, [{"k": 1, "w": "b"}]))
        assert [row[-2] for row in changes(store, low + 1, then)] == [
            "update_preimage",
            "update_postimage",
        ]
        store.alter_table("t", [DropColumn("w")])
        store.alter_table("t", [AddColumn(ColumnSchema(0, "n", INT, True, write_default=7))])
        assert changes(store, low, store.now()) == [(1, 1, 7, "insert", low)]
        assert [row[-2] for row in changes(store, low + 1, then)] == [
            "update_preimage",
            "update_postimage",
        ]


def test_the_history_of_a_dropped_range_has_the_columns_of_later(tmp_path: Path) -> None:
    with opened(LocalEnv(), str(tmp_path / "db")) as store:
        new_table(store)
        low = write(store, (RowOpKind.INSERT, [{"k": 1, "v": 1, "w": "a"}]))
        store.alter_table("t", [DropRange(RANGES[0])])
        dropped = store.catalog.timestamp
        added = AddColumn(ColumnSchema(0, "n", INT, True, read_default=7, write_default=7))
        store.alter_table("t", [DropColumn("w"), added])
        expected = [(1, 1, 7, "insert", low), (1, 1, 7, "delete", dropped)]
        assert changes(store, low, store.now()) == expected
        assert versions(store, None, store.now(), store.now()) == [(1, 1, 7, low, dropped)]
        store.flush()
        assert changes(store, low, store.now()) == expected


def test_the_drop_of_a_range_before_the_mark_is_refused_and_not_left_out(tmp_path: Path) -> None:
    with opened(LocalEnv(), str(tmp_path / "db")) as store:
        new_table(store)
        low = write(store, (RowOpKind.INSERT, [{"k": 1, "v": 1, "w": "a"}]))
        store.alter_table("t", [DropRange(RANGES[0])])
        store.definitions.set_history_max_age(0)
        assert store.vacuum().tablets == 1
        with pytest.raises(HistoryPurgedError, match="its history goes back to"):
            changes(store, low, store.now())


def test_what_happened_to_a_key_comes_in_order_of_time_over_the_drop_of_its_range(
    tmp_path: Path,
) -> None:
    with opened(LocalEnv(), str(tmp_path / "db")) as store:
        new_table(store)
        low = write(store, (RowOpKind.INSERT, [{"k": 1, "v": 1, "w": None}]))
        for value in (2, 3):
            store.alter_table("t", [DropRange(RANGES[0]), AddRange(RANGES[0])])
            write(store, (RowOpKind.INSERT, [{"k": 1, "v": value, "w": None}]))
        told = [(row[1], row[-2]) for row in changes(store, low, store.now())]
        assert told == [
            (1, "insert"), (1, "delete"), (2, "insert"), (2, "delete"), (3, "insert"),
        ]  # fmt: skip
