"""Changes from before the history kept: given where nothing can be missed, else refused."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.storage.errors import HistoryPurgedError, UndefinedTableError

DDL = "CREATE TABLE t (id INT, v INT, PRIMARY KEY (id)) PARTITION BY RANGE (id) ({})".format(
    "PARTITION VALUES < 10, PARTITION 10 <= VALUES"
)
Run = Callable[..., str]
HAPPENINGS = {
    "an insert": ("INSERT INTO t VALUES (5, 5)",),
    "an update": ("UPDATE t SET v = 9 WHERE id = 1",),
    "a delete": ("DELETE FROM t WHERE id = 1",),
    "a dropped partition": ("ALTER TABLE t DROP RANGE PARTITION VALUES < 10",),
    "a truncation": ("TRUNCATE TABLE t",),
    "an insert and a delete of it": (
        "INSERT INTO t VALUES (5, 5)",
        "DELETE FROM t WHERE id = 5",
    ),
}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Do statements in a process's time with a database; the moment behind them."""

    def given(*statements: str) -> str:
        with opened(tmp_path) as connection:
            for statement in statements:
                connection.execute(statement)
            return str(connection.snapshot_timestamp())

    given(DDL, "INSERT INTO t VALUES (1, 1), (2, 2), (11, 11)", "FLUSH")
    return given


def opened(folder: Path, **options: bool) -> Connection:
    return pykudu_sql.connect(folder / "my.db", autocommit=True, **options)


@pytest.fixture(params=["writer", "reader"])
def changes(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], list[int]]]:
    def given(since: str) -> list[int]:
        with opened(tmp_path, read_only=request.param == "reader") as connection:
            sql = f"SELECT id FROM CHANGES(t, {since}) ORDER BY _commit_timestamp, id"
            return [row[0] for row in connection.execute(sql).fetchall()]

    yield given


AGED = "SET DATABASE history_max_age = 0"


def test_a_table_that_was_idle_has_no_changes_from_an_older_moment(
    run: Run, changes: Callable[[str], list[int]]
) -> None:
    moment = run()
    run(AGED)
    assert changes(moment) == []


def test_other_tables_that_were_written_do_not_matter(
    run: Run, changes: Callable[[str], list[int]]
) -> None:
    moment = run()
    run(AGED, "CREATE TABLE o (k INT PRIMARY KEY)", "INSERT INTO o VALUES (1)", "FLUSH o")
    assert changes(moment) == []


@pytest.mark.parametrize("statements", HAPPENINGS.values(), ids=HAPPENINGS)
@pytest.mark.parametrize("upkeep", [(), ("FLUSH",), ("VACUUM",), ("OPTIMIZE TABLE t FULL",)])
def test_what_happened_before_history_begins_is_never_missed(
    run: Run,
    changes: Callable[[str], list[int]],
    statements: tuple[str, ...],
    upkeep: tuple[str, ...],
) -> None:
    moment = run()
    run(*statements)
    run(AGED, *upkeep)
    with pytest.raises(HistoryPurgedError, match="history"):
        changes(moment)


@pytest.mark.parametrize("upkeep", ["VACUUM", "OPTIMIZE TABLE t FULL", "FLUSH"])
def test_what_happened_is_not_missed_when_its_traces_are_gone(
    run: Run, changes: Callable[[str], list[int]], upkeep: str
) -> None:
    moment = run()
    run("DELETE FROM t", "INSERT INTO t VALUES (1, 7)", "FLUSH", AGED, upkeep)
    run("INSERT INTO t VALUES (20, 20)", upkeep)
    with pytest.raises(HistoryPurgedError):
        changes(moment)


def test_a_table_that_was_restored_has_changes(
    run: Run, changes: Callable[[str], list[int]]
) -> None:
    run("CREATE SNAPSHOT before")
    moment = run("UPDATE t SET v = 7")
    run("RESTORE TABLE t TO SNAPSHOT before", "DROP SNAPSHOT before", AGED)
    with pytest.raises(HistoryPurgedError):
        changes(moment)


def test_a_table_made_anew_is_another_one(run: Run, changes: Callable[[str], list[int]]) -> None:
    moment = run()
    run("DROP TABLE t", DDL)
    run(AGED)
    with pytest.raises((HistoryPurgedError, UndefinedTableError)):
        changes(moment)


def test_changes_after_the_time_without_any_are_given(tmp_path: Path, run: Run) -> None:
    moment = run()
    with opened(tmp_path) as connection:
        connection.execute("CREATE SNAPSHOT now_on")
        connection.execute(AGED)
        connection.execute("INSERT INTO t VALUES (5, 5)")
        found = connection.execute(f"SELECT id FROM CHANGES(t, {moment})").fetchall()
    assert found == [(5,)]


@pytest.mark.parametrize("since", ["'2001-01-01'", "0", "'3 weeks ago'"])
def test_a_table_younger_than_the_history_kept_has_all_its_changes(
    run: Run, changes: Callable[[str], list[int]], since: str
) -> None:
    run("DELETE FROM t WHERE id = 1", "ALTER TABLE t DROP RANGE PARTITION 10 <= VALUES", "VACUUM")
    assert changes(since) == [1, 2, 11, 1, 11]


def test_a_table_younger_than_the_history_kept_has_all_its_versions(
    tmp_path: Path, run: Run
) -> None:
    run("DELETE FROM t WHERE id = 1")
    sql = "SELECT id FROM t FOR SYSTEM_TIME FROM '2001-01-01' TO now() ORDER BY id"
    with opened(tmp_path) as connection:
        assert connection.execute(sql).fetchall() == [(1,), (2,), (11,)]


def test_a_table_with_an_earlier_life_than_the_history_kept_is_refused(
    run: Run, changes: Callable[[str], list[int]]
) -> None:
    run("ALTER TABLE t ADD COLUMN w INT", AGED)
    with pytest.raises(HistoryPurgedError):
        changes("'2001-01-01'")
