"""Several row operations from the rows of one query: MERGE, ON CONFLICT, RETURNING."""

from collections.abc import Callable
from typing import Any

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.changes import change, change_many
from pykudu_sql.results.result import Outcome
from pykudu_sql.storage.errors import DataError, IntegrityError

Change = Callable[..., Outcome]
MERGE = (
    "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED AND s.v < 0 THEN DELETE "
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)"
)

SHOWN = " RETURNING s.id"


@pytest.fixture
def run(connection: Connection, state: SessionState, planned: Callable[[str], Any]) -> Change:
    """Runs a statement once; `t` has the keys 1 and 2, `s` is empty."""
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT DEFAULT 7)")
    connection.execute("CREATE TABLE s (id INT PRIMARY KEY, k INT, v INT)")
    connection.execute("INSERT INTO t VALUES (1, 10), (2, 20)")
    return lambda sql, *parameters: change(state, planned(sql), parameters)


def rows(connection: Connection) -> list[tuple[Any, ...]]:
    return connection.execute("SELECT k, v FROM t ORDER BY k").fetchall()


def test_each_row_of_the_source_takes_one_branch(connection: Connection, run: Change) -> None:
    connection.execute("INSERT INTO s VALUES (1, 1, -1), (2, 2, 22), (3, 3, 33)")
    outcome = run(MERGE)
    assert (outcome.rowcount, outcome.message) == (3, "Merged 3 row(s)")
    assert rows(connection) == [(2, 22), (3, 33)]


def test_a_source_without_rows_changes_nothing(connection: Connection, run: Change) -> None:
    outcome = run(f"{MERGE} RETURNING t.k")
    assert outcome.rowcount == 0
    assert outcome.result is not None and outcome.result.fetch(5) == []
    assert rows(connection) == [(1, 10), (2, 20)]


def test_a_row_that_two_source_rows_match_is_an_error_and_nothing_is_done(
    connection: Connection, run: Change
) -> None:
    connection.execute("INSERT INTO s VALUES (1, 1, 11), (2, 1, 12), (3, 3, 33)")
    with pytest.raises(IntegrityError, match=r"MERGE would change row \(k\) = \(1\) of table 't'"):
        run(MERGE)
    assert rows(connection) == [(1, 10), (2, 20)]


def test_an_insert_that_fails_leaves_the_updates_undone_in_an_open_transaction(
    connection: Connection, run: Change
) -> None:
    connection.execute("INSERT INTO s VALUES (1, 1, 11), (3, 3, 33), (4, 3, 34)")
    connection.execute("BEGIN")
    with pytest.raises(IntegrityError, match=r"\(3\)"):
        run(MERGE)
    assert rows(connection) == [(1, 10), (2, 20)]


def test_rows_of_several_inserting_branches_get_the_defaults_that_each_leaves_out(
    connection: Connection, run: Change
) -> None:
    connection.execute("INSERT INTO s VALUES (1, 3, 33), (2, 4, 44)")
    outcome = run(
        "MERGE INTO t USING s ON t.k = s.k "
        "WHEN NOT MATCHED AND s.v > 40 THEN INSERT (k) VALUES (s.k) "
        "WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)"
    )
    assert outcome.rowcount == 2
    assert rows(connection) == [(1, 10), (2, 20), (3, 33), (4, 7)]


def test_returning_shows_what_was_done_to_each_row(connection: Connection, run: Change) -> None:
    connection.execute("INSERT INTO s VALUES (1, 1, -1), (2, 2, 22), (3, 3, NULL)")
    outcome = run(f"{MERGE} RETURNING merge_action(), t.k, t.v, s.id")
    assert outcome.result is not None
    assert sorted(outcome.result.fetch(5)) == [
        ("DELETE", 1, 10, 1),
        ("INSERT", 3, None, 3),
        ("UPDATE", 2, 22, 2),
    ]


def test_returning_keeps_the_order_of_the_source_whatever_is_done_first(
    connection: Connection, run: Change
) -> None:
    connection.execute("INSERT INTO s VALUES (1, 1, -1), (2, 2, 22), (3, 3, 33)")
    outcome = run(MERGE.replace("USING s", "USING (SELECT * FROM s ORDER BY id) AS s") + SHOWN)
    assert outcome.result is not None
    assert outcome.result.fetch(5) == [(1,), (2,), (3,)]


def test_an_inserting_statement_shows_defaults_too(run: Change) -> None:
    outcome = run("INSERT INTO t (k) VALUES (?) RETURNING k, v, k + v AS total", 3)
    assert outcome.result is not None
    assert outcome.result.names == ("k", "v", "total")
    assert outcome.result.fetch(5) == [(3, 7, 10)]


def test_a_returning_that_fails_leaves_the_rows_unwritten(
    connection: Connection, run: Change
) -> None:
    with pytest.raises(DataError):
        run("INSERT INTO t VALUES (3, 30) RETURNING CAST('x' || v AS INT)")
    assert rows(connection) == [(1, 10), (2, 20)]


def test_on_conflict_changes_the_rows_that_exist_and_inserts_the_others(
    connection: Connection, run: Change
) -> None:
    sql = "INSERT INTO t VALUES (1, ?), (3, ?) ON CONFLICT (k) DO UPDATE SET v = t.v + excluded.v"
    outcome = run(sql, 5, 30)
    assert (outcome.rowcount, outcome.message) == (2, "Inserted 2 row(s)")
    assert rows(connection) == [(1, 15), (2, 20), (3, 30)]


def test_many_sets_of_parameters_see_each_others_rows_and_stand_or_fall_together(
    connection: Connection, state: SessionState, run: Change, planned: Callable[[str], Any]
) -> None:
    sql = "INSERT INTO t VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = t.v + excluded.v"
    general = planned(sql).general()
    assert change_many(state, general, [(3, 1), (3, 2)]).rowcount == 2
    assert change_many(state, general, []).rowcount == 0
    with pytest.raises(DataError):
        change_many(state, general, [(3, 4), (4, 1 << 40)])
    assert rows(connection) == [(1, 10), (2, 20), (3, 3)]


def test_returning_shows_the_rows_that_were_not_refused(
    connection: Connection, run: Change
) -> None:
    connection.execute("SET row_errors = 'collect'")
    connection.execute("CREATE TABLE many (k INT PRIMARY KEY, v INT NOT NULL)")
    query = "SELECT i, CASE WHEN i % 3 > 0 THEN i END FROM range(60000) r(i)"
    outcome = run(f"INSERT INTO many {query} RETURNING k")
    assert outcome.result is not None
    shown = [k for (k,) in outcome.result.fetch(60_000)]
    assert shown == [k for k in range(60_000) if k % 3]
    assert outcome.rowcount == 40_000
