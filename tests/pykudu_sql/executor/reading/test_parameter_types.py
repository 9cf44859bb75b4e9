"""What a parameter of each Python type is beside a column of each type, wherever it stands."""

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from typing import Any
from uuid import UUID

import numpy as np
import pytest

import pykudu_sql
from pykudu_sql import Connection, Error

# Columns, each with its type and the literal of its one row.
COLUMNS = {
    "c_bool": ("BOOLEAN", "true"),
    "c_int8": ("TINYINT", "1"),
    "c_int64": ("BIGINT", "1"),
    "c_float": ("FLOAT", "1"),
    "c_double": ("DOUBLE", "1"),
    "c_decimal": ("DECIMAL(9, 2)", "1"),
    "c_wide": ("DECIMAL(38, 2)", "1"),
    "c_string": ("STRING", "'1'"),
    "c_varchar": ("VARCHAR(3)", "'1'"),
    "c_binary": ("BINARY", "x'31'"),
    "c_date": ("DATE", "'2026-01-05'"),
    "c_time": ("TIMESTAMP", "'2026-01-05'"),
}
NUMBERS = {"c_bool", "c_int8", "c_int64", "c_float", "c_double", "c_decimal", "c_wide"}
TEXTS = {"c_string", "c_varchar"}
TIMES = {"c_date", "c_time"}
KEYS = sorted(set(COLUMNS) - {"c_bool", "c_float", "c_double"})
BOOLEANS = {bool: "c_bool", np.bool_: "c_bool"}
EVERY: set[str] = set(COLUMNS)

