"""CREATE, DROP and ALTER TABLE, at once and outside transactions."""

from collections.abc import Callable
from typing import Any

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.definitions import alter_table, create_table, drop_tables
from pykudu_sql.storage.errors import IntegrityError, ProgrammingError, UndefinedTableError

CREATE = "CREATE TABLE t (k INT PRIMARY KEY, v INT)"


def test_a_table_is_made_once(state: SessionState, planned: Callable[[str], Any]) -> None:
    plan, again = planned(CREATE), planned(CREATE.replace("TABLE", "TABLE IF NOT EXISTS"))
    assert create_table(state, plan).message.startswith("Table has been created.")
    table = state.catalog.table("t")
    assert create_table(state, again).message == "Table already exists."
    with pytest.raises(ProgrammingError, match="'t'"):
        create_table(state, plan)
    assert state.catalog.table("t") is table


def test_the_rows_of_a_query_are_in_the_new_table_for_all(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    connection.execute(CREATE)
    connection.execute("INSERT INTO t VALUES (1, 10), (2, 20)")
    plan = planned("CREATE TABLE c PRIMARY KEY (k) AS SELECT k, v FROM t WHERE v > 10")
    outcome = create_table(state, plan)
    assert outcome.rowcount == 1
    assert outcome.message.endswith("Inserted 1 row(s)")
    assert connection.execute("SELECT * FROM c").fetchall() == [(2, 20)]


def test_a_table_whose_rows_cannot_be_written_is_not_made(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    connection.execute(CREATE)
    connection.execute("INSERT INTO t VALUES (1, 10), (2, 10)")
    with pytest.raises(IntegrityError):
        create_table(state, planned("CREATE TABLE c PRIMARY KEY (v) AS SELECT v, k FROM t"))
    assert set(state.catalog.tables) == {"t"}


def test_a_table_that_is_not_made_leaves_none_to_bring_back(connection: Connection) -> None:
    connection.execute(CREATE)
    connection.execute("INSERT INTO t VALUES (1, 10), (2, 10)")
    with pytest.raises(IntegrityError):
        connection.execute("CREATE TABLE c PRIMARY KEY (v) AS SELECT v, k FROM t")
    assert connection.execute("SHOW DROPPED TABLES").fetchall() == []


@pytest.mark.parametrize("rest", ["(k INT PRIMARY KEY)", "PRIMARY KEY (k) AS SELECT 1 AS k"])
def test_if_not_exists_holds_for_a_table_that_another_session_makes_meanwhile(
    state: SessionState,
    planned: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
    rest: str,
) -> None:
    definitions = type(state.store.definitions)
    plan, other = planned(f"CREATE TABLE IF NOT EXISTS t {rest}"), planned(CREATE)
    for name in ("create_table", "new_table"):
        once = getattr(definitions, name)

        def after(*arguments: object, made: Callable[..., Any] = once) -> Any:
            monkeypatch.undo()
            create_table(state, other)
            return made(*arguments)

        monkeypatch.setattr(definitions, name, after)
    assert create_table(state, plan).message == "Table already exists."
    assert list(state.catalog.table("t").schema.by_name) == ["k", "v"]


def test_a_missing_table_is_dropped_only_if_that_was_allowed_for(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    connection.execute(CREATE)
    plan, lenient = planned("DROP TABLE t"), planned("DROP TABLE IF EXISTS t")
    assert drop_tables(state, plan).message == "Table has been dropped."
    assert drop_tables(state, lenient).message == "Table does not exist."
    with pytest.raises(UndefinedTableError, match="'t'"):
        drop_tables(state, plan)


def test_all_steps_of_an_alteration_are_done_or_none(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    connection.execute(CREATE)
    alter_table(state, planned("ALTER TABLE t ADD COLUMN w STRING"))
    assert list(state.catalog.table("t").schema.by_name) == ["k", "v", "w"]
    before = state.catalog.table("t")
    none = planned("ALTER TABLE t ADD COLUMN IF NOT EXISTS w STRING")
    assert alter_table(state, none).message == "Table has been altered."
    assert state.catalog.table("t") is before
