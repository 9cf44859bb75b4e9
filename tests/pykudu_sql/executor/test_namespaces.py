"""Views and databases: made, dropped and commented on."""

from collections.abc import Callable
from typing import Any

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.namespaces import (
    comment_on,
    create_database,
    create_view,
    drop_database,
    drop_views,
)
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.plan.namespace_plans import DropDatabase
from pykudu_sql.storage.errors import ProgrammingError

Planned = Callable[[str], Any]


@pytest.fixture(autouse=True)
def database(connection: Connection) -> None:
    """A database, and a table outside it."""
    connection.execute("CREATE DATABASE d COMMENT 'first'")
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY)")


def test_a_view_is_made_and_replaced(
    connection: Connection, state: SessionState, planned: Planned
) -> None:
    made = create_view(state, planned("CREATE VIEW w AS SELECT k FROM t"))
    assert made.message == "View has been created."
    replaced = create_view(state, planned("CREATE OR REPLACE VIEW w AS SELECT k AS n FROM t"))
    assert replaced.message == "View has been replaced."
    assert [column.name for column in state.catalog.views["w"].columns] == ["n"]


@pytest.mark.parametrize("name", ["w", "t"])
def test_a_view_is_left_alone_if_there_is_a_view_or_table_of_that_name(
    connection: Connection, state: SessionState, planned: Planned, name: str
) -> None:
    connection.execute("CREATE VIEW w AS SELECT k FROM t")
    before = state.store.catalog
    outcome = create_view(state, planned(f"CREATE VIEW IF NOT EXISTS {name} AS SELECT 1 AS one"))
    assert outcome.message == "View already exists."
    assert state.store.catalog is before


def test_a_view_is_dropped_once(
    connection: Connection, state: SessionState, planned: Planned
) -> None:
    connection.execute("CREATE VIEW w AS SELECT k FROM t")
    assert drop_views(state, planned("DROP VIEW w")).message == "View has been dropped."
    assert drop_views(state, planned("DROP VIEW IF EXISTS w")).message == "View does not exist."
    assert state.store.catalog.views == {}


def test_a_database_that_exists_is_kept_with_its_comment(
    state: SessionState, planned: Planned
) -> None:
    plan = planned("CREATE DATABASE IF NOT EXISTS d COMMENT 'second'")
    assert create_database(state, plan).message == "Database already exists."
    assert state.store.catalog.databases["d"].comment == "first"
    with pytest.raises(ProgrammingError, match="'default' exists already"):
        create_database(state, planned("CREATE DATABASE default"))


def test_a_comment_is_exchanged(state: SessionState, planned: Planned) -> None:
    comment_on(state, planned("COMMENT ON DATABASE d IS 'second'"))
    assert state.store.catalog.databases["d"].comment == "second"


def test_a_dropped_database_takes_all_in_it_along_and_the_session_leaves_it(
    connection: Connection, state: SessionState
) -> None:
    connection.execute("USE d")
    connection.execute("CREATE TABLE inner_table (k INT PRIMARY KEY)")
    connection.execute("CREATE VIEW inner_view AS SELECT k FROM inner_table")
    assert drop_database(state, DropDatabase("d")).message == "Database has been dropped."
    assert state.settings.database == "default"
    assert set(state.store.catalog.tables) == {"t"}
    assert state.store.catalog.views == {}
    assert drop_database(state, DropDatabase("d")).message == "Database does not exist."


def test_a_session_elsewhere_stays_where_it_is(connection: Connection, state: SessionState) -> None:
    connection.execute("CREATE DATABASE e")
    connection.execute("USE e")
    drop_database(state, DropDatabase("d"))
    assert state.settings.database == "e"
