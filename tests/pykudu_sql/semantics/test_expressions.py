"""What expressions give: the dialect's meaning of operators, casts and functions, one by one."""

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql.planner.functions.compatibility_functions import COMPATIBILITY_FUNCTIONS
from pykudu_sql.planner.vocabulary.function_table import FUNCTIONS as TABLE

FUNCTIONS = Path(__file__).resolve().parents[3] / "docs" / "functions.md"
_DAY = "DATE '2024-02-25'"
_TIME = "TIMESTAMP '2024-02-25 12:30:01'"
_EARLY = dt.datetime(2024, 2, 26)

NUMBERS: list[tuple[str, Any]] = [
    ("7 / 2", 3.5),
    ("7 DIV 2", 3),
    ("-7 DIV 2", -3),
    ("7 / 0", None),
    ("7 DIV 0", None),
    ("7 % 0", None),
    ("-7 % 3", -1),
    ("pmod(-7, 3)", 2),
    ("quotient(7, 2)", 3),
    ("mod(7, 3)", 1),
    ("round(2.5)", Decimal(3)),
    ("round(1.25, 1)", Decimal("1.3")),
    ("truncate(1.79, 1)", Decimal("1.7")),
    ("dtrunc(1.7)", Decimal(1)),
    ("ceil(1.2)", Decimal(2)),
    ("floor(-1.2)", Decimal(-2)),
    ("power(2, 3)", 8.0),
    ("log(2, 8)", 3.0),
    ("greatest(1, 3, 2)", 3),
    ("least(1, 3, 2)", 1),
    ("hex(255)", "FF"),
    ("bin(5)", "101"),
    ("5 & 3", 1),
    ("5 | 3", 7),
    ("~5", -6),
    ("bitand(5, 3)", 1),
    ("bitor(5, 3)", 7),
    ("bitxor(5, 3)", 6),
    ("bitnot(5)", -6),
    ("shiftleft(1, 3)", 8),
    ("shiftright(8, 3)", 1),
    ("countset(7)", 3),
    ("getbit(5, 2)", 1),
    ("positive(5) + negative(5)", 0),
    ("round(e(), 4)", 2.7183),
    ("width_bucket(5, 0, 10, 5)", 3),
    ("width_bucket(10, 0, 10, 5)", 6),
    ("max_int()", 2147483647),
    ("min_bigint()", -(1 << 63)),
    ("max_tinyint()", 127),
    ("conv(255, 10, 16)", "FF"),
    ("conv('zz', 36, 10)", "1295"),
]
NULLS: list[tuple[str, Any]] = [
    ("NULL = NULL", None),
    ("istrue(NULL)", False),
    ("isnottrue(NULL)", True),
    ("isfalse(1 > 2)", True),
    ("nullvalue(NULL)", True),
    ("nonnullvalue(NULL)", False),
    ("nvl2(NULL, 1, 2)", 2),
    ("decode(2, 1, 'one', 2, 'two', 'other')", "two"),
    ("decode(9, 1, 'one', 'other')", "other"),
    ("decode(9, 1, 'one')", None),
    ("decode(NULL, 1, 'a', NULL, 'n')", "n"),
    ("NULL IS NOT DISTINCT FROM NULL", True),
    ("1 <=> NULL", False),
    ("NULL AND FALSE", False),
    ("NULL OR TRUE", True),
    ("1 IN (2, NULL)", None),
    ("1 IN (1, NULL)", True),
    ("1 NOT IN (2, NULL)", None),
    ("NULL IN ()", False),
    ("'a' || NULL", None),
    ("concat('a', NULL)", "a"),
    ("CASE WHEN NULL THEN 1 ELSE 2 END", 2),
    ("nvl(NULL, 2)", 2),
    ("ifnull(NULL, 2)", 2),
    ("isnull(NULL, 2)", 2),
    ("nvl2(1, 2, 3)", 2),
    ("nullif(1, 1)", None),
    ("nullifzero(0)", None),
    ("zeroifnull(NULL)", 0),
    ("if(1 > 2, 'y', 'n')", "n"),
    ("iif(1 < 2, 'y', 'n')", "y"),
]
TEXTS: list[tuple[str, Any]] = [
    ("instr('abcabc', 'b', 3)", 5),
    ("instr('abcabc', 'b', -1)", 5),
    ("instr('abcabc', 'b', -3)", 2),
    ("instr('aXbXcX', 'X', 1, 3)", 6),
    ("instr('aXbXcX', 'X', 1, 4)", 0),
    ("regexp_replace('abcabc', 'b', 'x')", "axcaxc"),
    ("'abc' RLIKE 'b.'", True),
    ("'abc' REGEXP '^b'", False),
    ("bytes('äö')", 4),
    ("utf8_length('äö')", 2),
    ('get_json_object(\'{"a": {"b": "x"}}\', \'$.a.b\')', "x"),
    ("'a' = 'A'", False),
    ("'B' < 'a'", True),
    ("'abc' LIKE 'A%'", False),
    ("'abc' ILIKE 'A%'", True),
    ("'a%c' LIKE 'a\\%c' ESCAPE '\\'", True),
    ("'abc' RLIKE 'b'", True),
    ("'abc' REGEXP '^b'", False),
    ("'abc' GLOB 'a*'", True),
    ("'a' || 1", "a1"),
    ("length('äb')", 2),
    ("substr('abcd', -2)", "cd"),
    ("substring('abcd', 2, 2)", "bc"),
    ("instr('abcd', 'c')", 3),
    ("locate('c', 'abcd')", 3),
    ("strleft('abc', 2)", "ab"),
    ("strright('abc', 2)", "bc"),
    ("btrim('  a ')", "a"),
    ("btrim('xax', 'x')", "a"),
    ("space(2)", "  "),
    ("find_in_set('b', 'a,b,c')", 2),
    ("find_in_set('z', 'a,b,c')", 0),
    ("initcap('hello world')", "Hello World"),
    ("split_part('a,b,c', ',', 2)", "b"),
    ("regexp_extract('ab12', '([a-z]+)([0-9]+)', 2)", "12"),
    ("base64encode('a')", "YQ=="),
    ("base64decode('YQ==')", "a"),
    ("upper(btrim(space(1) || 'x'))", "X"),
    ("x'61'", b"a"),
    ("unhex('61')", b"a"),
]
CASTS: list[tuple[str, Any]] = [
    ("'1' = 1", True),
    ("1 = 1.0", True),
    ("CAST('12' AS INT)", 12),
    ("CAST(2.5 AS INT)", 3),
    ("CAST(TRUE AS INT)", 1),
    ("CAST(1.255 AS DECIMAL(5, 2))", Decimal("1.26")),
    ("CAST('2024-02-29' AS DATE)", dt.date(2024, 2, 29)),
    ("CAST(1.5 AS STRING)", "1.5"),
    ("CAST('abcdef' AS VARCHAR(3))", "abc"),
    ("TRY_CAST('x' AS INT)", None),
]
TIMES: list[tuple[str, Any]] = [
    ("trunc('2026-08-19 10:20:30', 'MM')", dt.datetime(2026, 8, 1)),
    ("trunc('2026-08-19 10:20:30', 'D')", dt.datetime(2026, 8, 17)),
    ("trunc('2026-08-19 10:20:30', 'HH')", dt.datetime(2026, 8, 19, 10)),
    ("date_trunc('MONTH', '2026-08-19')", dt.datetime(2026, 8, 1)),
    ("months_between('2026-08-31', '2026-02-28')", 6.0),
    ("round(months_between('2026-08-31', '2026-07-15'), 4)", 1.5161),
    ("int_months_between('2026-08-31', '2026-07-15')", 1),
    ("next_day('2026-08-17', 'Monday')", dt.date(2026, 8, 24)),
    ("next_day('2026-08-17', 'fri')", dt.date(2026, 8, 21)),
    ("last_day('2026-02-11')", dt.date(2026, 2, 28)),
    ("year('2026-08-17') * 100 + month('2026-08-17')", 202608),
    ("from_unixtime(1392394861, 'yyyy/MM/dd ''at'' HH:mm')", "2014/02/14 at 16:21"),
    ("unix_timestamp('14/02/2014', 'dd/MM/yyyy')", 1392336000),
    ("unix_timestamp() = unix_timestamp(now())", True),
    ("from_timestamp('2026-08-17', 'd MMM yy')", "17 Aug 26"),
    ("to_timestamp('2026/08/17 11', 'yyyy/MM/dd HH')", dt.datetime(2026, 8, 17, 11)),
    ("date_cmp('2026-01-01', '2026-01-02')", -1),
    ("timestamp_cmp('2026-01-02', '2026-01-01')", 1),
    ("date_sub('2026-01-10', INTERVAL 1 MONTH)", dt.datetime(2025, 12, 10)),
    ("DATE '2024-01-31' + INTERVAL 1 MONTH", dt.datetime(2024, 2, 29)),
    ("DATE '2024-03-01' - DATE '2024-02-01'", 29),
    (f"date_add({_DAY}, 1)", _EARLY),
    (f"date_add({_DAY}, INTERVAL 1 DAY)", _EARLY),
    ("date_sub(DATE '2024-02-27', 1)", _EARLY),
    ("date_sub(DATE '2024-02-27', INTERVAL 1 DAY)", _EARLY),
    (f"adddate({_DAY}, 1)", _EARLY),
    ("subdate('2024-02-27', 1)", _EARLY),
    (f"days_add({_DAY}, 1)", _EARLY),
    (f"hours_sub({_TIME}, 12)", dt.datetime(2024, 2, 25, 0, 30, 1)),
    (f"months_add({_DAY}, 1)", dt.datetime(2024, 3, 25)),
    ("datediff('2024-03-01', '2024-02-25')", 5),
    (f"datediff('day', {_DAY}, DATE '2024-03-01')", 5),
    (f"date_trunc('month', {_TIME})", dt.datetime(2024, 2, 1)),
    (f"extract(year FROM {_DAY})", 2024),
    ("extract('2024-02-25 12:30:01', 'minute')", 30),
    (f"year({_DAY})", 2024),
    (f"hour({_TIME})", 12),
    (f"dayname({_DAY})", "Sunday"),
    (f"last_day({_DAY})", dt.date(2024, 2, 29)),
    (f"to_date({_TIME})", dt.date(2024, 2, 25)),
    ("unix_timestamp('1970-01-02 00:00:00')", 86400),
    ("from_unixtime(86400)", "1970-01-02 00:00:00"),
    (f"strftime('%Y/%m', {_DAY})", "2024/02"),
    ("from_utc_timestamp('2024-07-01 00:00:00', 'Europe/Berlin')", dt.datetime(2024, 7, 1, 2)),
    ("to_utc_timestamp('2024-01-01 00:00:00', 'Asia/Tokyo')", dt.datetime(2023, 12, 31, 15)),
    ("TIMESTAMP '2024-01-01 10:00:00-01:30'", dt.datetime(2024, 1, 1, 11, 30)),
]
AGGREGATES: list[tuple[str, Any]] = [
    ("total(x)", 6.0),
    ("ndv(x)", 3),
    ("appx_median(x)", 2.0),
    ("percentile(x, 0.25)", 1.5),
    ("percentile_approx(x, 0.25)", 1),
    ("approx_percentile(x, 0.5)", 2),
    ("collect_list(nullif(x, 2))", [1, 3]),
    ("list_sort(collect_set(x % 2))", [0, 1]),
    ("sequence(1, max(x))", [1, 2, 3]),
    ("sequence(max(x), min(x), -2)", [3, 1]),
    ("group_concat(x)", "1,2,3"),
    ("sum(zeroifnull(x))", 6),
]


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pykudu_sql.Connection]:
    path = tmp_path_factory.mktemp("expressions") / "test.db"
    with pykudu_sql.connect(str(path), autocommit=True) as opened:
        opened.execute("CREATE TABLE t (x INT PRIMARY KEY)")
        opened.execute("INSERT INTO t VALUES (1), (2), (3)")
        yield opened


