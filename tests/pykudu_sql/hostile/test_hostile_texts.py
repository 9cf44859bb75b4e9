"""Quoted names and texts that would be SQL if they were printed as they are: none becomes SQL."""

import datetime as dt
from collections.abc import Iterator

import pytest

import pykudu_sql
from pykudu_sql import Connection, Error, InternalError
from pykudu_sql.planner.parse import guards
from pykudu_sql.planner.parse.dialect import printed
from pykudu_sql.planner.query import query

SETTING = "(current_setting('temp_directory'))"
IN_TEXT = SETTING.replace("'", "''")
YEAR = f'EXTRACT("year FROM now()), {SETTING}, extract(year" FROM now())'
INT = f'CAST(1 AS "int), {SETTING}, CAST(1 AS int")'
STATEMENTS = [
    f"SELECT concat({YEAR})",
    f"SELECT {INT}",
    f"""SELECT CAST('x' AS "main"."varchar), {SETTING}, CAST('x' AS varchar")""",
    f"SELECT date_add(now(), 1, 'day, {IN_TEXT}, interval 1 day')",
    f"SELECT ts_or_ds_add(now(), 1, 'day, {IN_TEXT}, interval 1 day')",
    f"SELECT timestamp_sub(now(), 1, 'day, {IN_TEXT}, interval 1 day')",
    f"SELECT time_bucket(INTERVAL 1 DAY, now(), 'now()), {IN_TEXT}, (1')",
    f"SELECT date_bin(INTERVAL 1 DAY, now(), 'now()), {IN_TEXT}, (1')",
    f"SELECT date_trunc('day'', now()), {IN_TEXT}, date_trunc(''day', now())",
    f"SELECT INTERVAL '1 day, {IN_TEXT}, INTERVAL 1 day'",
    f"SELECT INTERVAL '1' DAY TO \"second, {SETTING}, INTERVAL 1 day\"",
    f'SELECT convert(1 USING "x), {SETTING}, (1")',
    f'SELECT 1 OPERATOR("x.+) {SETTING} OPERATOR(x".+) 2',
    f'SELECT CAST(1 AS STRUCT(a "int), {SETTING}, x AS STRUCT(a int"))',
    f'SELECT CAST(1 AS UNION(a "int), {SETTING}, x AS STRUCT(a int"))',
    f'SELECT CAST(1 AS MAP(INT, "int), {SETTING}, x AS STRUCT(a int"))',
    f'SELECT CAST(1 AS DECIMAL("1), {SETTING}, x AS STRUCT(a int"))',
    f'SELECT CAST(1 AS INT COLLATE "x), {SETTING}, (1")',
    f"UPDATE t SET v = {YEAR}",
    f"UPDATE t SET v = {INT} RETURNING k",
    f"DELETE FROM t WHERE k = {YEAR}",
    f"DELETE FROM t WHERE k = 1 RETURNING {INT}",
    f"INSERT INTO t (k) VALUES ({YEAR})",
    f"INSERT INTO t (k) SELECT {YEAR}",
    f"CREATE TABLE u (k INT PRIMARY KEY, v INT DEFAULT {INT})",
    f"CREATE TABLE u AS SELECT 1 AS k, {INT} AS v",
    f"CREATE VIEW w AS SELECT {INT} AS x",
    f"SELECT * FROM t AS OF {YEAR}",
    f"SUMMARIZE SELECT {INT} AS x",
    f"SELECT k FROM t WHERE a = {INT}",
    f"MERGE INTO t USING t AS s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = {YEAR}",
]


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT, a STRING)")
        connection.execute("INSERT INTO t VALUES (1, 2, 'x'), (2, NULL, 'y'), (3, 4, NULL)")
        yield connection


@pytest.mark.parametrize("statement", STATEMENTS)
def test_no_text_in_quotes_becomes_sql(connection: Connection, statement: str) -> None:
    with pytest.raises(Error) as raised:
        connection.execute(statement)
    assert not isinstance(raised.value, InternalError)
    assert raised.value.sqlstate in ("0A000", "22018", "22023", "42601", "42704")


@pytest.mark.parametrize(
    "statement",
    [
        f'SELECT 1 AS "x), {SETTING}, (1"',
        f"SELECT INTERVAL '1' \"day, {SETTING}, INTERVAL 1 day\"",
        f"SELECT {{'x), {IN_TEXT}, (1': 1}}",
        f'SELECT struct_pack("x), {SETTING}, (1" := 1)',
        f'WITH "x), {SETTING}, (1" AS (SELECT 1) SELECT * FROM "x), {SETTING}, (1"',
        f'SELECT count(*) OVER "x), {SETTING}, (1" FROM t WINDOW "x), {SETTING}, (1" AS ()',
        f"SELECT 'x'', {IN_TEXT}, ''1'",
        f"SELECT strftime(now(), 'x'', {IN_TEXT}, ''1')",
        f"SELECT '{{}}' -> '$.\"x'', {IN_TEXT}, ''1\"'",
        "SELECT 1 /* x */ -- y",
    ],
)
def test_names_and_texts_stay_what_they_are(connection: Connection, statement: str) -> None:
    cursor = connection.execute(statement)
    assert len(cursor.description) == 1
    assert "spill" not in str(cursor.fetchall())


def test_a_view_that_was_stored_with_such_a_text_is_refused_when_it_is_read(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(guards, "NORMALIZERS", {})
        patched.setattr(query, "to_sql", printed)
        connection.execute(f"CREATE VIEW stored AS SELECT concat({YEAR}) AS x")
        assert connection.execute("SELECT * FROM stored").fetchall()
    with pytest.raises(Error, match=r"view 'stored' cannot be read: .* is no unit of time"):
        connection.execute("SELECT * FROM stored")


@pytest.mark.parametrize(
    "written", ['"VARCHAR\'"', '"VARCHAR`"', '"a b"', '"main"."x y"', '"$$"', '"/*"', '""""']
)
def test_a_quoted_type_that_there_is_not_is_an_error_of_ours(
    connection: Connection, written: str
) -> None:
    for sql in (f"CAST(1 AS {written})", f"1::{written}", f"try_cast(1 AS {written}[])"):
        with pytest.raises(Error) as raised:
            connection.execute(f"SELECT {sql}")
        assert raised.value.sqlstate in ("42601", "42704")


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("hours", [1, 2_562_046, 2_562_047, 2_562_048, 3_000_000, 2_562_047_788])
def test_intervals_of_any_length_arrive_as_they_are(
    connection: Connection, hours: int, sign: int
) -> None:
    interval = f"INTERVAL ({sign * hours}) HOURS"
    listed = f"SELECT {interval} AS i, 1 AS i, [{interval}, NULL], {{'s': {interval}}}, 'x' AS y"
    for sql in (listed, f"{listed} FROM t WHERE k = 2"):
        ((first, one, [nested, nothing], struct, text),) = connection.execute(sql).fetchall()
        assert first == dt.timedelta(hours=sign * hours)
        for each in (nested, struct["s"]):
            length = each.days * 86_400 * 10**9 + each.nanoseconds
            assert length == sign * hours * 3_600 * 10**9
        assert (one, nothing, text) == (1, None, "x")


def test_an_interval_that_python_has_no_value_for_is_an_error_of_ours(
    connection: Connection,
) -> None:
    cursor = connection.execute("SELECT INTERVAL 2000000000 DAYS")
    with pytest.raises(Error, match="longer than the 999999999 days"):
        cursor.fetchall()