# Values that SQL has, and the columns that they may be compared with.
COMPARED: list[tuple[Any, set[str]]] = [
    (None, EVERY),
    *((value, NUMBERS) for value in (True, 1, -1, 1.0, Decimal(1), np.int64(1))),
    *((value, NUMBERS) for value in (np.float32(1), np.bool_(True), np.longdouble(1))),
    *((value, NUMBERS) for value in (float("nan"), float("inf"), Decimal("NaN"), 10**30)),
    *((value, NUMBERS | TEXTS | {"c_binary"}) for value in ("1", np.str_("1"))),
    (" 2026-01-05 ", {"c_date"} | TEXTS | {"c_binary"}),
    ("2026-01-05", TIMES | TEXTS | {"c_binary"}),
    ("2026-01-05 00:00:00", TIMES | TEXTS | {"c_binary"}),
    *((value, TEXTS | {"c_binary"}) for value in ("x", "", "2026-13-45", "1 1")),
    *((value, {"c_binary"}) for value in (b"1", bytearray(b"1"), memoryview(b"1"))),
    *((value, TIMES) for value in (dt.date(2026, 1, 5), dt.datetime(2026, 1, 5))),
    (dt.datetime(2026, 1, 5, tzinfo=dt.UTC), TIMES),
    (np.datetime64("2026-01-05T00:00:00", "ns"), TIMES),
    *((value, set()) for value in (dt.time(1), dt.timedelta(1), UUID(int=1))),
    *((value, set()) for value in (np.timedelta64(1, "D"), np.timedelta64(1, "ns"))),
    *((value, set()) for value in (np.datetime64("NaT"), np.timedelta64("NaT"))),
]
NO_VALUES: list[Any] = [object(), [1], (1,), {"a": 1}, {1}, range(3), 1j, np.array([1]), Ellipsis]
POSITIONS = {
    "WHERE": "SELECT 1 FROM {t} WHERE {c} = ?",
    "mirrored": "SELECT 1 FROM {t} WHERE ? >= {c}",
    "unequal": "SELECT 1 FROM {t} WHERE NOT ({c} <> ?)",
    "not distinct": "SELECT 1 FROM {t} WHERE {c} IS NOT DISTINCT FROM ?",
    "IN": "SELECT 1 FROM {t} WHERE {c} IN (?)",
    "row": "SELECT 1 FROM {t} WHERE (k, {c}) = (1, ?)",
    "key and column": "SELECT 1 FROM {t} WHERE k = 7 AND {c} = ?",
    "JOIN": "SELECT 1 FROM {t} a JOIN {t} b ON a.k = b.k AND b.{c} < ?",
    "CASE": "SELECT CASE WHEN {c} = ? THEN 1 END FROM {t}",
    "simple CASE": "SELECT CASE {c} WHEN ? THEN 1 END FROM {t}",
    "HAVING": "SELECT 1 FROM {t} GROUP BY {c} HAVING max({c}) = ?",
    "subquery": "SELECT 1 FROM (SELECT {c} AS x FROM {t}) s WHERE x = ?",
    "UPDATE": "UPDATE {t} SET k2 = 1 WHERE {c} = ? AND k2 = 5",
    "DELETE": "DELETE FROM {t} WHERE {c} = ? AND k2 = 5",
}
WRITES = {
    "INSERT": "INSERT INTO empty (k, {c}) VALUES (9, ?)",
    "UPSERT": "UPSERT INTO empty (k, {c}) VALUES (9, ?)",
    "several rows": "INSERT INTO empty (k, {c}) VALUES (9, NULL), (10, ?)",
    "UPDATE of a key": "UPDATE filled SET {c} = ? WHERE k = 1",
    "UPDATE of a query": "UPDATE filled SET {c} = ? WHERE k2 = 2",
    "ON CONFLICT": "INSERT INTO filled (k) VALUES (1) ON CONFLICT (k) DO UPDATE SET {c} = ?",
    "MERGE": "MERGE INTO filled USING (SELECT 1 AS j) s ON k = j "
    "WHEN MATCHED THEN UPDATE SET {c} = ?",
}


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in COLUMNS.items())
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        for table in ("empty", "filled"):
            opened.execute(f"CREATE TABLE {table} (k INT PRIMARY KEY, k2 INT, {columns})")
        values = ", ".join(literal for _, literal in COLUMNS.values())
        opened.execute(f"INSERT INTO filled VALUES (1, 2, {values})")
        for name in KEYS:
            kind, literal = COLUMNS[name]
            for table in ("empty", "filled"):
                opened.execute(f"CREATE TABLE {table}_{name} ({name} {kind} PRIMARY KEY, v INT)")
            opened.execute(f"INSERT INTO filled_{name} VALUES ({literal}, 1)")
        yield opened


def sqlstate(connection: Connection, sql: str, value: Any) -> str | None:
    """Of the error of a statement, which must change nothing; None if there is none."""
    changes = not sql.startswith("SELECT")
    if changes:
        connection.execute("BEGIN")
    try:
        connection.execute(sql, (value,))
    except Error as error:
        return error.sqlstate
    finally:
        if changes:
            connection.execute("ROLLBACK")
    return None


def refusal(value: Any, column: str) -> str:
    """The SQLSTATE of a value beside a column that it is not compared with."""
    if value == "2026-13-45" and column in TIMES:
        return "22008"
    is_nat = isinstance(value, np.datetime64 | np.timedelta64) and np.isnat(value)
    return "22018" if isinstance(value, str) or is_nat else "07006"


def statements(column: str) -> Iterator[tuple[str, str]]:
    for position, sql in POSITIONS.items():
        for table in ("empty", "filled"):
            yield f"{position}, {table}", sql.format(t=table, c=column)
    if column in KEYS:
        for table in (f"empty_{column}", f"filled_{column}"):
            yield f"key, {table}", f"SELECT v FROM {table} WHERE {column} = ?"
            yield f"key range, {table}", f"SELECT v FROM {table} WHERE {column} >= ?"
            yield f"UPDATE by key, {table}", f"UPDATE {table} SET v = 2 WHERE {column} = ?"
            yield f"DELETE by key, {table}", f"DELETE FROM {table} WHERE {column} = ?"


