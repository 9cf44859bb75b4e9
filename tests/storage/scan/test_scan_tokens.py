"""Scans split into tokens, carried out by other processes from files alone."""

import gc
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.alter import AddColumn
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.predicate.column_predicate import (
    And,
    Comparison,
    InList,
    IsNotNull,
    IsNull,
    Op,
    Or,
    Predicate,
    StartsWith,
)
from pykudu_sql.storage.common.predicate.predicate_json import (
    predicate_from_json,
    predicate_to_json,
)
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import CorruptionError, DataError, FormatVersionError
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.remote.scan_planner import plan_tokens
from pykudu_sql.storage.scan import scan_token
from pykudu_sql.storage.scan.opened_rowsets import OpenedRowSets
from pykudu_sql.storage.scan.scan_token import MemoryShare, RowSetShare, ScanToken, read_token
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_redo

READER = """
import json, sys
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.scan.opened_rowsets import OpenedRowSets
from pykudu_sql.storage.scan.scan_token import ScanToken, read_token
for line in sys.stdin:
    token = ScanToken.from_json(line)
    for batch in read_token(LocalEnv(), sys.argv[1], token, OpenedRowSets()):
        for row in batch.to_pylist():
            print(json.dumps(row))
"""

COLUMNS = [
    ColumnSchema(0, "id", DataType(Kind.INT64)),
    ColumnSchema(0, "n", DataType(Kind.INT32), nullable=True),
    ColumnSchema(0, "s", DataType(Kind.STRING), nullable=True),
]


def write(store: Store, kind: RowOpKind, columns: dict[int, pa.Array]) -> None:
    transaction = store.begin()
    length = len(columns[0])
    transaction.write(store.catalog.table("t"), RowOperations(kind, columns, length))
    transaction.commit(durable=False)


def ids(values: list[int]) -> pa.Array:
    return pa.array(values, pa.int64())


def numbers(values: Sequence[int | None]) -> pa.Array:
    return pa.array(values, pa.int32())


def mixed_store(path: Path) -> Store:
    """A table with rows and changes on disk and in memory."""
    store = Store(LocalEnv(), str(path), StoreOptions(threads=1, maintenance=False))
    store.create_table(
        "t", create_schema(COLUMNS, ["id"]), PartitionSchema((HashDimension((0,), 2),))
    )
    rng = random.Random(5)
    keys = list(range(4000))
    words = pa.array([rng.choice("abcdef") * 3 for _ in keys])
    write(store, RowOpKind.INSERT, {0: ids(keys), 1: numbers(keys), 2: words})
    store.flush()
    write(store, RowOpKind.UPDATE, {0: ids(keys[::5]), 1: numbers([-k for k in keys[::5]])})
    store.flush()
    write(store, RowOpKind.DELETE, {0: ids(keys[100:200])})
    write(
        store, RowOpKind.UPDATE, {0: ids(keys[::7][30:]), 1: numbers([None] * len(keys[::7][30:]))}
    )
    fresh = list(range(9000, 9050))
    write(store, RowOpKind.INSERT, {0: ids(fresh), 1: numbers(fresh), 2: pa.array(["new"] * 50)})
    return store


def table_of(store: Store) -> TableInfo:
    return store.catalog.table("t")


def rows_of(table: pa.Table | list[pa.RecordBatch]) -> list[dict[str, object]]:
    batches = table if isinstance(table, list) else [table]
    return sorted((row for b in batches for row in b.to_pylist()), key=lambda row: row["id"])


def scanned(store: Store, spec: ScanSpec, bound: int | None = None) -> list[dict[str, object]]:
    return rows_of(store.begin().table_scan(table_of(store), spec, bound))


def read_all(path: Path, tokens: tuple[ScanToken, ...]) -> list[dict[str, object]]:
    again = [ScanToken.from_json(token.to_json()) for token in tokens]
    assert tuple(again) == tokens
    return rows_of(
        [b for token in again for b in read_token(LocalEnv(), str(path), token, OpenedRowSets())]
    )