@pytest.mark.parametrize(("text", "value"), [*NUMBERS, *NULLS, *TEXTS, *CASTS, *TIMES])
def test_an_expression_has_its_value(
    connection: pykudu_sql.Connection, text: str, value: Any
) -> None:
    assert connection.execute(f"SELECT {text}").fetchall() == [(value,)]


@pytest.mark.parametrize(("text", "value"), AGGREGATES)
def test_an_aggregate_has_its_value(
    connection: pykudu_sql.Connection, text: str, value: Any
) -> None:
    assert connection.execute(f"SELECT {text} FROM t").fetchall() == [(value,)]


def test_a_compatibility_function_takes_columns_and_parameters(
    connection: pykudu_sql.Connection,
) -> None:
    text = "SELECT x FROM t WHERE pmod(x - 5, ?) = 1 ORDER BY days_add('2024-01-01', x)"
    assert connection.execute(text, (3,)).fetchall() == [(3,)]


def test_a_compatibility_function_stands_for_a_constant(connection: pykudu_sql.Connection) -> None:
    connection.execute("CREATE TABLE d (day DATE PRIMARY KEY)")
    connection.execute("INSERT INTO d VALUES (to_date('2024-02-25 12:00:00'))")
    assert connection.execute("SELECT day FROM d").fetchall() == [(dt.date(2024, 2, 25),)]


