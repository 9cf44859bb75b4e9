"""Calls pasted from SQLite, DuckDB, Impala and the standard give what they give there."""

import datetime as dt
import random
import sqlite3
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

import pykudu_sql

_TIME = "TIMESTAMP '2020-01-31 23:05:09.120'"
_MODIFIERS = (
    "+1 month", "-1 month", "+13 months", "+1 day", "-40 days", "+1.5 days", "+90 minutes",
    "start of month", "start of year", "start of day", "weekday 0", "weekday 3", "+1 year",
    "-4 years", "+30 seconds",
)  # fmt: skip
_MASKED = ["Xx-né", "XxnnCd", "Ab12Xx", "Ab12Xx", "Xxn2Cd"]

CALLS: list[tuple[str, Any]] = [
    (f"to_char({_TIME}, 'YYYY-MM-DD HH24:MI:SS.MS')", "2020-01-31 23:05:09.120"),
    (f"to_char({_TIME}, 'Mon DD, YYYY \"at\" HH12:MI AM')", "Jan 31, 2020 at 11:05 PM"),
    (f"CAST({_TIME} AS STRING FORMAT 'DD/MM/YYYY')", "31/01/2020"),
    ("CAST('31/01/2020' AS DATE FORMAT 'DD/MM/YYYY')", dt.date(2020, 1, 31)),
    ("to_date('31.01.2020', 'dd.MM.yyyy')", dt.date(2020, 1, 31)),
    ("to_timestamp('2020-01-31', 'YYYY-MM-DD')", dt.datetime(2020, 1, 31)),
    ("timestampdiff(MONTH, '2020-01-31', '2020-03-30')", 1),
    ("timestampdiff(DAY, '2020-01-31 12:00:00', '2020-02-02 11:00:00')", 1),
    ("timestampadd(MONTH, 1, '2020-01-31')", dt.datetime(2020, 2, 29)),
    ("dateadd('day', -1, '2020-01-01')", dt.datetime(2019, 12, 31)),
    ("date('2020-01-31', '+1 month')", dt.date(2020, 3, 2)),
    ("datetime(1580511909, 'unixepoch')", dt.datetime(2020, 1, 31, 23, 5, 9)),
    (f"time({_TIME})", dt.time(23, 5, 9)),
    ("time('12:30')", dt.time(12, 30)),
    ("datetime('12:30:05.7', '+1 day')", dt.datetime(2000, 1, 2, 12, 30, 5)),
    ("encode(x'00ff', 'hex') || encode('ab', 'HEX')", "00ff6162"),
    ("encode(x'00ff', 'base64')", "AP8="),
    ("encode('ä', 'utf-8')", b"\xc3\xa4"),
    ("encode('ä')", b"\xc3\xa4"),
    ("decode('00fF', 'hex')", b"\x00\xff"),
    ("decode('AP8=', 'base64')", b"\x00\xff"),
    ("decode(encode('ä', 'utf8'), 'utf8')", "ä"),
    ("decode(2, 1, 'one', 2, 'two')", "two"),
    (f"unixepoch({_TIME})", 1580511909),
    ("date('now') = current_date()", True),
    ("strftime('%s', 'now') = CAST(unix_timestamp() AS STRING)", True),
    ("unixepoch() = unix_timestamp()", True),
    ("soundex('Tymczak')", "T522"),
    ("soundex('')", "?000"),
    ("char(72, 105)", "Hi"),
    ("format('%05d|%s', 42, 'a')", "00042|a"),
    ("format('{}-{}', 1, 2)", "1-2"),
    ("quote('it''s')", "'it''s'"),
    ("quote(x'0aff')", "X'0AFF'"),
    ("quote(1.5)", "1.5"),
    ("max(1, NULL, 3)", None),
    ("min(3, 2, 1)", 1),
    ("octet_length('é')", 2),
    ("octet_length(x'0102')", 2),
    ("substring_index('a.b.c', '.', 2)", "a.b"),
    ("substring_index('a.b.c', '.', -2)", "b.c"),
    ("regexp_count('banana', 'an')", 2),
    ("'ABC' ~* 'b'", True),
    ("0x1F + 1", 32),
    ("1 IS 1", True),
    ("NULL IS 1", False),
    ("'a' IS NOT 'b'", True),
    ("setbit(0, 2) + setbit(7, 0, 0)", 10),
    ("countset(CAST(5 AS TINYINT), 0)", 6),
    ("isnull(NULL)", True),
    ("equal_null(1, NULL)", False),
    ("dtrunc(1.55, 1)", Decimal("1.5")),
    ("every(true)", True),
    ("size([1, 2])", 2),
    ("map {'a': 1}['a']", 1),
    ("[x + 1 FOR x IN [1, 2, 3] IF x > 1]", [3, 4]),
    ("[[y + 1 FOR y IN x IF y > 1] FOR x IN [[1, 2]] IF len(x) > 1]", [[3]]),
    ("list_transform([[1, 2]], x -> [y + 1 FOR y IN x])", [[2, 3]]),
    ("json_group_object('a', 1)", '{"a":1}'),
    ("database()", "default"),
    ("epoch_us(current_timestamp(2)) % 10000", 0),
    ("localtimestamp(9) = now()", True),
    ("current_time(0) = date_trunc('second', now())::TIME", True),
    ("timeofday() LIKE '% UTC'", True),
    ("list_zip([1, 2], [3], true)", [{"element1": 1, "element2": 3}]),
    ("list_zip([1, 2], NULL, true)", []),
    ("len(list_zip([1, 2], [3], false))", 2),
    ("list_cosine_distance([1, 0], [0, 1])", 1.0),
    ("[mask('Ab-1é'), mask_first_n('Ab12Cd'), mask_last_n('Ab12Cd', 2)]", _MASKED[:3]),
    ("[mask_show_first_n('Ab12Cd'), mask_show_last_n('Ab12Cd', 3)]", _MASKED[3:]),
    ("mask_show_last_n('ab', 5) || mask_last_n('ab', 5)", "abxx"),
    ("precision(1.25) * 10 + scale(1.25)", 32),
    ("precision(CAST(1 AS BIGINT)) * 10 + scale(CAST(1 AS BIGINT))", 190),
    ("parse_url('http://u:p@a.b:8/c/d?x=1&y#z', 'HOST')", "a.b"),
    ("parse_url('http://u:p@a.b:8/c/d?x=1&y#z', 'FILE')", "/c/d?x=1&y"),
    ("parse_url('http://u:p@a.b:8/c/d?x=1&y#z', 'authority')", "u:p@a.b:8"),
    ("parse_url('http://a.b', 'REF') IS NULL", True),
    ("1.e1-1", 9.0),
    ("1.E-1 + 1.e+1", 10.1),
    ("CASE WHEN true THEN 2ELSE 3END", 2),
    ("CASE 1WHEN 1.5THEN 1 ELSE 1.5END", Decimal("1.5")),
    ("version()", f"pykudu_sql {pykudu_sql.__version__}"),
    ("user() = current_user", True),
]


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        yield opened


