"""PEP 249, clause by clause."""

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

import pytest

import pykudu_sql
from pykudu_sql import Connection, Cursor

ERRORS = (
    "Warning",
    "Error",
    "InterfaceError",
    "DatabaseError",
    "DataError",
    "OperationalError",
    "IntegrityError",
    "InternalError",
    "ProgrammingError",
    "NotSupportedError",
)


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:") as connection:
        connection.execute(
            "CREATE TABLE beer (name VARCHAR(20) PRIMARY KEY, strength DECIMAL(4,1))"
        )
        yield connection


@pytest.fixture
def cursor(connection: Connection) -> Cursor:
    return connection.cursor()


def fill(cursor: Cursor, *names: str) -> None:
    cursor.executemany("INSERT INTO beer (name) VALUES (?)", [(name,) for name in names])


def test_the_module_states_its_level_its_thread_safety_and_its_parameter_style() -> None:
    assert pykudu_sql.apilevel == "2.0"
    assert pykudu_sql.threadsafety == 2
    assert pykudu_sql.paramstyle == "qmark"


def test_the_errors_form_the_tree_of_the_standard() -> None:
    assert issubclass(pykudu_sql.Warning, Exception)
    assert issubclass(pykudu_sql.Error, Exception)
    assert issubclass(pykudu_sql.InterfaceError, pykudu_sql.Error)
    assert issubclass(pykudu_sql.DatabaseError, pykudu_sql.Error)
    for name in ERRORS[4:]:
        assert issubclass(getattr(pykudu_sql, name), pykudu_sql.DatabaseError)


@pytest.mark.parametrize("name", ERRORS)
def test_the_errors_are_attributes_of_a_connection_too(connection: Connection, name: str) -> None:
    assert getattr(connection, name) is getattr(pykudu_sql, name)


def test_constructors_make_values_that_can_be_parameters(cursor: Cursor) -> None:
    cursor.execute("CREATE TABLE moments (d DATE, t TIMESTAMP, b BINARY, PRIMARY KEY (d))")
    day, time = pykudu_sql.Date(2026, 1, 31), pykudu_sql.Timestamp(2026, 1, 31, 12, 30, 15)
    row = (day, time, pykudu_sql.Binary(b"\x00\xff"))
    cursor.execute("INSERT INTO moments VALUES (?, ?, ?)", row)
    assert cursor.execute("SELECT * FROM moments").fetchall() == [row]
    assert pykudu_sql.DateFromTicks(0) == dt.date.fromtimestamp(0)
    assert pykudu_sql.TimestampFromTicks(0.5) == dt.datetime.fromtimestamp(0.5)
    assert pykudu_sql.TimeFromTicks(0) == dt.datetime.fromtimestamp(0).time()
    assert pykudu_sql.Time(1, 2, 3) == dt.time(1, 2, 3)


def test_the_description_is_seven_items_a_column_with_a_type_code_of_its_group(
    cursor: Cursor,
) -> None:
    cursor.execute("SELECT name, strength, DATE '2026-01-31' AS d, x'00' AS b FROM beer")
    description = cursor.description
    assert description is not None
    assert [column[0] for column in description] == ["name", "strength", "d", "b"]
    assert all(len(column) == 7 for column in description)
    text, number, date, binary = (column[1] for column in description)
    assert text == pykudu_sql.STRING and text != pykudu_sql.NUMBER
    assert number == pykudu_sql.NUMBER and number == "DECIMAL(4,1)"
    assert description[1][4:6] == (4, 1)
    assert date == pykudu_sql.DATETIME
    assert binary == pykudu_sql.BINARY
    assert text != pykudu_sql.ROWID


@pytest.mark.parametrize("code", ["TINYINT", "BIGINT", "DOUBLE", "BOOLEAN", "DECIMAL(38,0)"])
def test_type_codes_of_numbers_equal_number(code: str) -> None:
    assert code == pykudu_sql.NUMBER
    assert code != pykudu_sql.STRING


def test_the_description_is_none_after_a_statement_without_rows(cursor: Cursor) -> None:
    assert cursor.description is None
    cursor.execute("SELECT 1")
    cursor.execute("CREATE TABLE other (a INT PRIMARY KEY)")
    assert cursor.description is None


def test_the_rowcount_tells_rows_changed_or_found_and_is_minus_one_where_it_means_nothing(
    cursor: Cursor,
) -> None:
    assert cursor.rowcount == -1
    cursor.execute("CREATE TABLE other (a INT PRIMARY KEY)")
    assert cursor.rowcount == -1
    cursor.execute("INSERT INTO beer (name) VALUES ('Victoria Bitter')")
    assert cursor.rowcount == 1
    cursor.execute("SELECT name FROM beer")
    assert cursor.rowcount == 1
    fill(cursor, "Redback", "Carlton")
    assert cursor.rowcount == 2
    cursor.execute("UPDATE beer SET strength = 4.9")
    assert cursor.rowcount == 3
    cursor.execute("UPDATE beer SET strength = 5 WHERE name = 'nobody''s'")
    assert cursor.rowcount == 0
    cursor.execute("DELETE FROM beer")
    assert cursor.rowcount == 3