def test_what_coalesce_never_asks_need_not_be_grouped(connection: pykudu_sql.Connection) -> None:
    text = "SELECT coalesce({}) FROM t GROUP BY x % 2"
    assert connection.execute(text.format("7, x")).fetchall() == [(7,), (7,)]
    assert connection.execute(text.format("NULL, 8, coalesce(x, 9)")).fetchall() == [(8,), (8,)]
    with pytest.raises(pykudu_sql.ProgrammingError):
        connection.execute(text.format("x, 7"))


def test_a_wrong_number_of_arguments_is_an_error(connection: pykudu_sql.Connection) -> None:
    with pytest.raises(pykudu_sql.ProgrammingError):
        connection.execute("SELECT zeroifnull(1, 2, 3)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trunc(now(), 'XX')", "'XX'"),
        ("from_unixtime(1, 'yyyy-QQ')", "'QQ'"),
        ("from_unixtime(1, concat('yy', 'yy'))", "written as a text"),
    ],
)
def test_units_and_patterns_that_mean_nothing_are_named(
    connection: pykudu_sql.Connection, text: str, message: str
) -> None:
    with pytest.raises(pykudu_sql.DataError, match=message):
        connection.execute(f"SELECT {text}")


def test_every_function_is_documented() -> None:
    page = FUNCTIONS.read_text(encoding="utf-8").split("`")
    assert sorted((TABLE.keys() | COMPATIBILITY_FUNCTIONS) - set(page)) == []