def test_wide_rows_come_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, most = tmp_path / "db", 200_000
    monkeypatch.setattr(scan_token, "_STRETCH_BYTES", most)
    store = Store(LocalEnv(), str(path), StoreOptions(threads=1, maintenance=False))
    store.create_table("t", create_schema(COLUMNS, ["id"]), PartitionSchema())
    keys, rng = list(range(500)), random.Random(3)
    words = pa.array([rng.randbytes(1000).hex() for _ in keys])
    write(store, RowOpKind.INSERT, {0: ids(keys), 1: numbers(keys), 2: words})
    store.flush()
    later = Comparison(1, Op.GE, 100)
    for predicate, rows in ((None, 500), (later, 400)):
        with plan_tokens(store, table_of(store), ScanSpec((0, 1, 2), predicate)) as plan:
            (token,) = plan.tokens
            batches = list(read_token(LocalEnv(), str(path), token, OpenedRowSets()))
        assert sum(batch.num_rows for batch in batches) == rows
        assert max(batch.nbytes for batch in batches) <= most
    store.close()


def test_the_rows_of_all_tokens_are_those_of_the_scan_in_another_process(tmp_path: Path) -> None:
    path = tmp_path / "db"
    store = mixed_store(path)
    spec = ScanSpec((0, 1, 2))
    expected = scanned(store, spec)
    with plan_tokens(store, table_of(store), spec, split_bytes=2000) as plan:
        shares = [token.share for token in plan.tokens]
        assert any(isinstance(share, MemoryShare) for share in shares)
        assert any(isinstance(share, RowSetShare) and share.pending for share in shares)
        done = subprocess.run(
            [sys.executable, "-c", READER, str(path)],
            input="\n".join(token.to_json() for token in plan.tokens),
            capture_output=True,
            text=True,
            check=True,
        )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(found, key=lambda row: row["id"]) == expected
    store.close()


def test_tokens_of_an_older_snapshot_read_that_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "db"
    store = mixed_store(path)
    spec = ScanSpec((1, 0))
    before = store.begin().bound
    then = scanned(store, spec)
    write(store, RowOpKind.UPDATE, {0: ids([1, 2, 3]), 1: numbers([7, 7, 7])})
    for flush in (False, True):
        if flush:
            store.flush()
        with plan_tokens(store, table_of(store), spec, before, split_bytes=5000) as plan:
            assert read_all(path, plan.tokens) == then
    store.close()


def test_a_token_is_of_the_rows_that_can_match(tmp_path: Path) -> None:
    store = Store(LocalEnv(), str(tmp_path / "db"), StoreOptions(threads=1, maintenance=False))
    columns = [COLUMNS[0], replace(COLUMNS[1], block_size=4096)]
    store.create_table("t", create_schema(columns, ["id"]), PartitionSchema())
    keys = list(range(20_000))
    write(store, RowOpKind.INSERT, {0: ids(keys), 1: numbers(keys)})
    store.flush()
    table = table_of(store)
    spec = ScanSpec((0, 1), Comparison(1, Op.EQ, 9_999))
    with (
        plan_tokens(store, table, ScanSpec((0, 1))) as everything,
        plan_tokens(store, table, spec) as plan,
    ):
        (whole,), (part,) = everything.tokens, plan.tokens
        assert isinstance(whole.share, RowSetShare)
        assert isinstance(part.share, RowSetShare)
        assert (whole.share.start, whole.share.stop) == (0, 20_000)
        assert 0 < part.share.start <= 9_999 < part.share.stop < 20_000
        assert 10 * part.share.size < whole.share.size
        assert read_all(tmp_path / "db", plan.tokens) == [{"id": 9_999, "n": 9_999}]
    store.close()


def test_a_token_is_of_the_keys_that_are_asked_for(tmp_path: Path) -> None:
    store = Store(LocalEnv(), str(tmp_path / "db"), StoreOptions(threads=1, maintenance=False))
    store.create_table("t", create_schema(COLUMNS, ["id"]), PartitionSchema())
    keys = list(range(20_000))
    write(store, RowOpKind.INSERT, {0: ids(keys), 1: numbers(keys)})
    store.flush()
    table = table_of(store)
    few = And((Comparison(0, Op.GE, 9_000), Comparison(0, Op.LT, 9_010)))
    with plan_tokens(store, table, ScanSpec((0, 1), few)) as plan:
        (token,) = plan.tokens
        assert isinstance(token.share, RowSetShare)
        assert token.share.stop - token.share.start < 2_000
        assert [row["id"] for row in read_all(tmp_path / "db", plan.tokens)] == keys[9_000:9_010]
    beyond = Comparison(0, Op.GT, 30_000)
    with plan_tokens(store, table, ScanSpec((0, 1), beyond)) as plan:
        assert plan.tokens == ()
    store.close()


