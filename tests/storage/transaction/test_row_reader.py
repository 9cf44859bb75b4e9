"""One row at a snapshot, by its key, in any number of tablets and rowsets."""

import contextlib

import pytest

from pykudu_sql.storage.errors import InterfaceError, TableChangedError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.transaction.row_reader import lookup_row
from tests.storage.transaction.test_new_table import open_store
from tests.storage.transaction.test_replaced_table import replace_table


def test_a_row_is_read_as_of_the_snapshot_that_is_asked_for() -> None:
    with contextlib.closing(open_store(MemoryEnv())) as store:
        replace_table(store, range(5))
        table = next(iter(store.catalog.tables.values()))
        transaction = store.begin()
        columns = table.schema.select(tuple(c.id for c in table.schema.columns))
        rows = [
            lookup_row(store.tablets, table, (key,), columns, transaction.bound)
            for key in (0, 4, 5)
        ]
        column_ids = [column.id for column in columns]
        assert rows == [transaction.lookup(table, (key,), column_ids) for key in (0, 4, 5)]
        assert rows[0] is not None
        assert rows[2] is None


def test_the_newest_row_is_read_under_the_catalog_that_it_was_asked_for() -> None:
    store = open_store(MemoryEnv())
    replace_table(store, range(5))
    catalog = store.catalog
    table = next(iter(catalog.tables.values()))
    columns = table.schema.select((table.schema.key_ids[0],))
    assert store.read_row(catalog, table, (3,), columns) == (3,)
    replace_table(store, range(2))
    with pytest.raises(TableChangedError):
        store.read_row(catalog, table, (3,), columns)
    store.close()
    with pytest.raises(InterfaceError, match="closed"):
        store.read_row(catalog, table, (3,), columns)
