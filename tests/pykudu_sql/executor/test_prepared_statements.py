"""PREPARE and EXECUTE as a program uses them; what scripts can say stands in sql_tests."""

from collections.abc import Iterator

import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.prepared_statements import argument_values
from pykudu_sql.planner.plan.prepared_plans import ExecutePrepared, PassedOn


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as made:
        made.execute("CREATE TABLE t (k INT PRIMARY KEY, v STRING)")
        made.execute("INSERT INTO t VALUES (1, 'one'), (2, 'two')")
        yield made


def test_parameters_of_execute_are_passed_on(connection: Connection) -> None:
    connection.execute("PREPARE p AS SELECT v FROM t WHERE k = $1")
    assert connection.execute("EXECUTE p(?)", (2,)).fetchall() == [("two",)]
    assert connection.execute("EXECUTE p(:key)", {"key": 1}).fetchall() == [("one",)]


def test_a_passed_value_is_converted_to_the_type_of_its_parameter(connection: Connection) -> None:
    connection.execute("PREPARE p (INT, TEXT) AS SELECT $1, $2")
    assert connection.execute("EXECUTE p(?, ?)", ("7", 8)).fetchall() == [(7, "8")]
    with pytest.raises(pykudu_sql.DataError, match="'x'"):
        connection.execute("EXECUTE p(?, 1)", ("x",))


def test_a_prepared_statement_belongs_to_its_session(connection: Connection) -> None:
    connection.execute("PREPARE p AS SELECT 1")
    with (
        pykudu_sql.connect(":memory:") as other,
        pytest.raises(pykudu_sql.ProgrammingError, match="no prepared statement 'p'"),
    ):
        other.execute("EXECUTE p")


def test_execute_takes_the_plan_that_the_text_alone_takes(connection: Connection) -> None:
    connection.execute("PREPARE p AS SELECT v FROM t WHERE k = ?")
    statements = connection._session._plans._plans
    text = "SELECT v FROM t WHERE k = ?"
    connection.execute("EXECUTE p(1)").fetchall()
    planned = statements[text]
    connection.execute("EXECUTE p(2)").fetchall()
    connection.execute(text, (2,)).fetchall()
    assert statements[text] is planned


def test_explain_analyze_execute_runs_the_statement(connection: Connection) -> None:
    connection.execute("PREPARE p AS DELETE FROM t WHERE k = $1")
    shown = connection.execute("EXPLAIN EXECUTE p(1)").fetchall()
    assert shown[0] == ("KEY DELETE FROM t",)
    connection.execute("EXPLAIN ANALYZE EXECUTE p(1)").fetchall()
    assert connection.execute("SELECT k FROM t").fetchall() == [(2,)]


def test_an_error_of_the_engine_names_the_words_of_the_prepared_statement(
    connection: Connection,
) -> None:
    connection.execute("PREPARE p AS SELECT CAST(v AS INT) FROM t WHERE k = $1")
    with pytest.raises(pykudu_sql.DataError) as failed:
        connection.execute("EXECUTE p(1)").fetchall()
    assert failed.value.position is not None
    assert "CAST(v AS INT)" in failed.value.position.text


def test_a_rollback_keeps_prepared_statements(connection: Connection) -> None:
    connection.execute("BEGIN")
    connection.execute("PREPARE p AS SELECT count(*) FROM t")
    connection.execute("ROLLBACK")
    assert connection.execute("EXECUTE p").fetchall() == [(2,)]


def test_values_come_in_the_order_of_the_statement(connection: Connection) -> None:
    plan = ExecutePrepared("p", "SELECT ?, ?", ((1, "b"), (0, PassedOn("a"))), ("a",))
    assert argument_values(connection._session._state, plan, {"a": "a"}) == ("a", "b")


def test_question_marks_are_counted_over_all_arguments(connection: Connection) -> None:
    connection.execute("PREPARE p AS SELECT $a || $b || $c")
    text = "EXECUTE p(c := ?, a := 'x', b := ?)"
    assert connection.execute(text, ("1", "2")).fetchall() == [("x21",)]