def with_null(store: Store, bound: int | None = None) -> set[str]:
    """Names of the columns that a plan says may be NULL; the rows must agree with it."""
    table = table_of(store)
    spec = ScanSpec(tuple(column.id for column in table.schema.columns))
    with plan_tokens(store, table, spec, bound) as plan:
        found = {table.schema.by_id[i].name for i in plan.with_null}
        for row in scanned(store, spec, bound):
            assert {name for name, cell in row.items() if cell is None} <= found
    return found


def test_a_plan_knows_which_columns_have_no_null(tmp_path: Path) -> None:
    store = Store(LocalEnv(), str(tmp_path / "db"), StoreOptions(threads=1, maintenance=False))
    store.create_table("t", create_schema(COLUMNS, ["id"]), PartitionSchema())
    some, words = ids([1, 2, 3]), pa.array(["a", None, "c"])
    assert with_null(store) == set()
    write(store, RowOpKind.INSERT, {0: some, 1: numbers([1, 2, 3]), 2: words})
    assert with_null(store) == {"s"}
    store.flush()
    assert with_null(store) == {"s"}
    full = store.begin().bound
    write(store, RowOpKind.UPDATE, {0: ids([2]), 1: numbers([None])})
    assert with_null(store) == {"n", "s"}
    store.flush()
    assert with_null(store) == {"n", "s"}
    assert with_null(store, full) == {"n", "s"}
    write(store, RowOpKind.UPDATE, {0: ids([2]), 1: numbers([5]), 2: pa.array(["b"])})
    store.optimize("t", full=True)
    assert with_null(store) == {"n", "s"}  # the way back has NULLs still
    assert with_null(store, full) == {"n", "s"}
    store.close()


def test_a_column_added_without_default_has_null_in_older_rows(tmp_path: Path) -> None:
    store = Store(LocalEnv(), str(tmp_path / "db"), StoreOptions(threads=1, maintenance=False))
    store.create_table("t", create_schema(COLUMNS, ["id"]), PartitionSchema())
    write(store, RowOpKind.INSERT, {0: ids([1]), 1: numbers([1]), 2: pa.array(["a"])})
    store.flush()
    added = [
        ColumnSchema(0, "later", DataType(Kind.INT32), nullable=True),
        ColumnSchema(0, "filled", DataType(Kind.INT32), nullable=True, write_default=7),
    ]
    store.alter_table("t", [AddColumn(column) for column in added])
    assert with_null(store) == {"later"}
    store.close()


def test_a_token_is_of_exactly_the_rows_that_match_where_it_can_tell(tmp_path: Path) -> None:
    path = tmp_path / "db"
    store = mixed_store(path)
    for predicate in (
        Comparison(0, Op.LT, 300),
        And((Comparison(1, Op.EQ, -15), IsNotNull(2))),
        IsNull(1),
        Comparison(0, Op.EQ, 77),
        Comparison(0, Op.LT, 3900),
    ):
        rows = scanned(store, ScanSpec((0, 1, 2)))
        matching = {row["id"] for row in rows if matches(predicate, row)}
        for columns in ((0, 1, 2), (0,)):
            spec = ScanSpec(columns, predicate)
            with plan_tokens(store, table_of(store), spec, split_bytes=3000) as plan:
                found = {row["id"] for row in read_all(path, plan.tokens)}
                decides = all(token.is_decisive for token in plan.tokens)
            assert found >= matching
            assert decides == (columns != (0,) or isinstance(predicate, Comparison))
            assert found == matching or not decides
    store.close()


def test_changes_in_memory_take_few_bytes_of_a_token(tmp_path: Path) -> None:
    store = mixed_store(tmp_path / "db")
    keys = list(range(1000, 4000))
    write(store, RowOpKind.UPDATE, {0: ids(keys), 1: numbers([7] * len(keys))})
    with plan_tokens(store, table_of(store), ScanSpec((0, 1))) as plan:
        sizes = [len(token.to_json()) for token in plan.tokens]
    assert sum(sizes) < 8 * len(keys)
    store.close()


