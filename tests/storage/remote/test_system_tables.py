"""The tables of schema `sys` have the columns they promise, and rows that are true."""

from contextlib import closing

from pykudu_sql.storage.catalog.check_constraint import CheckConstraint
from pykudu_sql.storage.catalog.namespace import ViewColumn, ViewInfo, new_id
from pykudu_sql.storage.catalog.system_catalog import SYSTEM_TABLES
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.predicate.row_condition import ColumnCell, Missing, Negated
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.remote.system_tables import system_rows
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.upkeep.statement_log import StatementCounts

OPTIONS = StoreOptions(threads=1, maintenance=False)


def used_store() -> Store:
    store = Store(MemoryEnv(), "/db", OPTIONS)
    columns = [
        ColumnSchema(0, "id", DataType(Kind.INT32)),
        ColumnSchema(0, "s", DataType(Kind.STRING), indexes=("by_s",)),
    ]
    filled = CheckConstraint("filled", Negated(Missing(ColumnCell(1))))
    schema = create_schema(columns, ["id"])
    table = store.create_table("t", schema, PartitionSchema(), checks=(filled,))
    for i in range(4):
        store.write_row(table, RowOpKind.INSERT, {0: i, 1: "x"})
    store.flush()
    store.write_row(table, RowOpKind.UPDATE, {0: 1, 1: "y"})
    store.write_row(table, RowOpKind.DELETE, {0: 2})
    store.flush()
    store.write_row(table, RowOpKind.INSERT, {0: 9, 1: "z"})
    store.definitions.create_snapshot("before", None, "of tests")
    view = ViewInfo(new_id(), "v", "SELECT id FROM t", "default", (ViewColumn("id", "id", "INT"),))
    store.definitions.put_object(view)
    return store


def test_every_table_has_the_columns_it_promises_and_no_null_in_its_key() -> None:
    with closing(used_store()) as store:
        store.statements.add("SELECT ?", StatementCounts(calls=1))
        for table in SYSTEM_TABLES.values():
            rows = system_rows(store, table)
            assert rows.num_rows, table.name
            for column in table.schema.columns:
                assert rows.schema.field(column.name).type == column.type.arrow
            for column in table.schema.key_columns:
                assert not rows.column(column.name).null_count


def test_rows_and_bytes_agree_between_the_tables() -> None:
    with closing(used_store()) as store:
        found = {name: system_rows(store, table) for name, table in SYSTEM_TABLES.items()}
        table, view = found["sys.tables"].to_pylist()
        assert (table["kind"], view["kind"]) == ("TABLE", "VIEW")
        (tablet,) = found["sys.tablets"].to_pylist()
        rowsets = found["sys.rowsets"].to_pylist()
        deltas = found["sys.delta_files"].to_pylist()
        assert table["live_rows"] == tablet["live_rows"] == 4
        assert sum(rowset["live_rows"] for rowset in rowsets) == 4
        on_disk = [rowset for rowset in rowsets if rowset["kind"] == "DiskRowSet"]
        assert table["disk_bytes"] == sum(rowset["bytes"] for rowset in on_disk)
        of_deltas = sum(file["bytes"] for file in deltas)
        assert sum(r["bytes"] - r["base_bytes"] for r in on_disk) == of_deltas
        assert sum(file["deletes"] for file in deltas if file["kind"] == "REDO") == 1


def test_metrics_count_what_happened() -> None:
    with closing(used_store()) as store:
        rows = system_rows(store, SYSTEM_TABLES["sys.metrics"]).to_pylist()
        values = {row["name"]: row["value"] for row in rows}
        assert len(values) == len(rows)
        assert values["rows_inserted"] == 5
        assert (values["rows_updated"], values["rows_deleted"], values["commits"]) == (1, 1, 7)
        assert (values["flush_mrs_runs"], values["flush_dms_runs"]) == (1, 1)
        assert values["flush_mrs_bytes_written"] > 0


def test_a_named_snapshot_is_listed() -> None:
    with closing(used_store()) as store:
        (row,) = system_rows(store, SYSTEM_TABLES["sys.snapshots"]).to_pylist()
        assert (row["name"], row["comment"]) == ("before", "of tests")
        assert row["moment"] <= row["created"]