@pytest.mark.parametrize(("value", "compared"), COMPARED, ids=lambda value: type(value).__name__)
def test_a_value_is_compared_with_the_same_columns_in_every_position(
    connection: Connection, value: Any, compared: set[str]
) -> None:
    wrong = []
    for column in COLUMNS:
        for position, sql in statements(column):
            state = sqlstate(connection, sql, value)
            # The engine orders no truth by a value of another type.
            loose = "c_bool" in (column, BOOLEANS.get(type(value)))
            allowed = {None, "42804"} if loose else {None}
            if state not in (allowed if column in compared else {refusal(value, column)}):
                wrong.append((column, position, state))
    assert not wrong


@pytest.mark.parametrize("table", ["empty", "filled"])
@pytest.mark.parametrize(
    "condition",
    [
        *("{c} LIKE ?", "? NOT LIKE {c}", "{c} ILIKE ?", "{c} LIKE ? ESCAPE '!'"),
        *("{c} SIMILAR TO ?", "{c} REGEXP ?", "lower({c}) LIKE ?", "nullif({c}, ?) IS NULL"),
        *("lower({c}) = ?", "{c} || 'x' IN ('a', ?)", "? = ANY(SELECT {c} FROM filled)"),
        "{c} BETWEEN 'a' AND ?",
    ],
)
def test_only_text_meets_text(connection: Connection, condition: str, table: str) -> None:
    values = [True, 1, 1.5, Decimal(1), b"1", dt.date(2026, 1, 5), dt.time(1), UUID(int=1)]
    for column in sorted(TEXTS):
        sql = f"SELECT 1 FROM {table} WHERE {condition.format(c=column)}"
        for value in values:
            assert sqlstate(connection, sql, value) == "07006", (column, value)
        for value in ("1", "x", None):
            assert sqlstate(connection, sql, value) is None, (column, value)


@pytest.mark.parametrize("table", ["empty", "filled"])
@pytest.mark.parametrize(
    ("expression", "column"),
    [
        *(("{c} + 1", name) for name in ("c_int8", "c_int64", "c_decimal", "c_double")),
        *(("-{c}", name) for name in ("c_int64", "c_decimal")),
        ("{c} + INTERVAL 1 DAY", "c_time"),
        *(("coalesce({c}, {c})", name) for name in ("c_int64", "c_date", "c_binary", "c_string")),
        *(("(SELECT x FROM (SELECT max({c}) AS x FROM filled) s)", name) for name in sorted(TIMES)),
        *(("CASE WHEN k = 1 THEN {c} END", name) for name in ("c_int8", "c_time", "c_varchar")),
    ],
)
def test_what_is_computed_takes_what_a_column_of_its_type_takes(
    connection: Connection, expression: str, column: str, table: str
) -> None:
    computed = expression.format(c=column)
    for value, compared in COMPARED:
        state = sqlstate(connection, f"SELECT 1 FROM {table} WHERE {computed} = ?", value)
        if column not in compared:
            assert state == refusal(value, column), value
        elif type(value) is not bool and not isinstance(value, np.bool_):
            assert state is None, value


@pytest.mark.parametrize(
    ("condition", "parameters"),
    [
        ("? + k = ?", (dt.date(2026, 1, 5), dt.date(2026, 1, 6))),
        ("coalesce(?, k) = ?", (1.5, "1.5")),
        ("(SELECT x FROM (SELECT ? + k AS x FROM filled) s) = ?", (dt.date(2026, 1, 5),) * 2),
    ],
)
def test_what_is_computed_with_a_parameter_has_no_type_before_it(
    connection: Connection, condition: str, parameters: tuple[Any, ...]
) -> None:
    connection.execute(f"SELECT 1 FROM empty WHERE {condition}", parameters)


