"""Rows that a scan hands on are those, with the types, that the engine makes of them."""

import datetime as dt
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

import pykudu_sql
from pykudu_sql.executor.cancellation import Cancellation
from pykudu_sql.executor.reading import queries, scanned_rows
from pykudu_sql.storage.errors import Error, InterfaceError, QueryCancelledError

DDL = """CREATE TABLE kinds (
    k BIGINT, w STRING, a INT, b SMALLINT, c TINYINT, s STRING, v VARCHAR(3), f BOOLEAN, d DATE,
    t TIMESTAMP, m DECIMAL(5,2), n DECIMAL(15,2), o DECIMAL(38,4), x DOUBLE, y FLOAT, z BINARY,
    PRIMARY KEY (k, w)
) PARTITION BY HASH (w) PARTITIONS 3"""
COLUMNS = ["k", "w", "a", "b", "c", "s", "v", "f", "d", "t", "m", "n", "o", "x", "y", "z"]
DAY, MOMENT = dt.date(2020, 2, 29), dt.datetime(2020, 2, 29, 12, 0, 0, 5)
WORDS = ["", "a", "ab", "b", "ä", "z\0", "€"]


def row(pick: Random, key: int) -> tuple[Any, ...]:
    """A row with few different values, and some NULLs."""
    number = pick.randint(-3, 3)
    values: list[Any] = [
        number, number, number, pick.choice(WORDS), pick.choice(WORDS), number > 0,
        DAY + dt.timedelta(number), MOMENT + dt.timedelta(microseconds=number),
        number, number, number, number / 2, number / 4, bytes([number & 255]),
    ]  # fmt: skip
    values = [None if pick.random() < 0.15 else value for value in values]
    return (key, pick.choice(WORDS), *values)


def value_of(pick: Random, column: str) -> tuple[str, Any]:
    """A value for a column, as a literal and as a parameter."""
    number = pick.randint(-4, 4)
    if column in "sv" or column == "w":
        word = pick.choice([*WORDS, "abcd"])
        return f"'{word}'", word
    if column == "d":
        day = DAY + dt.timedelta(number)
        return f"{pick.choice(['', 'DATE '])}'{day}'", pick.choice([day, str(day)])
    if column == "t":
        moment = MOMENT + dt.timedelta(microseconds=number)
        return f"{pick.choice(['', 'TIMESTAMP '])}'{moment}'", pick.choice([moment, str(moment)])
    if column == "f":
        return ("TRUE", True) if number > 0 else ("FALSE", False)
    number = pick.choice([number, number, 200, -(10**10)])
    return str(number), number


class Conditions:
    """Draws conditions that a scan decides; `values` are those of their parameters."""

    def __init__(self, pick: Random) -> None:
        self._pick = pick
        self.values: list[Any] = []

    def draw(self, depth: int = 2) -> str:
        pick = self._pick
        if depth and pick.random() < 0.6:
            word = pick.choice([" AND ", " OR "])
            return f"({word.join(self.draw(depth - 1) for _ in range(pick.randint(2, 3)))})"
        column = pick.choice("kwabcsvfdt")
        match pick.randint(0, 5):
            case 0:
                return f"{column} IS {pick.choice(['', 'NOT '])}NULL"
            case 1:
                listed = ", ".join(self._value(column) for _ in range(pick.randint(1, 4)))
                return f"{column} IN ({listed})"
            case 2:
                return f"{column} BETWEEN {self._value(column)} AND {self._value(column)}"
            case 3 if column == "f":
                return pick.choice(["f", "f IS NULL"])
            case 3:
                return f"{self._value(column)} {pick.choice(['<', '<=', '='])} {column}"
            case _:
                return f"{column} {pick.choice(['<', '<=', '=', '>', '>='])} {self._value(column)}"

    def _value(self, column: str) -> str:
        literal, value = value_of(self._pick, column)
        if self._pick.random() < 0.05:
            literal, value = "NULL", None
        if self._pick.random() < 0.4:
            self.values.append(value)
            return "?"
        return literal


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pykudu_sql.Connection]:
    """Rows on disk, changed and deleted since, newer ones in memory, and those of a transaction."""
    pick = Random(5)
    path = tmp_path_factory.mktemp("kinds") / "db"
    with pykudu_sql.connect(
        str(path), autocommit=True, durability="off", maintenance=False
    ) as opened:
        opened.execute(DDL)
        marks = ", ".join("?" * len(COLUMNS))
        insert = f"UPSERT INTO kinds VALUES ({marks})"
        opened.executemany(insert, [row(pick, key % 60) for key in range(120)])
        opened.execute("FLUSH TABLE kinds")
        opened.executemany(insert, [row(pick, key % 90) for key in range(80)])
        opened.execute("DELETE FROM kinds WHERE k % 7 = 3")
        opened.execute("FLUSH TABLE kinds")
        opened.executemany(insert, [row(pick, key % 120) for key in range(70)])
        opened.execute("UPDATE kinds SET a = a + 1, s = 'own' WHERE k % 11 = 2")
        yield opened


def handed_on(
    connection: pykudu_sql.Connection, sql: str, values: Sequence[Any] = ()
) -> pykudu_sql.Cursor:
    """A query that must do without the engine."""
    with patch.object(queries, "_computed_rows", side_effect=AssertionError(sql)):
        return connection.execute(sql, tuple(values))


