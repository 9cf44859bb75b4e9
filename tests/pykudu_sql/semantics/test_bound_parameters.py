"""Parameters in places where the plan depends on their values: each run is planned with its own."""

import datetime as dt
import time
from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pytest

import pykudu_sql
from pykudu_sql import Connection


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as made:
        made.execute("CREATE TABLE t (k INT PRIMARY KEY, v STRING)")
        made.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
        yield made


def keys(connection: Connection, condition: str, parameters: object) -> list[int]:
    query = f"SELECT k FROM t WHERE {condition} ORDER BY k"
    return [k for (k,) in connection.execute(query, parameters).fetchall()]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("condition", "parameters", "found"),
    [
        ("k IN (?)", ([1, 3],), [1, 3]),
        ("k IN ?", ((2,),), [2]),
        ("k NOT IN (?)", ([1, 3],), [2]),
        ("k IN (?, ?)", (2, [3]), [2, 3]),
        ("k IN (?)", ([],), []),
        ("k NOT IN (?)", ([],), [1, 2, 3]),
        ("k NOT IN (?)", ([1, None],), []),
        ("k IN (?) AND v = ?", ([1, 2], "b"), [2]),
        ("v IN (:names)", {"names": ["a", "nope"]}, [1]),
        ("k = ANY(?)", ([1, 2],), [1, 2]),
        ("k = SOME(?)", ([1, 2],), [1, 2]),
        ("k <> ALL(?)", ([1, 2],), [3]),
        ("k <> ALL(?)", ([],), [1, 2, 3]),
        ("k > ALL(?)", ([1, 2],), [3]),
        ("k = ALL(?)", ([2, 2],), [2]),
        ("NOT k = ANY(?)", ([1, None],), []),
        ("(k, v) IN (?)", ([(1, "a"), (2, "x")],), [1]),
        ("(k, v) IN (?)", ([],), []),
        ("(k, v) IN (?, ?)", ((1, "a"), (2, "b")), [1, 2]),
        ("(k, v) NOT IN (?)", ([(1, "a"), (2, "x")],), [2, 3]),
        ("(k, v) IN (?)", ([(each, "b") for each in range(1500)],), [2]),
        ("(k, v) = ?", ((1, "a"),), [1]),
        ("(k, v) = ANY(?)", ([(1, "a"), (2, "x")],), [1]),
        ("(k, v) <> ALL(?)", ([(1, "a"), (2, "x")],), [2, 3]),
        ("row(k, v) IN (?)", ([(1, "a")],), [1]),
        ("(k, v) BETWEEN ? AND ?", ((1, "b"), (2, "c")), [2]),
        ("k = ANY(?)", (list(range(2, 5000)),), [2, 3]),
        ("? < (k, v)", ((1, "a"),), [2, 3]),
        ("k IN (?)", (np.arange(2, 5000),), [2, 3]),
        ("v IN (?)", ([*map(str, range(2000)), "c"],), [3]),
        ("k IN (?)", ([1.0, 2.5],), [1]),
        ("k IN (?)", (2,), [2]),
    ],
)
def test_a_list_is_taken_by_in(
    connection: Connection, condition: str, parameters: object, found: list[int]
) -> None:
    assert keys(connection, condition, parameters) == found


def test_one_text_is_run_with_lists_of_any_length_and_with_none(connection: Connection) -> None:
    for values, found in (([1, 2], [1, 2]), (3, [3]), ([], []), ([3], [3]), (1, [1])):
        assert keys(connection, "k IN (?)", (values,)) == found


@pytest.mark.parametrize("condition", ["k IN (?)", "k = ANY(?)"])
def test_a_list_prunes_as_the_values_do(connection: Connection, condition: str) -> None:
    plan = connection.execute(f"EXPLAIN SELECT v FROM t WHERE {condition}", ([7],)).fetchall()
    assert "pushed: k = 7" in str(plan)


