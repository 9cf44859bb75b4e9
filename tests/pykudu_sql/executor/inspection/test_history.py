"""Snapshots with names, dropped tables and the age that history is kept to."""

import datetime as dt

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.inspection.history import (
    create_snapshot,
    drop_snapshot,
    dropped_table_rows,
    set_database,
    snapshot_rows,
    undrop_table,
)
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.plan.plan import CreateSnapshot, DropSnapshot, SetDatabase, UndropTable
from pykudu_sql.storage.commit.history import DEFAULT_MAX_AGE
from pykudu_sql.storage.errors import Error, UndefinedObjectError, UndefinedTableError


def test_snapshots_are_listed_by_name_with_the_moment_that_they_see(
    connection: Connection, state: SessionState
) -> None:
    moment = connection.snapshot_timestamp()
    create_snapshot(state, CreateSnapshot("b", comment="second"))
    create_snapshot(state, CreateSnapshot("a", bound=moment + 1))
    columns, rows = snapshot_rows(state)
    assert columns.names == ("name", "moment", "timestamp", "created", "comment")
    assert [(row[0], row[4]) for row in rows] == [("a", ""), ("b", "second")]
    assert rows[0][2] == moment
    assert isinstance(rows[0][1], dt.datetime)
    assert rows[0][1] <= rows[0][3]


def test_a_snapshot_that_exists_is_kept_if_that_was_allowed_for(state: SessionState) -> None:
    create_snapshot(state, CreateSnapshot("a"))
    before = snapshot_rows(state)[1]
    outcome = create_snapshot(state, CreateSnapshot("a", if_not_exists=True))
    assert outcome.message == "Snapshot already exists."
    with pytest.raises(Error, match="'a'"):
        create_snapshot(state, CreateSnapshot("a"))
    assert snapshot_rows(state)[1] == before


def test_a_snapshot_that_is_missing_is_dropped_only_if_that_was_allowed_for(
    state: SessionState,
) -> None:
    create_snapshot(state, CreateSnapshot("a"))
    assert drop_snapshot(state, DropSnapshot("a")).message == "Snapshot has been dropped."
    assert snapshot_rows(state)[1] == []
    missing = drop_snapshot(state, DropSnapshot("a", if_exists=True))
    assert missing.message == "Snapshot does not exist."
    with pytest.raises(UndefinedObjectError, match="'a'"):
        drop_snapshot(state, DropSnapshot("a"))


def test_dropped_tables_are_listed_the_last_one_first_until_they_are_back(
    connection: Connection, state: SessionState
) -> None:
    for name in "ab":
        connection.execute(f"CREATE TABLE {name} (k INT PRIMARY KEY)")
    for name in "ba":
        connection.execute(f"DROP TABLE {name}")
    assert [row[0] for row in dropped_table_rows(state)[1]] == ["a", "b"]
    assert undrop_table(state, UndropTable("a", "c")).message == "Table 'c' is back."
    assert [row[0] for row in dropped_table_rows(state)[1]] == ["b"]
    assert "c" in state.catalog.tables
    with pytest.raises(UndefinedTableError, match="'a'"):
        undrop_table(state, UndropTable("a", None))


@pytest.mark.parametrize(("age", "kept"), [("60", dt.timedelta(seconds=60)), ("-1", None)])
def test_a_dropped_table_is_kept_as_long_as_its_history(
    connection: Connection, state: SessionState, age: str, kept: dt.timedelta | None
) -> None:
    connection.execute(
        "CREATE TABLE t (k INT PRIMARY KEY) "
        f"TBLPROPERTIES ('kudu.table.history_max_age_sec' = '{age}')"
    )
    connection.execute("DROP TABLE t")
    ((_, dropped, until, _),) = dropped_table_rows(state)[1]
    assert until == (None if kept is None else dropped + kept)


def test_the_age_of_history_is_a_number_of_seconds_that_the_database_remembers(
    state: SessionState,
) -> None:
    definitions = state.store.definitions
    set_database(state, SetDatabase("history_max_age", 90))
    assert definitions.history_max_age == 90
    set_database(state, SetDatabase("history_max_age", None))
    assert definitions.history_max_age == DEFAULT_MAX_AGE
    with pytest.raises(Error, match="history_max_age"):
        set_database(state, SetDatabase("history_max_age", "soon"))
