"""Rowsets are put in such an order that rows of one group follow each other, where there is one."""

from collections.abc import Iterator

import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.scan.key_order import in_key_order
from pykudu_sql.storage.scan.table_scan import TableScan


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        yield connection


def table_scan(connection: Connection, *names: str) -> TableScan | None:
    """The scan of some columns of the key of the table t, in key order."""
    store = connection._session._state.store
    table = store.catalog.table("t")
    column_ids = tuple(table.schema.column(name).id for name in names)
    scan = store.begin().scan(table, ScanSpec(column_ids))
    return in_key_order(scan, table, frozenset(column_ids))


def create(connection: Connection, partitions: str) -> None:
    connection.execute(f"CREATE TABLE t (a INT, b INT, v INT, PRIMARY KEY (a, b)) {partitions}")


def insert(connection: Connection, *rows: tuple[int, int]) -> None:
    connection.executemany("INSERT INTO t VALUES (?, ?, 0)", rows)


def test_rowsets_whose_keys_do_not_overlap_are_read_in_their_order(connection: Connection) -> None:
    create(connection, "")
    for rows in ([(5, 1), (6, 1)], [(1, 1), (5, 0)], [(6, 2)]):
        insert(connection, *rows)
        connection.execute("FLUSH TABLE t")
    ordered = table_scan(connection, "a")
    assert ordered is not None
    assert ordered.to_table().column("a").to_pylist() == [1, 5, 5, 6, 6]


def test_rowsets_that_overlap_have_no_such_order(connection: Connection) -> None:
    create(connection, "")
    for rows in ([(1, 1), (6, 1)], [(5, 1)]):
        insert(connection, *rows)
        connection.execute("FLUSH TABLE t")
    assert table_scan(connection, "a") is None
    connection.execute("OPTIMIZE TABLE t FULL")
    assert table_scan(connection, "a") is not None


def test_rows_in_memory_have_no_such_order(connection: Connection) -> None:
    create(connection, "")
    insert(connection, (1, 1))
    assert table_scan(connection, "a") is None


@pytest.mark.parametrize(
    ("partitions", "names", "is_ordered"),
    [
        ("PARTITION BY HASH (a) PARTITIONS 2", ("a",), True),
        ("PARTITION BY HASH (a) PARTITIONS 2", ("b", "a"), True),
        ("PARTITION BY HASH (b) PARTITIONS 2", ("a",), False),
        ("PARTITION BY HASH (a, b) PARTITIONS 2", ("a",), False),
        ("PARTITION BY HASH (a, b) PARTITIONS 2", ("a", "b"), True),
        ("PARTITION BY RANGE (a) (PARTITION VALUES < 4, PARTITION 4 <= VALUES)", ("a",), True),
        ("PARTITION BY RANGE (b) (PARTITION VALUES < 4, PARTITION 4 <= VALUES)", ("a",), False),
        ("", ("b",), False),
    ],
)
def test_groups_lie_in_one_tablet_where_their_columns_decide_it(
    connection: Connection, partitions: str, names: tuple[str, ...], is_ordered: bool
) -> None:
    create(connection, partitions)
    insert(connection, *((n, n) for n in range(8)))
    connection.execute("FLUSH TABLE t")
    assert (table_scan(connection, *names) is not None) is is_ordered


def test_a_table_without_rows_is_in_order(connection: Connection) -> None:
    create(connection, "PARTITION BY HASH (b) PARTITIONS 2")
    assert table_scan(connection, "a") is not None