def test_parameters_keep_quotes_percent_signs_and_nulls(cursor: Cursor) -> None:
    names = ["Cooper's", 'double "quotes"', "100% ? :name", "a\\b", "ünï"]
    fill(cursor, *names)
    cursor.execute("INSERT INTO beer VALUES (:name, :strength)", {"name": "none", "strength": None})
    cursor.execute("SELECT name FROM beer WHERE strength IS NULL")
    assert sorted(row[0] for row in cursor.fetchall()) == sorted([*names, "none"])
    for name in names:
        assert cursor.execute("SELECT name FROM beer WHERE name = ?", [name]).fetchone() == (name,)


def test_fetchone_gives_rows_in_turn_and_then_none(cursor: Cursor) -> None:
    fill(cursor, "a", "b")
    cursor.execute("SELECT name FROM beer ORDER BY name")
    assert [cursor.fetchone() for _ in range(4)] == [("a",), ("b",), None, None]


def test_fetchmany_gives_arraysize_rows_unless_told_and_an_empty_list_at_the_end(
    cursor: Cursor,
) -> None:
    fill(cursor, *"abcdef")
    cursor.execute("SELECT name FROM beer ORDER BY name")
    assert cursor.arraysize == 1
    assert cursor.fetchmany() == [("a",)]
    assert cursor.fetchmany(2) == [("b",), ("c",)]
    cursor.arraysize = 10
    assert cursor.fetchmany() == [("d",), ("e",), ("f",)]
    assert cursor.fetchmany() == []
    assert cursor.fetchall() == []
    with pytest.raises(pykudu_sql.ProgrammingError):
        cursor.fetchmany(-1)


def test_fetches_mix_and_iteration_takes_what_is_left(cursor: Cursor) -> None:
    fill(cursor, *"abcdef")
    cursor.execute("SELECT name FROM beer ORDER BY name")
    assert cursor.rownumber == 0
    assert cursor.fetchone() == ("a",)
    assert cursor.rownumber == 1
    assert next(cursor) == ("b",)
    assert [name for (name,) in cursor] == ["c", "d", "e", "f"]


def test_scroll_moves_within_the_result_only(cursor: Cursor) -> None:
    fill(cursor, *"abcdef")
    cursor.execute("SELECT name FROM beer ORDER BY name")
    cursor.scroll(4)
    assert cursor.fetchone() == ("e",)
    cursor.scroll(-5)
    assert cursor.fetchone() == ("a",)
    cursor.scroll(2, mode="absolute")
    assert cursor.fetchone() == ("c",)
    for value, mode in ((-4, "relative"), (7, "absolute"), (4, "relative")):
        with pytest.raises(IndexError):
            cursor.scroll(value, mode)
    assert cursor.fetchone() == ("d",)
    with pytest.raises(pykudu_sql.ProgrammingError):
        cursor.scroll(1, mode="sideways")


@pytest.mark.parametrize("fetch", ["fetchone", "fetchmany", "fetchall", "fetch_arrow_table"])
def test_fetching_without_rows_is_an_error(cursor: Cursor, fetch: str) -> None:
    with pytest.raises(pykudu_sql.Error):
        getattr(cursor, fetch)()
    cursor.execute("INSERT INTO beer (name) VALUES ('x')")
    with pytest.raises(pykudu_sql.Error):
        getattr(cursor, fetch)()
    cursor.execute("SELECT 1")
    with pytest.raises(pykudu_sql.Error):
        cursor.execute("SELECT nonsense")
    with pytest.raises(pykudu_sql.Error):
        getattr(cursor, fetch)()


def test_cursors_of_a_connection_see_each_others_uncommitted_rows(connection: Connection) -> None:
    first, second = connection.cursor(), connection.cursor()
    fill(first, "seen")
    assert second.execute("SELECT name FROM beer").fetchall() == [("seen",)]


def test_input_and_output_sizes_are_taken_and_ignored(cursor: Cursor) -> None:
    cursor.setinputsizes([25])
    cursor.setoutputsize(1000)
    cursor.setoutputsize(2000, 0)
    fill(cursor, "still works")
    assert cursor.execute("SELECT name FROM beer").fetchall() == [("still works",)]


def test_a_statement_has_one_result_set(cursor: Cursor) -> None:
    cursor.execute("SELECT 1")
    cursor.nextset()
    assert cursor.fetchone() == (1,)