def test_views_and_checks_list_values_too(connection: Connection) -> None:
    connection.execute("CREATE VIEW w AS SELECT k FROM t WHERE k <> ALL([1]) AND k = ANY([1, 3])")
    assert connection.execute("SELECT * FROM w").fetchall() == [(3,)]
    assert "pushed: k IN (1, 3)" in str(connection.execute("EXPLAIN SELECT * FROM w").fetchall())
    connection.execute(
        "CREATE TABLE c (k INT PRIMARY KEY CHECK (k = ANY([1, 2]) AND k <> ALL([2])))"
    )
    connection.execute("INSERT INTO c VALUES (1)")
    with pytest.raises(pykudu_sql.IntegrityError, match="violates CHECK"):
        connection.execute("INSERT INTO c VALUES (2)")


def test_all_of_a_list_is_headed_as_it_is_written(connection: Connection) -> None:
    cursor = connection.execute("SELECT 3 <> ALL (?), 3 = any([3])", ([1],))
    assert [each[0] for each in cursor.description or ()] == ["3 <> ALL (?)", "3 = any([3])"]
    assert cursor.fetchall() == [(True, True)]


@pytest.mark.parametrize("condition", ["k = ANY(?)", "(k, v) IN (?)"])
def test_execute_passes_lists_on(connection: Connection, condition: str) -> None:
    connection.execute(f"PREPARE p AS SELECT v FROM t WHERE {condition}")
    values = [1, 7] if "ANY" in condition else [(1, "a"), (2, "x")]
    assert connection.execute("EXECUTE p(?)", (values,)).fetchall() == [("a",)]


def test_any_of_what_is_no_list_says_so(connection: Connection) -> None:
    with pytest.raises(pykudu_sql.ProgrammingError, match="a list is expected, not INT") as e:
        connection.execute("SELECT k FROM t WHERE k = ANY(?)", (3,))
    assert e.value.hint == "write [1, 2], a list as a parameter, or a subquery"


def test_statements_that_write_take_lists(connection: Connection) -> None:
    assert connection.execute("UPDATE t SET v = 'z' WHERE k IN (?)", ([1, 2],)).rowcount == 2
    assert connection.execute("DELETE FROM t WHERE v IN (?)", (["z"],)).rowcount == 2
    connection.execute("PREPARE p AS DELETE FROM t WHERE k IN ($1)")
    assert connection.execute("EXECUTE p([3, 4])").rowcount == 1


def test_a_list_elsewhere_is_an_array(connection: Connection) -> None:
    row = connection.execute("SELECT len(?), list_sum(?), ?", ([1, 2], [3, 4], "x")).fetchone()
    assert row == (2, 7, "x")


def test_moments_may_be_parameters(connection: Connection) -> None:
    before = dt.datetime.fromtimestamp(time.time_ns() / 1e9, dt.UTC)
    connection.execute("DELETE FROM t WHERE k = 1")
    after = dt.datetime.fromtimestamp(time.time_ns() / 1e9, dt.UTC)
    count = "SELECT count(*) FROM t FOR SYSTEM_TIME AS OF ?"
    assert connection.execute(count, (before,)).fetchall() == [(3,)]
    assert connection.execute(count, (after,)).fetchall() == [(2,)]
    changes = "SELECT k, _change_type FROM CHANGES(t, :a, :b) WHERE k < :k"
    values = {"a": before, "b": after, "k": 9}
    assert connection.execute(changes, values).fetchall() == [(1, "delete")]
    versions = "SELECT count(*) FROM t FOR SYSTEM_TIME FROM ? TO ?"
    assert connection.execute(versions, (before, after)).fetchall() == [(3,)]
    connection.execute("SET as_of = ?", (before,))
    assert connection.execute("SELECT count(*) FROM t").fetchall() == [(3,)]
    connection.execute("RESET as_of")
    connection.execute("RESTORE TABLE t TO ?", (before,))
    assert connection.execute("SELECT count(*) FROM t").fetchall() == [(3,)]


