"""Plans are kept by the texts of statements, and for the numbers of rows in them."""

from collections.abc import Iterator

import pytest

import pykudu_sql
from pykudu_sql.session.plan_cache import MAX_STATEMENTS, PlanCache, PreparedStatement, RunCounts
from pykudu_sql.storage.errors import DataError, InterfaceError


@pytest.fixture
def connection() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(autocommit=True) as opened:
        opened.execute("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
        opened.executemany("INSERT INTO t VALUES (?, ?)", [(i, i % 3) for i in range(100)])
        yield opened


NEWEST = "SELECT id FROM t WHERE n = ? ORDER BY id DESC LIMIT ? OFFSET ?"


def test_numbers_of_rows_may_change_with_each_run(connection: pykudu_sql.Connection) -> None:
    for _ in range(2):
        assert connection.execute(NEWEST, (0, 2, 0)).fetchall() == [(99,), (96,)]
        assert connection.execute(NEWEST, (0, 2, 1)).fetchall() == [(96,), (93,)]
        assert connection.execute(NEWEST, (1, 1, 0)).fetchall() == [(97,)]
        assert connection.execute(NEWEST, [1, 0, 0]).fetchall() == []
    named = "SELECT id FROM t WHERE id >= :n ORDER BY id LIMIT :n"
    assert connection.execute(named, {"n": 2}).fetchall() == [(2,), (3,)]
    assert connection.execute(named, {"n": 1}).fetchall() == [(1,)]


@pytest.mark.parametrize("count", [True, 2.0, "2"])
def test_what_is_no_integer_is_the_engines_to_read(
    connection: pykudu_sql.Connection, count: object
) -> None:
    sql = "SELECT id FROM t ORDER BY id LIMIT ?"
    assert connection.execute(sql, (1,)).fetchall() == [(0,)]
    assert connection.execute(sql, (count,)).fetchall() == [(0,), (1,)][: int(count)]  # type: ignore[call-overload]
    assert connection.execute(sql, (3,)).fetchall() == [(0,), (1,), (2,)]
    assert len(connection.execute(sql, (None,)).fetchall()) == 100


def test_a_wrong_number_of_rows_is_an_error_each_time(connection: pykudu_sql.Connection) -> None:
    sql = "SELECT id FROM t LIMIT ?"
    connection.execute(sql, (1,))
    for _ in range(2):
        with pytest.raises(DataError, match="negative"):
            connection.execute(sql, (-1,))
        with pytest.raises(InterfaceError, match=r"takes 1 parameter\(s\), 0 were given"):
            connection.execute(sql)
        with pytest.raises(InterfaceError, match=r"takes 1 parameter\(s\), 2 were given"):
            connection.execute(sql, (1, 2))


def test_a_number_of_rows_decides_what_is_read(connection: pykudu_sql.Connection) -> None:
    plan = connection.execute("EXPLAIN SELECT id, n FROM t ORDER BY id LIMIT ?", (5,)).fetchall()
    assert "limit: 5" in [line.strip() for (line,) in plan]


def test_a_prepared_statement_takes_numbers_of_rows(connection: pykudu_sql.Connection) -> None:
    connection.execute("PREPARE newest AS SELECT id FROM t ORDER BY id DESC LIMIT ?")
    assert connection.execute("EXECUTE newest(2)").fetchall() == [(99,), (98,)]
    assert connection.execute("EXECUTE newest(1)").fetchall() == [(99,)]


def test_a_plan_for_numbers_of_rows_is_kept_for_these_alone(
    connection: pykudu_sql.Connection,
) -> None:
    store = connection._session._store
    catalog, settings = store.catalog, connection._session.settings
    cache = PlanCache(store.statements)
    plan, run = object(), lambda parameters: parameters
    for count in range(2 * MAX_STATEMENTS):
        prepared = PreparedStatement(
            plan,
            run,
            1,
            catalog,
            settings,
            "text",
            RunCounts(),
            (0,),  # type: ignore[arg-type]
        )
        cache.keep("text", prepared, (count,))
    assert cache.find("text", catalog, settings) is None
    assert cache.find_for("text", (2 * MAX_STATEMENTS - 1,), catalog, settings) is prepared
    assert cache.find_for("text", (0,), catalog, settings) is None  # the oldest have left
    for other in [(True,), ("1",), (None,), ()]:
        assert cache.find_for("text", other, catalog, settings) is None
    assert cache.find_for("another", (5,), catalog, settings) is None
    cache.close()
