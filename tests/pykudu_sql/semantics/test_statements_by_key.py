"""UPDATE and DELETE of one row by its key that look at the row: the same as by the engine."""

import datetime as dt
import itertools
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql import Connection, Error

DDL = """CREATE TABLE {} (
    id BIGINT PRIMARY KEY, tiny TINYINT, n INT, big BIGINT NOT NULL, price DECIMAL(6, 2), x DOUBLE,
    s STRING, word VARCHAR(3), flag BOOLEAN, at TIMESTAMP, day DATE
)"""
ROWS: Sequence[tuple[Any, ...]] = (
    (127, 1, 5, Decimal("1.25"), 0.5, "a", "abc", True, dt.datetime(2026, 1, 31, 12), None),
    (-128, (1 << 31) - 1, (1 << 63) - 1, Decimal("9999.99"), 1e308, "", "", False, None, None),
    (None, None, 0, None, math.nan, None, None, None, None, dt.date(2026, 1, 31)),
)
STATEMENTS: Sequence[tuple[str, tuple[Any, ...]]] = (
    ("UPDATE t SET n = n + 1 WHERE {key}", ()),
    ("UPDATE t SET tiny = tiny + ? WHERE {key}", (1,)),
    ("UPDATE t SET tiny = tiny + ? WHERE {key}", (1000,)),
    ("UPDATE t SET tiny = n * ? - 3 WHERE {key}", (4,)),
    ("UPDATE t SET big = big + ? WHERE {key}", ("1",)),
    ("UPDATE t SET big = n WHERE {key}", ()),
    ("UPDATE t SET big = coalesce(n, 0) + big WHERE {key}", ()),
    ("UPDATE t SET price = price + 0.75, n = 3 WHERE {key}", ()),
    ("UPDATE t SET price = price - ? WHERE {key} RETURNING price, s", (Decimal("0.005"),)),
    ("UPDATE t SET price = price - ? WHERE {key} RETURNING price, s", (1.25,)),
    ("UPDATE t SET x = x * 2 - ? WHERE {key}", (0.1,)),
    ("UPDATE t SET x = x + 10 WHERE {key} RETURNING *", ()),
    ("UPDATE t SET x = x * -0.0 WHERE {key}", ()),
    ("UPDATE t SET s = s || ?, flag = NOT flag WHERE {key} RETURNING flag AS f, t.s", ("\0é",)),
    ("UPDATE t SET s = word, word = 'xyz' WHERE {key}", ()),
    ("UPDATE t SET at = NULL WHERE {key} AND at > ?", (dt.datetime(2020, 1, 1),)),
    ("UPDATE t SET s = 'b' WHERE {key} AND n = ? AND NOT flag", ((1 << 31) - 1,)),
    ("UPDATE t SET s = 'b' WHERE {key} AND (n = ? OR s IS NULL)", (1.5,)),
    ("UPDATE t SET s = 'b' WHERE {key} AND x = ?", (math.nan,)),
    ("UPDATE t SET s = 'b' WHERE {key} AND price IN (?, 9999.99)", (Decimal("1.250"),)),
    ("DELETE FROM t WHERE {key} AND s >= ?", ("a",)),
    ("DELETE FROM t WHERE {key} AND tiny BETWEEN ? AND 127 RETURNING id, day", (0,)),
    ("DELETE FROM t WHERE {key} RETURNING *", ()),
    ("SELECT word, day FROM t WHERE {key} AND price > ?", (1,)),
    ("SELECT * FROM t WHERE {key} AND flag", ()),
)


def outcome(connection: Connection, sql: str, parameters: tuple[Any, ...]) -> tuple[Any, ...]:
    try:
        cursor = connection.execute(sql, parameters)
    except Error as error:
        return type(error), error.sqlstate, error.message
    return cursor.rowcount, repr(cursor.fetchall() if cursor.description else None)


