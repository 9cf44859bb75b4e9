"""Tables whose rows are replaced behind a view of DuckDB."""

import duckdb
import pyarrow as pa
import pytest

from pykudu_sql.engine.relations.replaceable_table import ReplaceableTable, reads_replaced
from pykudu_sql.engine.relations.vector_batches import table_in_vectors

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])


def rows(count: int) -> pa.Table:
    return pa.table({"a": range(count), "b": [f"v{i}" for i in range(count)]}, schema=SCHEMA)


def test_the_installed_duckdb_reads_replaced_rows() -> None:
    with duckdb.connect() as connection:
        assert reads_replaced(connection)
        assert connection.execute(
            "SELECT count(*) FROM duckdb_views() WHERE NOT internal"
        ).fetchall() == [(0,)]


def test_each_run_of_a_bound_query_reads_and_plans_with_the_rows_of_then() -> None:
    table = ReplaceableTable(SCHEMA)
    table.put(rows(3))
    with duckdb.connect() as connection:
        connection.register("t", table)
        bound = connection.sql("SELECT count(*), max(b), sum(a) FROM t")
        for count in (3, 9, 2):
            table.put(table_in_vectors(rows(count), 1 << 20))
            answer = (count, f"v{count - 1}", sum(range(count)))
            (row,) = bound.to_arrow_table().to_pylist()
            assert tuple(row.values()) == answer
            plan = connection.execute("EXPLAIN SELECT a FROM t").fetchall()[0][1]
            assert f"~{count} rows" in plan


def test_a_table_that_was_cleared_keeps_no_rows_and_is_not_read() -> None:
    table = ReplaceableTable(SCHEMA)
    table.put(rows(3))
    with duckdb.connect() as connection:
        connection.register("t", table)
        table.clear()
        with pytest.raises(duckdb.Error, match="outside of its query"):
            connection.execute("SELECT * FROM t")


@pytest.mark.parametrize("member", ["nbytes", "column", "to_pandas", "schema"])
def test_inherited_members_are_refused(member: str) -> None:
    with pytest.raises(TypeError, match="no rows of a table"):
        getattr(ReplaceableTable(SCHEMA), member)


@pytest.mark.parametrize("lost", ["select", "num_rows"])
def test_the_check_notices_a_duckdb_that_reads_otherwise(
    lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> object:
        raise TypeError(lost)

    monkeypatch.setattr(ReplaceableTable, lost, property(fail) if lost == "num_rows" else fail)
    if lost == "num_rows":
        monkeypatch.setattr(ReplaceableTable, "__len__", fail)
    with duckdb.connect() as connection:
        assert not reads_replaced(connection)


def test_the_check_notices_a_duckdb_that_keeps_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def put_once(table: ReplaceableTable, new: pa.Table) -> None:
        if table._rows is None:
            table._rows = new

    monkeypatch.setattr(ReplaceableTable, "put", put_once)
    with duckdb.connect() as connection:
        assert not reads_replaced(connection)
