"""INSERT, UPSERT, UPDATE and DELETE: one row at once, many as one batch, a query's rows."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.chunked_rows import write_columns
from pykudu_sql.executor.writing.inserted_values import (
    insert_cells,
    inserted_cell,
    inserted_rows,
    value_column,
)
from pykudu_sql.executor.writing.key_changes import KeyChanges
from pykudu_sql.executor.writing.key_inserts import KeyInserts
from pykudu_sql.executor.writing.writes import (
    insert_operations,
    mode_of,
    prepare_write,
    write_many,
)
from pykudu_sql.planner.operands.comparison import EngineRequiredError
from pykudu_sql.planner.operands.value import Parameter
from pykudu_sql.planner.plan.plan import InsertValues
from pykudu_sql.storage.catalog.table_info import new_table
from pykudu_sql.storage.common.default_function import DefaultFunction
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowErrorMode
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import DataError, IntegrityError


@pytest.fixture(autouse=True)
def table(connection: Connection) -> None:
    """With the keys 1 and 2."""
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT DEFAULT 7, word STRING)")
    connection.execute("INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b')")


def rows(connection: Connection) -> list[tuple[Any, ...]]:
    return connection.execute("SELECT * FROM t ORDER BY k").fetchall()


@pytest.mark.parametrize(
    ("sql", "parameters", "message", "after"),
    [
        ("INSERT INTO t (k) VALUES (?)", (3,), "Inserted 1", [(1, 10), (2, 20), (3, 7)]),
        ("UPSERT INTO t (k, v) VALUES (?, 5)", (2,), "Upserted 1", [(1, 10), (2, 5)]),
        ("UPDATE t SET v = ? WHERE k = ?", (5, 2), "Updated 1", [(1, 10), (2, 5)]),
        ("UPDATE t SET v = ? WHERE k = ?", (5, 9), "Updated 0", [(1, 10), (2, 20)]),
        ("UPDATE t SET v = ? WHERE k = ?", (5, None), "Updated 0", [(1, 10), (2, 20)]),
        ("DELETE FROM t WHERE k = ?", (1,), "Deleted 1", [(2, 20)]),
        ("DELETE FROM t WHERE v < ?", (15,), "Deleted 1", [(2, 20)]),
        ("UPDATE t SET v = v + 1 WHERE v < ?", (15,), "Updated 1", [(1, 11), (2, 20)]),
        ("INSERT INTO t (k, v) SELECT k + ?, v FROM t", (2,), "Inserted 2", None),
    ],
)
@pytest.mark.parametrize("is_in_transaction", [False, True])
def test_a_statement_says_how_many_rows_it_changed(
    connection: Connection,
    state: SessionState,
    planned: Callable[[str], Any],
    sql: str,
    parameters: tuple[Any, ...],
    message: str,
    after: list[tuple[int, int]] | None,
    is_in_transaction: bool,
) -> None:
    before = rows(connection)
    if is_in_transaction:
        connection.execute("BEGIN")
    outcome = prepare_write(state, planned(sql))(parameters)
    assert outcome.message == f"{message} row(s)"
    assert outcome.rowcount == int(message[-1])
    expected = after or [(1, 10), (2, 20), (3, 10), (4, 20)]
    assert [row[:2] for row in rows(connection)] == expected
    if is_in_transaction:
        connection.execute("ROLLBACK")
        assert rows(connection) == before


def test_a_prepared_statement_runs_again_with_other_values(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    run = prepare_write(state, planned("INSERT INTO t (k, word) VALUES (?, ?)"))
    run((3, "c"))
    run((4, None))
    with pytest.raises(IntegrityError, match=r"\(3\)"):
        run((3, "again"))
    with pytest.raises(DataError, match="column 'k'"):
        run((1 << 40, "d"))
    assert rows(connection)[2:] == [(3, 7, "c"), (4, 7, None)]


def test_many_sets_of_parameters_stand_or_fall_together(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    before = rows(connection)
    plan = planned("INSERT INTO t (k, v) VALUES (?, 0), (?, 1)")
    with pytest.raises(IntegrityError, match=r"\(1\)"):
        write_many(state, plan, [(3, 4), (5, 1)])
    assert rows(connection) == before
    assert write_many(state, plan, [(3, 4), (5, 6)]).rowcount == 4
    assert write_many(state, plan, []).rowcount == 0


def test_keys_that_no_row_can_have_are_left_out_of_a_batch(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    update = planned("UPDATE t SET v = ? WHERE k = ?")
    outcome = write_many(state, update, [(0, 1), (0, None), (0, 2.5), (0, 9)])
    assert outcome.message == "Updated 1 row(s)"
    delete = planned("DELETE FROM t WHERE k = ?")
    assert write_many(state, delete, [(2,), (None,), (1 << 40,)]).rowcount == 1
    assert rows(connection) == [(1, 0, "a")]


def test_keys_that_only_the_engine_can_compare_are_written_one_by_one(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    update = planned("UPDATE t SET v = ? WHERE k = ?")
    assert write_many(state, update, [(0, 1), (0, 1 << 200)]).rowcount == 1
    delete = planned("DELETE FROM t WHERE k = ?")
    assert write_many(state, delete, [(1 << 200,), (2,)]).rowcount == 1
    assert rows(connection) == [(1, 0, "a")]


def test_collected_a_set_of_parameters_that_does_not_fit_loses_all_its_rows(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    connection.execute("SET row_errors = 'collect'")
    assert mode_of(state) is RowErrorMode.COLLECT
    plan = planned("INSERT INTO t (k, v) VALUES (?, ?), (?, 0)")
    outcome = write_many(state, plan, [(3, "x", 4), (5, 50, 1)])
    assert outcome.message == "Inserted 1 row(s), 3 row(s) failed"
    assert [(error.position, error.key) for error in outcome.row_errors] == [
        (0, "parameters 1"),
        (1, "parameters 1"),
        (3, "(k) = (1)"),
    ]
    assert state.row_errors == outcome.row_errors
    prepare_write(state, planned("DELETE FROM t WHERE k = 5"))(())
    assert state.row_errors == ()


def test_the_rows_of_an_insert_get_the_types_of_their_columns(
    state: SessionState, planned: Callable[[str], Any]
) -> None:
    reading = state.transactions.reading()
    for sql in ("INSERT INTO t (word, k) VALUES ('c', ?)", "INSERT INTO t (word, k) SELECT 'c', ?"):
        operations = insert_operations(state, planned(sql), (3,), reading)
        assert (operations.kind, operations.length) == (RowOpKind.INSERT, 1)
        assert operations.columns[0].to_pylist() == [3]
        assert operations.columns[0].type == pa.int32()
        assert operations.columns[2].to_pylist() == ["c"]
        with pytest.raises(DataError, match="'k'"):
            insert_operations(state, planned(sql), ("x",), reading)


def test_columns_are_written_whole_or_row_by_row(
    connection: Connection, state: SessionState
) -> None:
    table = state.catalog.table("t")
    columns = {0: pa.array([3, 1 << 40]), 1: pa.array([30, 40])}

    def write(mode: RowErrorMode) -> int:
        insert = RowOpKind.INSERT
        return state.transactions.write(
            lambda t: write_columns(mode, t, table, insert, columns)
        ).applied

    with pytest.raises(DataError, match="'k'"):
        write(RowErrorMode.FAIL)
    assert len(rows(connection)) == 2
    assert write(RowErrorMode.COLLECT) == 1
    assert rows(connection)[2:] == [(3, 30, None)]


def test_a_row_that_is_read_first_is_changed_without_the_engine(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    connection.execute("CREATE TABLE c (k INT PRIMARY KEY, n INT)")
    connection.execute("INSERT INTO c VALUES (1, 5), (2, NULL)")
    add = KeyChanges(state, planned("UPDATE c SET n = n + ? WHERE k = ? RETURNING n"))
    outcome = add((3, 1))
    assert (outcome.rowcount, outcome.result and outcome.result.fetch(2)) == (1, [(8,)])
    assert add((3, 5)).message == "Updated 0 row(s)"
    with pytest.raises(EngineRequiredError):
        add.run_many([(1, 1), ((1 << 31) - 1, 1)])
    assert connection.execute("SELECT n FROM c").fetchall() == [(8,), (None,)]


def test_a_row_that_may_be_there_is_inserted_or_changed_without_the_engine(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    sql = "INSERT INTO t (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = t.v + excluded.v"
    add = KeyInserts(state, planned(f"{sql} RETURNING k, v"))
    assert add.run_many([(1, 5), (9, 1)]).message == "Inserted 2 row(s)"
    outcome = add((9, 2))
    assert (outcome.rowcount, outcome.result and outcome.result.fetch(2)) == (1, [(9, 3)])
    with pytest.raises(EngineRequiredError):
        add((None, 1))
    assert rows(connection) == [(1, 15, "a"), (2, 20, "b"), (9, 3, None)]


def test_default_is_drawn_for_each_row_of_each_set_of_parameters() -> None:
    columns = [
        ColumnSchema(0, "k", parse_type("INT")),
        ColumnSchema(1, "token", parse_type("STRING"), default_function=DefaultFunction.UUID),
    ]
    table = new_table("t", create_schema(columns, ["k"]), PartitionSchema(), "", {})
    key, token = table.schema.columns
    function, time = token.default_function, StatementTime()
    assert function is not None
    values = ((Parameter(0, key.type, "k"), 7), (function, "mine"))
    plan = InsertValues(table, RowOpKind.UPSERT, (0, 1), values, 2)
    operations = inserted_rows(plan, time, [(number,) for number in range(3)]).operations
    texts = operations.columns[1].to_pylist()
    assert operations.columns[0].to_pylist() == [0, 7, 1, 7, 2, 7]
    assert texts[1::2] == ["mine"] * 3
    assert len(set(texts)) == 4
    cells_of = insert_cells(plan, time)
    assert cells_of((5,))[0] == 5
    assert cells_of((5,))[1] != cells_of((5,))[1]
    assert inserted_cell(token, "mine", (), time) == "mine"
    assert value_column(key, [1, 2], [(), ()], 0).to_pylist() == [1, 2, 1, 2]