@pytest.mark.parametrize(("sql", "parameters"), STATEMENTS)
def test_a_row_by_its_key_is_treated_as_the_engine_treats_it(
    sql: str, parameters: tuple[Any, ...]
) -> None:
    outcomes: list[list[tuple[Any, ...]]] = []
    for key in ("id = 1", "id + 0 = 1"):
        with pykudu_sql.connect(autocommit=True) as connection:
            connection.execute(DDL.format("t"))
            done = []
            for row in ROWS:
                connection.execute(f"UPSERT INTO t VALUES (1{', ?' * len(row)})", row)
                done.append(outcome(connection, sql.format(key=key), parameters))
                done.append(outcome(connection, "SELECT * FROM t", ()))
            outcomes.append(done)
    assert outcomes[0] == outcomes[1]


@pytest.fixture
def counters() -> Iterator[Connection]:
    with pykudu_sql.connect(autocommit=True) as connection:
        connection.execute("CREATE TABLE counters (name STRING PRIMARY KEY, n INT CHECK (n < 100))")
        connection.execute("INSERT INTO counters VALUES ('a', 1), ('b', NULL)")
        yield connection


def test_no_row_of_the_key_is_no_row_changed(counters: Connection) -> None:
    for name in ("c", None):
        changed = counters.execute("UPDATE counters SET n = n + 1 WHERE name = ?", (name,))
        assert changed.rowcount == 0
    deleted = counters.execute("DELETE FROM counters WHERE name = 'c' RETURNING n")
    assert deleted.fetchall() == []


def test_a_transaction_reads_what_it_wrote_itself(counters: Connection) -> None:
    counters.execute("BEGIN")
    for _ in range(3):
        counters.execute("UPDATE counters SET n = n + 1 WHERE name = 'a'")
    returned = counters.execute("UPDATE counters SET n = n + n WHERE name = 'a' RETURNING n")
    assert returned.fetchall() == [(8,)]
    counters.execute("ROLLBACK")
    assert counters.execute("SELECT n FROM counters WHERE name = 'a'").fetchall() == [(1,)]


def test_constraints_hold_for_what_is_computed(counters: Connection) -> None:
    with pytest.raises(Error, match="violates CHECK") as caught:
        counters.execute("UPDATE counters SET n = n + 99 WHERE name = 'a'")
    assert caught.value.sqlstate == "23514"
    assert counters.execute("SELECT n FROM counters WHERE name = 'a'").fetchall() == [(1,)]


def test_many_sets_of_parameters_are_all_or_nothing(counters: Connection) -> None:
    cursor = counters.cursor()
    add = "UPDATE counters SET n = coalesce(n, 0) + ? WHERE name = ?"
    cursor.executemany(add, [(5, "a"), (6, "b"), (7, "c"), (8, "a")])
    assert cursor.rowcount == 3
    with pytest.raises(Error, match="violates CHECK"):
        cursor.executemany(add, [(1, "a"), (1, "b"), (99, "b")])
    cursor.executemany(add, [(1, "a"), (2.0, "b")])  # a double: by the engine, both of them
    rows = counters.execute("SELECT * FROM counters ORDER BY name").fetchall()
    assert rows == [("a", 15), ("b", 8)]


def test_rows_that_fail_are_collected_by_the_engine(counters: Connection) -> None:
    counters.execute("SET row_errors = 'collect'")
    cursor = counters.execute("UPDATE counters SET n = n + 99 WHERE name = 'a'")
    assert cursor.rowcount == 0
    assert len(counters.execute("SHOW ROW ERRORS").fetchall()) == 1