@pytest.mark.parametrize("value", NO_VALUES, ids=lambda value: type(value).__name__)
def test_what_is_no_value_of_sql_is_refused_in_every_position(
    connection: Connection, value: Any
) -> None:
    places = [each for column in COLUMNS for each in statements(column)]
    is_list = isinstance(value, list | tuple | set | range | np.ndarray)
    refusals = ("07006", "22018") if is_list else ("07006",)  # 22018: as a cell of a column
    if is_list:  # which IN takes, and which is an array where it stands alone
        places = [(position, sql) for position, sql in places if not position.startswith("IN,")]
    places += [(name, sql.format(c=c)) for name, sql in WRITES.items() for c in COLUMNS]
    places.append(("LIMIT", "SELECT 1 FROM filled LIMIT ?"))
    if not is_list:
        places.append(("SELECT", "SELECT ?"))
    wrong = [
        (position, state)
        for position, sql in places
        if (state := sqlstate(connection, sql, value)) not in refusals
    ]
    assert not wrong
    for column in COLUMNS:
        with pytest.raises(Error) as raised:
            connection.executemany(WRITES["INSERT"].format(c=column), [(None,), (value,)])
        assert raised.value.sqlstate == "07006"


@pytest.mark.parametrize(
    "value",
    [dt.timedelta(1), UUID(int=1), np.timedelta64(1, "D"), np.datetime64("NaT")],
    ids=lambda value: type(value).__name__,
)
def test_what_no_column_stores_is_refused_by_every_write(
    connection: Connection, value: Any
) -> None:
    wrong = [
        (position, column, state)
        for position, sql in WRITES.items()
        for column in COLUMNS
        if (state := sqlstate(connection, sql.format(c=column), value)) != "22018"
    ]
    assert not wrong


def test_a_time_of_day_is_text_for_columns_of_texts_alone(connection: Connection) -> None:
    for sql, column in product(WRITES.values(), COLUMNS):
        refusal = None if column in ("c_string", "c_varchar") else "22018"
        assert sqlstate(connection, sql.format(c=column), dt.time(1)) == refusal


@pytest.mark.parametrize(
    ("sql", "parameters", "message"),
    [
        ("SELECT 1 FROM empty WHERE c_int8 = ?", ([1],), "number 1 is a list.*TINYINT"),
        ("INSERT INTO empty (k, c_date) VALUES (1, :day)", {"day": {}}, ":day for.*'c_date'.*dict"),
        ("SELECT ?, ?", (1, object()), "parameter number 2.*type object"),
        ("SELECT 1 FROM empty WHERE c_int8 = ?", (dt.time(1),), "1 is a time.*'c_int8'.*TINYINT"),
        ("SELECT 1 FROM empty WHERE k + 1 = ?", (dt.time(1),), "1 is a time.*a value of type INT"),
        ("SELECT 1 FROM empty WHERE k + 1 = ?", ("x",), "a value of type INT: cannot read 'x'"),
        ("SELECT 1 FROM empty WHERE c_int8 < :n", {"n": "x"}, ":n.*'c_int8': cannot read 'x' as"),
        ("INSERT INTO empty (k, c_string) VALUES (1, ?)", (UUID(int=1),), "'c_string'.*a UUID"),
        ("SELECT ?", (np.datetime64("NaT"),), "parameter number 1: 'NaT' is no time"),
    ],
)
def test_the_message_names_parameter_type_and_column(
    connection: Connection, sql: str, parameters: Any, message: str
) -> None:
    with pytest.raises(Error, match=message):
        connection.execute(sql, parameters)


@pytest.mark.parametrize(
    "expression", ["DATE '2026-01-05'", "TIMESTAMP '2026-01-05 00:00:00'", "TIME '01:00:00'"]
)
def test_a_time_does_not_become_the_number_that_it_is_stored_as(
    connection: Connection, expression: str
) -> None:
    for column in ("c_int8", "c_int64"):
        with pytest.raises(Error, match=f"'{column}': cannot read .* as"):
            connection.execute(f"INSERT INTO empty (k, {column}) SELECT 9, {expression}")