def test_a_closed_connection_refuses_everything_but_closing() -> None:
    connection = pykudu_sql.connect(":memory:")
    cursor = connection.cursor()
    filled = connection.execute("SELECT 1")
    connection.close()
    connection.close()
    for call in (
        filled.fetchone,
        filled.fetchall,
        filled.fetch_arrow_table,
        lambda: filled.scroll(0, "absolute"),
        connection.commit,
        connection.rollback,
        connection.cursor,
        lambda: connection.execute("SELECT 1"),
        lambda: cursor.execute("SELECT 1"),
        lambda: connection.append("t", {}),
        lambda: connection.list_tables(),
    ):
        with pytest.raises(pykudu_sql.InterfaceError, match="closed"):
            call()


def test_a_closed_cursor_refuses_everything_but_closing(cursor: Cursor) -> None:
    cursor.execute("SELECT 1")
    cursor.close()
    cursor.close()
    for call in (cursor.fetchall, lambda: cursor.execute("SELECT 1")):
        with pytest.raises(pykudu_sql.InterfaceError, match="closed"):
            call()


def test_leaving_a_block_closes_without_a_word_and_commits_unless_it_raised(
    tmp_path: object,
) -> None:
    path = f"{tmp_path}/db"
    with pykudu_sql.connect(path) as connection:
        connection.execute("CREATE TABLE t (a INT PRIMARY KEY)")
        connection.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(ZeroDivisionError), pykudu_sql.connect(path) as connection:
        connection.execute("INSERT INTO t VALUES (2)")
        raise ZeroDivisionError
    with pykudu_sql.connect(path) as connection, connection.cursor() as cursor:
        assert cursor.execute("SELECT a FROM t").fetchall() == [(1,)]
        assert cursor.connection is connection
        connection.close()


def test_rollback_and_commit_without_a_transaction_do_nothing(connection: Connection) -> None:
    connection.rollback()
    connection.commit()
    connection.rollback()


def test_values_come_back_as_the_types_of_python(cursor: Cursor) -> None:
    cursor.execute(
        "CREATE TABLE kinds (i BIGINT PRIMARY KEY, b BOOLEAN, f DOUBLE, d DECIMAL(20,3), s STRING,"
        " y BINARY, a DATE, t TIMESTAMP)"
    )
    row = (
        1 << 40,
        True,
        0.1,
        Decimal("12345678901234567.890"),
        "text",
        b"\x00",
        dt.date(9999, 12, 31),
        dt.datetime(1, 1, 1, 0, 0, 0, 1),
    )
    cursor.execute("INSERT INTO kinds VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    cursor.execute("INSERT INTO kinds (i) VALUES (2)")
    empty = (2, *([None] * 7))
    by_key = "SELECT * FROM kinds WHERE i = ?"
    for found in (
        cursor.execute("SELECT * FROM kinds ORDER BY i").fetchall(),
        [cursor.execute(by_key, (i,)).fetchone() for i in (1 << 40, 2)][::-1],
    ):
        assert found == [empty, row]
        assert found[1] is not None
        assert [type(value) for value in found[1]] == [type(value) for value in row]


def test_wide_sums_are_integers(cursor: Cursor) -> None:
    cursor.execute("CREATE TABLE n (a BIGINT PRIMARY KEY)")
    cursor.executemany("INSERT INTO n VALUES (?)", [((1 << 63) - 1,), ((1 << 63) - 2,)])
    (total,) = cursor.execute("SELECT sum(a) FROM n").fetchone() or (None,)
    assert total == (1 << 64) - 3
    assert type(total) is int


def test_columns_are_listed_of_the_table_that_the_session_means() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (a INT PRIMARY KEY)")
        connection.execute("CREATE DATABASE d")
        connection.execute("USE d")
        connection.execute("CREATE TABLE t (b INT PRIMARY KEY)")
        assert connection.list_columns("t") == ["b"]
        assert connection.list_columns("default.t") == ["a"]


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_a_path_that_cannot_be_is_refused_as_any_other(path: str) -> None:
    with pytest.raises(pykudu_sql.OperationalError, match="a path is not empty and has no NUL"):
        pykudu_sql.connect(path)


def test_a_column_has_one_type_however_its_rows_are_read() -> None:
    with pykudu_sql.connect(autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k VARCHAR(4) PRIMARY KEY, v VARCHAR(9), n INT)")

        def types(sql: str) -> list[str]:
            return [str(column[1]) for column in connection.execute(sql).description or ()]

        expected = ["STRING", "STRING", "INT"]
        for ways in (
            "INSERT INTO t VALUES ('a', 'b', 1) RETURNING *",
            "SELECT * FROM t WHERE k = 'a'",
            "SELECT * FROM t WHERE k = 'a' AND v > 'a'",
            "SELECT * FROM t",
            "SELECT * FROM t ORDER BY n LIMIT 1",
            "SELECT max(k), min(v), max(n) FROM t",
            "SELECT k, v || '', n FROM t",
            "SELECT 'a', 'b', 1",
            "UPDATE t SET n = 2 WHERE k = 'a' RETURNING *",
            "UPDATE t SET n = 3 WHERE v = 'b' RETURNING *",
            "DELETE FROM t WHERE k = 'a' RETURNING *",
        ):
            assert types(ways) == expected, ways