def in_threads(work: Callable[[], None]) -> None:
    """Do a work in four threads at once."""
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_increments_of_several_threads_all_count(tmp_path: Path) -> None:
    with pykudu_sql.connect(tmp_path, autocommit=True) as connection:
        connection.execute("CREATE TABLE c (id INT PRIMARY KEY, n INT)")
        connection.execute("INSERT INTO c VALUES (1, 0)")

        def count() -> None:
            with pykudu_sql.connect(tmp_path, autocommit=True) as mine:
                for _ in range(50):
                    mine.execute("UPDATE c SET n = n + 1 WHERE id = 1")

        in_threads(count)
        assert connection.execute("SELECT n FROM c WHERE id = 1").fetchall() == [(200,)]


UPSERTS: Sequence[tuple[str, tuple[Any, ...]]] = (
    ("big = t.big + excluded.big", ()),
    ("big = t.big * ? - n", (2,)),
    ("tiny = tiny + ?, s = s || excluded.s RETURNING tiny, s", (1,)),
    ("price = excluded.price - price, flag = NOT excluded.flag RETURNING *", ()),
    ("n = coalesce(t.n, excluded.n, ?) WHERE excluded.s <> t.s", (3,)),
    ("n = 3 WHERE excluded.at > t.at", ()),
    ("n = excluded.tiny WHERE t.x < excluded.x AND t.big >= ?", (0,)),
    ("s = 'é', word = excluded.word WHERE t.word = excluded.word", ()),
    ("x = t.x + excluded.x RETURNING id, x AS sum", ()),
)


@pytest.mark.parametrize(("update", "parameters"), UPSERTS)
@pytest.mark.parametrize("is_there", [True, False])
def test_an_insert_of_a_row_is_treated_as_one_of_several(
    update: str, parameters: tuple[Any, ...], is_there: bool
) -> None:
    outcomes: list[list[tuple[Any, ...]]] = []
    # With a second row, of another key, the statement is the engine's.
    for other in ("", ", (2" + ", NULL" * 2 + ", 0" + ", NULL" * 7 + ")"):
        with pykudu_sql.connect(autocommit=True) as connection:
            connection.execute(DDL.format("t"))
            done = []
            for row, proposed in itertools.product(ROWS, ROWS):
                connection.execute("DELETE FROM t")
                if is_there:
                    connection.execute(f"INSERT INTO t VALUES (1{', ?' * len(row)})", row)
                rows = f"(1{', ?' * len(row)}){other}"
                sql = f"INSERT INTO t VALUES {rows} ON CONFLICT (id) DO UPDATE SET {update}"
                count, *shown = outcome(connection, sql, (*proposed, *parameters))
                if isinstance(count, int) and other:
                    count -= 1
                if shown[0] == "None" or not isinstance(count, int):
                    done.append((count, *shown))
                done.append(outcome(connection, "SELECT * FROM t WHERE id < 2", ()))
            outcomes.append(done)
    assert outcomes[0] == outcomes[1]


def test_a_numbered_row_is_shown_with_its_number() -> None:
    with pykudu_sql.connect(autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE notes (id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, s STRING, "
            "n INT DEFAULT 7)"
        )
        insert = "INSERT INTO notes (s) VALUES (?) RETURNING id, n"
        shown = [connection.execute(insert, (text,)).fetchall() for text in "ab"]
        assert shown == [[(1, 7)], [(2, 7)]]
        cursor = connection.cursor()
        cursor.executemany(insert, [("c",), ("d",)])
        assert cursor.rowcount == 2
        assert connection.execute("SELECT max(id) FROM notes").fetchall() == [(4,)]


def test_counting_upserts_of_several_threads_all_count(tmp_path: Path) -> None:
    add = "INSERT INTO c VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET n = c.n + excluded.n"
    with pykudu_sql.connect(tmp_path, autocommit=True) as connection:
        connection.execute("CREATE TABLE c (id INT PRIMARY KEY, n INT)")

        def count() -> None:
            with pykudu_sql.connect(tmp_path, autocommit=True) as mine:
                for number in range(50):
                    mine.execute(add, (number % 2,))

        in_threads(count)
        assert connection.execute("SELECT * FROM c ORDER BY id").fetchall() == [(0, 100), (1, 100)]