@pytest.mark.parametrize(("text", "value"), CALLS)
def test_a_pasted_call_has_its_value(
    connection: pykudu_sql.Connection, text: str, value: Any
) -> None:
    assert connection.execute(f"SELECT {text}").fetchall() == [(value,)]


def test_a_pasted_call_keeps_its_name(connection: pykudu_sql.Connection) -> None:
    described = connection.execute("SELECT soundex('a'), datetime('2020-01-01')").description
    assert described is not None
    assert [column[0] for column in described] == ["soundex('a')", "datetime('2020-01-01')"]


def test_a_word_that_touches_a_number_is_no_part_of_it(connection: pykudu_sql.Connection) -> None:
    assert connection.execute("SELECT 1EXCEPT SELECT 2").fetchall() == [(1,)]
    cursor = connection.execute("SELECT 2e, 3.E, 4else_1, 5e-1, '6else', 7 FROM (VALUES(1)) e")
    assert cursor.fetchall() == [(2, 3, 4, 0.5, "6else", 7)]
    assert cursor.description is not None
    assert [column[0] for column in cursor.description[:3]] == ["e", "e", "else_1"]


def test_words_that_are_called_elsewhere_are_names_here(connection: pykudu_sql.Connection) -> None:
    names = "datetime, date, format, char"
    text = f"SELECT {names} FROM (VALUES (1, 2, 3, 4)) v({names})"
    assert connection.execute(text).fetchall() == [(1, 2, 3, 4)]
    text = "WITH datetime(a) AS (SELECT 1), max(a, b, c) AS (SELECT 2, 3, 4) "
    text += "SELECT datetime.a, max.c, time.t FROM datetime, max, range(5, 6) time(t)"
    assert connection.execute(text).fetchall() == [(1, 4, 5)]
    text = "SELECT CAST('10:00' AS TIME), CAST('2020-01-01' AS DATETIME)"
    assert connection.execute(text).fetchall() == [(dt.time(10), dt.datetime(2020, 1, 1))]


def test_times_and_their_modifiers_are_those_of_sqlite(connection: pykudu_sql.Connection) -> None:
    chance, sqlite = random.Random(5), sqlite3.connect(":memory:")
    for _ in range(40):
        moment = dt.datetime(1990, 1, 31) + dt.timedelta(seconds=chance.randrange(1 << 30))
        modifiers = [f"'{each}'" for each in chance.sample(_MODIFIERS, chance.randrange(1, 4))]
        given = ", ".join([f"'{moment}'", *modifiers])
        text = f"SELECT date({given}), datetime({given}), time({given}), strftime('%j %w', {given})"
        told = sqlite.execute(text).fetchone()
        assert tuple(map(str, connection.execute(text).fetchall()[0])) == told, text
        text = f"SELECT julianday({given})"
        found = connection.execute(text).fetchall()[0][0]
        assert abs(found - sqlite.execute(text).fetchone()[0]) < 1e-6
    sqlite.close()


def test_fields_of_a_computed_struct_are_read_with_a_dot(connection: pykudu_sql.Connection) -> None:
    text = "SELECT s.a, s.b FROM (SELECT {'a': 1, 'b': 'x'} AS s, 2 AS a) q WHERE s.a < q.a"
    assert connection.execute(text).fetchall() == [(1, "x")]
    with pytest.raises(pykudu_sql.Error):
        connection.execute("SELECT t.a FROM (SELECT 1 AS t) q")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("date('2020-01-01', 'next week')", "'next week' is no modifier"),
        ("date('2020-01-01', 'a' || 'b', 'start of day')", "written as a text"),
        ("to_char(now(), 'YYYY-QQ')", "'QQ'"),
        ("timestampadd(FORTNIGHT, 1, now())", "'fortnight' is no unit"),
    ],
)
def test_modifiers_and_units_that_mean_nothing_are_named(
    connection: pykudu_sql.Connection, text: str, message: str
) -> None:
    with pytest.raises(pykudu_sql.DataError, match=message):
        connection.execute(f"SELECT {text}")