def test_definitions_take_parameters(connection: Connection) -> None:
    connection.execute(
        "CREATE TABLE r (d DATE PRIMARY KEY, v INT DEFAULT ?) "
        "PARTITION BY RANGE (d) (PARTITION ? <= VALUES < ?)",
        (7, dt.date(2024, 1, 1), "2024-02-01"),
    )
    connection.execute("ALTER TABLE r ADD COLUMN w STRING DEFAULT :w", {"w": "it's"})
    add = "ALTER TABLE r ADD RANGE PARTITION ? <= VALUES < ?"
    connection.execute(add, (dt.date(2024, 2, 1), dt.date(2024, 3, 1)))
    connection.execute("INSERT INTO r (d) VALUES ('2024-02-05')")
    assert connection.execute("SELECT v, w FROM r").fetchall() == [(7, "it's")]
    query = "CREATE TABLE c PRIMARY KEY (a) AS SELECT k + ? AS a, ? AS b FROM t WHERE v IN (?)"
    connection.execute(query, (10, "x", ["a", "b"]))
    assert connection.execute("FROM c ORDER BY a").fetchall() == [(11, "x"), (12, "x")]


@pytest.mark.parametrize(
    ("statement", "parameters", "sqlstate"),
    [
        ("SELECT * FROM t AS OF ?", (), "0A000"),
        ("SELECT * FROM t AS OF ?", ("nope",), "22018"),
        ("SELECT k FROM t WHERE k IN (?)", ([object()],), "07006"),
        ("SELECT k FROM t WHERE k IN (?)", ([1], [2]), "07001"),
        ("CREATE TABLE c (k INT PRIMARY KEY, v INT DEFAULT ?)", (1, 2), "07001"),
        ("CREATE TABLE c (k INT PRIMARY KEY, v INT DEFAULT ?)", ("x",), "22018"),
        ("CREATE VIEW w AS SELECT * FROM t WHERE k IN (?)", ([1],), "0A000"),
        ("PREPARE p AS SELECT * FROM t AS OF $1", (), "0A000"),
        ("SELECT * FROM t WHERE k IN (?) AND v = :v", ([1],), "07001"),
    ],
)
def test_what_does_not_fit_is_refused(
    connection: Connection, statement: str, parameters: tuple[object, ...], sqlstate: str
) -> None:
    with pytest.raises(pykudu_sql.Error) as failed:
        connection.execute(statement, parameters)
    assert failed.value.sqlstate == sqlstate
    assert connection.execute("SELECT count(*) FROM t").fetchall() == [(3,)]


@pytest.mark.parametrize(
    ("kind", "bounds", "values", "shown"),
    [
        ("INT", "? * 10 <= VALUES < ? + 20", (1, 5), "10 <= VALUES < 25"),
        ("INT", "VALUE = :a * 100 + :a", {"a": 3}, "VALUE = 303"),
        (
            "DATE",
            "? <= VALUES < ? + INTERVAL 1 MONTH",
            (dt.date(2026, 1, 1), dt.date(2026, 1, 1)),
            "'2026-01-01' <= VALUES < '2026-02-01'",
        ),
    ],
)
def test_a_bound_is_computed_from_parameters(
    kind: str, bounds: str, values: object, shown: str
) -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute(
            f"CREATE TABLE r (k {kind} PRIMARY KEY) PARTITION BY RANGE (k) (PARTITION {bounds})",
            values,  # type: ignore[arg-type]
        )
        assert connection.execute("SHOW RANGE PARTITIONS r").fetchall() == [(shown,)]
        alter = f"ALTER TABLE r DROP RANGE PARTITION {bounds}"
        connection.execute(alter, values)  # type: ignore[arg-type]
        assert connection.execute("SHOW RANGE PARTITIONS r").fetchall() == []


def test_a_default_is_computed_from_parameters() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE r (k INT PRIMARY KEY, v INT DEFAULT ? + 1)", (4,))
        connection.execute("INSERT INTO r (k) VALUES (1)")
        assert connection.execute("SELECT v FROM r").fetchall() == [(5,)]


@pytest.mark.parametrize("computed", ["n + 0", "abs(n)", "coalesce(n, 2)", "s.n"])
@pytest.mark.parametrize(
    ("condition", "expected"),
    [("{} = ?", False), ("{} > ?", True), ("{} IN (?, 3)", False), ("({0}, {0}) = (1, ?)", False)],
)
def test_a_computed_integer_is_compared_with_a_decimal_of_any_digits(
    connection: Connection, computed: str, condition: str, expected: bool
) -> None:
    query = f"SELECT {condition.format(computed)} FROM (VALUES (1)) AS s(n)"
    cursor = connection.execute(query, (Decimal("-1E-38"),))
    assert cursor.fetchall() == [(expected,)]