def matches(predicate: Predicate, row: dict[str, object]) -> bool:
    cells = {0: row["id"], 1: row["n"], 2: row["s"]}
    match predicate:
        case And(parts):
            return all(matches(part, row) for part in parts)
        case Comparison(column, Op.LT, value):
            return bool(cells[column] < value)  # type: ignore[operator]
        case Comparison(column, _, value):
            return bool(cells[column] == value)
        case IsNull(column):
            return cells[column] is None
        case IsNotNull(column):
            return cells[column] is not None
    raise AssertionError(predicate)


def test_shares_of_a_rowset_are_cut_by_bytes(tmp_path: Path) -> None:
    store = mixed_store(tmp_path / "db")
    rows = 70_000
    words = pa.array([f"{i * 7919 % 100003:032d}" for i in range(rows)])
    start = 100_000
    keys = list(range(start, start + rows))
    write(store, RowOpKind.INSERT, {0: ids(keys), 1: numbers(keys), 2: words})
    spec = ScanSpec((0, 2))
    with (
        plan_tokens(store, table_of(store), spec, split_bytes=1 << 30) as whole,
        plan_tokens(store, table_of(store), spec, split_bytes=200_000) as parts,
    ):
        assert len(parts.tokens) > len(whole.tokens)
        assert read_all(tmp_path / "db", parts.tokens) == scanned(store, spec)
    store.close()


def test_a_reading_process_plans_tokens_too(tmp_path: Path) -> None:
    path = tmp_path / "db"
    writer = mixed_store(path)
    reader = ReaderStore(LocalEnv(), str(path), StoreOptions(threads=1))
    spec = ScanSpec((0, 1, 2))
    with plan_tokens(reader, table_of(reader), spec) as plan:
        assert read_all(path, plan.tokens) == scanned(writer, spec)
    reader.close()
    writer.close()


def test_files_of_a_plan_stay_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "db"
    store = mixed_store(path)
    spec = ScanSpec((0, 1, 2))
    expected = scanned(store, spec)
    plan = plan_tokens(store, table_of(store), spec)
    store.flush()
    for info in table_of(store).tablets:
        tablet = store.tablets[info.id]
        with tablet.maintenance_lock:
            for rowset in tablet.components.tree.rowsets:
                compact_redo(tablet, rowset, store.committer.tablet_services)
    del rowset
    gc.collect()
    assert store.collect_files() == 0
    assert read_all(path, plan.tokens) == expected == scanned(store, spec)
    plan.release()
    store.close()
    # What nothing names is removed at the next opening, unless a plan still has a lease on it.
    Store(LocalEnv(), str(path), StoreOptions(threads=1, maintenance=False)).close()
    with pytest.raises(CorruptionError, match="missing"):
        read_all(path, plan.tokens)


@pytest.mark.parametrize(
    "predicate",
    [
        Comparison(3, Op.GE, "ä"),
        Comparison(3, Op.EQ, b"\x00\xff"),
        Comparison(1, Op.LT, float("nan")),
        InList(2, (1, 2, 1 << 60)),
        Or((IsNull(1), And(()), StartsWith(2, "x"), StartsWith(2, b"\x80"))),
    ],
)
def test_predicates_survive_json(predicate: Predicate) -> None:
    text = json.dumps(predicate_to_json(predicate))
    assert repr(predicate_from_json(json.loads(text))) == repr(predicate)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"version": 1}',
        '{"version": "x"}',
        '{"version": 1, "database": "00", "tablet": "../..", "bound": 1}',
        "[" * 100_000,
    ],
)
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(DataError, match="no scan token"):
        ScanToken.from_json(text)


def test_a_token_of_a_newer_version_is_refused() -> None:
    with pytest.raises(FormatVersionError, match="version 2"):
        ScanToken.from_json('{"version": 2}')


def test_a_token_with_its_parts_exchanged_is_refused_or_reads_rows(tmp_path: Path) -> None:
    path = tmp_path / "db"
    store = mixed_store(path)
    with plan_tokens(store, table_of(store), ScanSpec((0, 1, 2))) as plan:
        for token in plan.tokens:
            value = json.loads(token.to_json())
            for name in ("database", "tablet", "bound", "columns", "predicate", "share"):
                for other in (None, -1, "x", [], {}, [1], {"rows": "AAAA"}):
                    text = json.dumps({**value, name: other})
                    with suppress(DataError, CorruptionError):
                        list(
                            read_token(
                                LocalEnv(), str(path), ScanToken.from_json(text), OpenedRowSets()
                            )
                        )
    store.close()
