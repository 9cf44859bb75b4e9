"""A large write that is cancelled between any of its steps leaves no trace behind a savepoint."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import QueryCancelledError
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.transaction import batch_writer
from pykudu_sql.storage.transaction.transaction import Transaction
from tests.storage.addressing import addresses, write_rows
from tests.storage.model import operations
from tests.storage.small_bulks import bulk_inserts_from

OLD, NEW = range(60), range(30, 90)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    options = StoreOptions(durability="off", threads=2, maintenance=False)
    opened = Store(LocalEnv(), str(tmp_path / "db"), options)
    columns = [
        ColumnSchema(0, "id", DataType(Kind.INT32)),
        ColumnSchema(1, "n", DataType(Kind.INT32)),
    ]
    table = opened.create_table(
        "t", create_schema(columns, ["id"]), PartitionSchema((HashDimension((0,), 2),))
    )
    transaction = opened.begin()
    write(transaction, table, RowOpKind.UPSERT, OLD, 1)
    transaction.commit(durable=False)
    opened.flush()
    yield opened
    opened.close()


def write(transaction: Transaction, table: TableInfo, kind: RowOpKind, keys: range, n: int) -> None:
    transaction.write(table, operations(table, kind, [{0: key, 1: n} for key in keys]))


def update_all(transaction: Transaction, table: TableInfo) -> None:
    places = addresses(transaction, table)
    write_rows(transaction, table, places, {key: {1: 5} for key in places}, 10)


def rows(transaction: Transaction, table: TableInfo) -> dict[int, int]:
    columns = transaction.table_scan(table, ScanSpec((0, 1))).columns
    return dict(zip(*(column.to_pylist() for column in columns), strict=True))


WRITES: dict[str, tuple[int, Callable[[Transaction, TableInfo], None]]] = {
    "UPSERT": (10, lambda t, table: write(t, table, RowOpKind.UPSERT, NEW, 2)),
    "INSERT IGNORE": (10, lambda t, table: write(t, table, RowOpKind.INSERT_IGNORE, NEW, 2)),
    "INSERT": (4, lambda t, table: write(t, table, RowOpKind.INSERT, range(100, 160), 2)),
    "UPDATE": (6, update_all),
}


@pytest.mark.parametrize("name", list(WRITES))
def test_a_cancelled_write_leaves_no_trace_behind_a_savepoint(
    store: Store, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_writer, "_STEP_ROWS", 10)
    least, action = WRITES[name]
    table = store.catalog.table("t")
    transaction = store.begin()
    before = rows(transaction, table)
    checks, is_cancelled = 0, True
    while is_cancelled:
        left = checks

        def check() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise QueryCancelledError("stop")

        transaction.cancel_check = check
        saved = transaction.savepoint()
        try:
            with bulk_inserts_from(50):
                action(transaction, table)
            is_cancelled = False
        except QueryCancelledError:
            transaction.rollback_to(saved)
            assert rows(transaction, table) == before
            checks += 1
    assert checks >= least
    assert rows(transaction, table) != before