def needs_engine(connection: pykudu_sql.Connection, sql: str, values: Sequence[Any] = ()) -> bool:
    """Whether a query is left to the engine."""
    with patch.object(queries, "_computed_rows", wraps=queries._computed_rows) as computed:
        connection.execute(sql, tuple(values))
    return computed.called


def by_engine(
    connection: pykudu_sql.Connection, sql: str, values: Sequence[Any] = ()
) -> pykudu_sql.Cursor:
    """The same query by the engine."""
    with patch.object(queries, "scanned_rows", return_value=None):
        return connection.execute(sql, tuple(values))


@pytest.mark.parametrize("seed", range(3))
def test_rows_types_and_order_are_those_of_the_engine(
    connection: pykudu_sql.Connection, seed: int
) -> None:
    pick = Random(seed)
    if seed == 0:
        connection.execute("BEGIN")
        connection.execute("DELETE FROM kinds WHERE k % 5 = 1")
        connection.execute(
            "UPSERT INTO kinds (k, w, a, s) VALUES (7, 'new', 1, 'a'), (8, '', 2, 'b')"
        )
    for _ in range(20):
        conditions = Conditions(pick)
        shown = ", ".join(pick.choices(COLUMNS, k=pick.randint(1, 5)))
        sql = f"SELECT {pick.choice(['*', shown, shown])} FROM kinds WHERE {conditions.draw()}"
        if pick.random() < 0.5:
            sql += " ORDER BY k, w" + pick.choice(["", " LIMIT 3", " LIMIT 5 OFFSET 2", " LIMIT 0"])
        ours = handed_on(connection, sql, conditions.values)
        theirs = by_engine(connection, sql, conditions.values)
        assert ours.description == theirs.description, sql
        assert ours.rowcount == theirs.rowcount
        ours_rows, theirs_rows = ours.fetchall(), theirs.fetchall()
        assert ours_rows == theirs_rows, (sql, conditions.values)
        if ours_rows:
            ours = handed_on(connection, sql, conditions.values)
            arrow = ours.fetch_arrow_table()
            assert arrow == by_engine(connection, sql, conditions.values).fetch_arrow_table()
    if seed == 0:
        connection.execute("ROLLBACK")


def test_an_earlier_moment_is_read_as_it_was(connection: pykudu_sql.Connection) -> None:
    moment = connection.snapshot_timestamp()
    sql = f"SELECT k, a, s FROM kinds FOR SYSTEM_TIME AS OF {moment} WHERE k >= 5 ORDER BY k, w"
    before = by_engine(connection, sql).fetchall()
    connection.execute("UPDATE kinds SET a = 77, s = 'later' WHERE k < 30")
    assert handed_on(connection, sql).fetchall() == before


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("a = ?", 1.0), ("a < ?", "2"), ("a > ?", True), ("a > ?", 1 << 80),
        ("d = ?", " 2020-02-29"),
        ("d >= ?", MOMENT), ("t = ?", "2020-02-29T12:00:00+01:00"),
        ("t < ?", "2020-02-29 12:00:00.0000001"),
        ("f = ?", 1), ("s = ?", "\ud800"), ("a = ?", "x"), ("s = ?", 5), ("d < ?", "never"),
    ],
)  # fmt: skip
def test_values_of_another_kind_go_to_the_engine(
    connection: pykudu_sql.Connection, condition: str, value: object
) -> None:
    sql = f"SELECT k FROM kinds WHERE {condition} ORDER BY k, w"
    try:
        expected: object = by_engine(connection, sql, [value]).fetchall()
    except (Error, UnicodeEncodeError) as error:
        with pytest.raises(type(error)) as raised:
            connection.execute(sql, (value,))
        assert str(raised.value) == str(error)
    else:
        assert connection.execute(sql, (value,)).fetchall() == expected
        assert needs_engine(connection, sql, [value])


def test_a_parameter_without_a_value_is_missed(connection: pykudu_sql.Connection) -> None:
    with pytest.raises(InterfaceError):
        connection.execute("SELECT k FROM kinds WHERE a = ?", ())


def test_what_may_be_large_is_left_to_the_engine(connection: pykudu_sql.Connection) -> None:
    sql = "SELECT k, s FROM kinds WHERE k >= 0"
    assert not needs_engine(connection, sql)
    with patch.object(scanned_rows, "MOST_ROWS", 10):
        assert needs_engine(connection, sql)
        assert not needs_engine(connection, f"{sql} LIMIT 10")
    for setting in ("result_memory_bytes", "scan_memory_bytes"):
        connection.execute(f"SET {setting} = 1000")
        assert needs_engine(connection, sql)
        connection.execute(f"SET {setting} = DEFAULT")


def test_a_request_to_stop_ends_the_scan(connection: pykudu_sql.Connection) -> None:
    check = connection._session._state.cancellation.check
    checks: list[None] = []

    def stop_at_the_last(self: Cancellation) -> None:
        checks.append(None)
        if len(checks) == 4:
            raise QueryCancelledError("stopped")
        check()

    with (
        patch.object(Cancellation, "check", stop_at_the_last),
        pytest.raises(QueryCancelledError, match="stopped"),
    ):
        handed_on(connection, "SELECT k FROM kinds WHERE k > 3")
