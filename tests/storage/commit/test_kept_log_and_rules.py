"""What a commit leaves to be kept: the log until a flush, and rules that rows must meet."""

from contextlib import closing
from dataclasses import replace

import pytest

from pykudu_sql.storage.commit.log_retention import LogRetention
from pykudu_sql.storage.commit.stored_rows import new_rules
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import NotNullError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions

COLUMNS = [
    ColumnSchema(0, "id", DataType(Kind.INT32)),
    ColumnSchema(0, "s", DataType(Kind.STRING), nullable=True),
]


def test_a_record_is_needed_until_its_rows_are_flushed() -> None:
    with closing(Store(MemoryEnv(), "/db", StoreOptions(maintenance=False))) as store:
        table = store.create_table("t", create_schema(COLUMNS, ["id"]), PartitionSchema())
        store.write_row(table, RowOpKind.INSERT, {0: 1, 1: "x"})
        retention: LogRetention = store.log_retention
        (tablet,) = store.tablets.values()
        anchor = tablet.anchor
        assert anchor is not None
        assert retention.retained_bytes(anchor) > 0 == retention.retained_bytes(None)
        assert retention.replay_seconds(anchor) > 0 == retention.replay_seconds(None)
        assert retention.garbage() == 0
        store.flush()
        assert tablet.anchor is None
        retention.collect()
        assert retention.garbage() == 0


def test_a_column_that_loses_null_is_a_new_rule_and_one_that_gains_it_is_none() -> None:
    with closing(Store(MemoryEnv(), "/db", StoreOptions(maintenance=False))) as store:
        table = store.create_table("t", create_schema(COLUMNS, ["id"]), PartitionSchema())
        strict = [COLUMNS[0], replace(COLUMNS[1], nullable=False)]
        filled = replace(table, schema=create_schema(strict, ["id"]))
        assert [column.name for column in new_rules(table, filled).filled] == ["s"]
        assert not new_rules(filled, table)


def test_a_row_with_null_breaks_the_new_rule_and_its_key_is_named() -> None:
    with closing(Store(MemoryEnv(), "/db", StoreOptions(maintenance=False))) as store:
        table = store.create_table("t", create_schema(COLUMNS, ["id"]), PartitionSchema())
        store.write_row(table, RowOpKind.INSERT, {0: 1, 1: "x"})
        strict = [COLUMNS[0], replace(COLUMNS[1], nullable=False)]
        rules = new_rules(table, replace(table, schema=create_schema(strict, ["id"])))
        rules.check(store.tablets.values(), EVERYTHING)
        store.write_row(table, RowOpKind.INSERT, {0: 2, 1: None})
        with pytest.raises(NotNullError, match=r"\(id\) = \(2\)"):
            rules.check(store.tablets.values(), EVERYTHING)
