"""A text that is too long for a number or a time is not parsed; all else is cast as before."""

from collections.abc import Iterator

import pytest

import pykudu_sql
from pykudu_sql.planner.functions.rules import apply_rules
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.planner.value_bounds.value_bounds import bound_values, without_bounds

TYPES = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(38,10)", "DATE",
    "TIME", "TIMESTAMP", "INTERVAL", "UUID",
)  # fmt: skip
PARSING = (
    "months_between({}, '2024-01-01')", "int_months_between('2024-01-01', {})",
    "seconds_sub({}, 1)", "minutes_add({}, 1)", "datetime({})", "date({})", "time({})",
    "timestamp({})",
    "next_day({}, 'mon')", "to_date({}, 'yyyy')", "to_timestamp({}, 'yyyy')",
    "strptime({}, '%Y')", "unix_timestamp({}, 'yyyy')",
    "from_utc_timestamp(TIMESTAMP '2024-01-01', {})", "timezone({}, TIMESTAMP '2024-01-01')",
    "TIMESTAMP '2024-01-01' AT TIME ZONE {}",
)  # fmt: skip
LONG = "repeat(lower('A'), 70000)"
DAY = "DATE '2024-01-01'"
KNOWN = "repeat('a', 60000000)"


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, a STRING, d DOUBLE, m DATE)")
        connection.execute(
            "INSERT INTO t VALUES (1, '12', 1.5, '2024-01-01'), (2, '7', 2.5, '2024-01-02'), "
            "(3, NULL, NULL, NULL)"
        )
        yield connection


@pytest.mark.parametrize("text", [LONG, KNOWN, "?"])
@pytest.mark.parametrize("call", [*(f"CAST({{}} AS {kind})" for kind in TYPES), *PARSING])
def test_a_text_that_is_too_long_is_refused(
    connection: pykudu_sql.Connection, call: str, text: str
) -> None:
    parameters = ("1" * 70_000,) if text == "?" else None
    with pytest.raises(pykudu_sql.DataError) as caught:
        connection.execute(f"SELECT {call.format(text)}", parameters).fetchall()
    assert caught.value.sqlstate == "22018"
    assert caught.value.message.startswith("could not convert")
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    "condition",
    ["{d} = {t}", "{t} <> {d}", "{d} IS DISTINCT FROM {t}", "{t} IN ({d}, {d})", "{d} IN ({t})",
     "CASE {t} WHEN {d} THEN TRUE END", "({d}) = ({t})"],
)  # fmt: skip
def test_a_text_that_is_too_long_is_compared_with_no_time(
    connection: pykudu_sql.Connection, condition: str
) -> None:
    for text in ("repeat('1', 60000000)", "lower(repeat('1', 60000000))"):
        with pytest.raises(pykudu_sql.DataError, match="could not convert a string of") as caught:
            connection.execute(f"SELECT {condition.format(t=text, d=DAY)}").fetchall()
        assert caught.value.sqlstate == "22018"
    for text in ("repeat('2024-01-01', 1)", "'2024-01-01'"):
        plain = condition.format(t=text, d=DAY)
        assert connection.execute(f"SELECT ({plain}) IS NOT NULL").fetchone() == (True,)


GATHERED = "(SELECT string_agg('1', '') FROM range(70000))"


@pytest.mark.parametrize(
    "query",
    ["SELECT {d} = {t}", "SELECT {t} IN ({d}, {d})", "SELECT nullif({d}, {t})",
     "SELECT {d} IS DISTINCT FROM {t}", "SELECT TIMESTAMP '2024-01-01' <> {t}",
     "SELECT CASE {t} WHEN {d} THEN 2 END", "SELECT count(*) FROM t WHERE {t} = m",
     "SELECT x = {d} FROM (SELECT {t} AS x)", "SELECT lower(x) = {d} FROM (SELECT {t} AS x)",
     "SELECT x = y FROM (SELECT {t} AS x, max(m) AS y FROM t)",
     "SELECT count(*) FROM (SELECT {t} AS x) JOIN t ON x = m",
     "SELECT 1 FROM t GROUP BY m HAVING m = {t}",
     "SELECT 1 FROM range(70000) HAVING string_agg('1', '') = max({d})"],
)  # fmt: skip
def test_a_text_that_turns_out_too_long_is_compared_with_nothing_short(
    connection: pykudu_sql.Connection, query: str
) -> None:
    with pytest.raises(pykudu_sql.DataError, match="could not convert string") as caught:
        connection.execute(query.format(t=GATHERED, d=DAY)).fetchall()
    assert caught.value.sqlstate == "22018"
    assert len(caught.value.message) < 200


def test_comparisons_of_computed_values_are_as_before(connection: pykudu_sql.Connection) -> None:
    texts = f"(SELECT {GATHERED} AS x, {GATHERED} || 'b' AS y, k AS n, [k] AS l FROM t)"
    for condition, count in (
        ("x = x", 3), ("x < y", 3), ("x IN (y, x)", 3), ("x BETWEEN x AND y", 3), ("x = '1'", 0),
        ("CASE x WHEN y THEN 0 WHEN x THEN 1 END = 1", 3), (f"x = {GATHERED}", 3),
        ("x IN (SELECT x)", 3), ("lower(x) = upper(x)", 3), ("n = 2", 1), ("2 = n", 1),
        ("n IN (1, 3)", 2), ("n BETWEEN 2 AND 3", 2), ("n + 0 < 2.5", 2), ("l = [2]", 1),
        ("n = (SELECT max(k) FROM t)", 1), ("CAST(left(x, 1) AS INT) = 1", 3),
        ("n IS DISTINCT FROM 2", 2), ("n = NULL", 0), ("n = CAST('2' AS INT)", 1),
    ):  # fmt: skip
        rows = connection.execute(f"SELECT count(*) FROM {texts} WHERE {condition}").fetchall()
        assert rows == [(count,)], condition
    joined = "SELECT count(*) FROM (SELECT max(k) + 0 AS n FROM t GROUP BY k) a JOIN t ON n = k"
    assert connection.execute(joined).fetchall() == [(3,)]


@pytest.mark.parametrize("kind", TYPES)
def test_try_cast_of_a_text_that_is_too_long_is_null(
    connection: pykudu_sql.Connection, kind: str
) -> None:
    sql = f"SELECT TRY_CAST({LONG} AS {kind}), TRY_CAST(? AS {kind}), try_strptime({LONG}, '%Y')"
    assert connection.execute(sql, ("1" * 70_000,)).fetchall() == [(None, None, None)]


def test_a_text_as_long_as_a_cell_is_cast(connection: pykudu_sql.Connection) -> None:
    sql = "SELECT CAST(lpad(lower('7'), 65536, '0') AS INT), CAST(? AS INT)"
    assert connection.execute(sql, (" " * 65_535 + "7",)).fetchall() == [(7, 7)]


def test_values_of_other_types_are_cast_as_before(connection: pykudu_sql.Connection) -> None:
    for sql, rows in (
        ("SELECT CAST(x AS INT), CAST(y AS INT), CAST(z AS INT) FROM "
         "(SELECT a AS x, d AS y, k + 0.5 AS z FROM t ORDER BY k LIMIT 9) ORDER BY 1",
         [(7, 2, 3), (12, 2, 2), (None, None, 4)]),
        ("SELECT CAST(lower(NULL) AS INT), CAST(CAST(NULL AS STRING) AS DATE)", [(None, None)]),
        ("SELECT CAST(x AS DOUBLE) FROM (SELECT unnest([1, 2]) AS x)", [(1.0,), (2.0,)]),
        ("SELECT CAST(lower(x) AS INT) AS n, count(*) FROM (SELECT string_agg(a, '') AS x FROM t "
         "WHERE k < 3 GROUP BY k) GROUP BY CAST(lower(x) AS INT) "
         "HAVING CAST(lower(x) AS INT) + 0 > 1 ORDER BY n",
         [(7, 1), (12, 1)]),
        ("SELECT CAST(sum(k) AS INT), CAST(sum(sum(k)) OVER () AS INT) FROM t", [(6, 6)]),
        ("SELECT list_transform(['1', '2'], x -> CAST(x || '0' AS INT))", [([10, 20],)]),
        ("SELECT CAST((SELECT max(a) FROM t) AS INT)", [(7,)]),
        ("SELECT CAST(json_extract_string('{\"a\": 5}', '$.a') AS INT)", [(5,)]),
        ("SELECT CAST(to_json(5) AS INT)", [(5,)]),
    ):  # fmt: skip
        assert connection.execute(sql).fetchall() == rows, sql


def test_casts_of_parameters_stand_where_constants_must(connection: pykudu_sql.Connection) -> None:
    for sql in ("SELECT k FROM t ORDER BY k LIMIT CAST(? AS INT)",
                "SELECT k FROM t WHERE k = CAST(? AS INT)",
                "SELECT day(DATE '2024-01-01' + INTERVAL (CAST(? AS INT) - 1) DAY)"):  # fmt: skip
        assert connection.execute(sql, ("1",)).fetchall() == [(1,)], sql


def test_casts_of_what_is_known_to_be_short_are_not_checked() -> None:
    for call in ("CAST('1' AS INT)", "CAST(sum(1) AS INT)", "CAST(1 + 2 AS DOUBLE)",
                 "CAST(left('abc', 2) AS DATE)", "CAST(x AS STRING)", "now()::DATE"):  # fmt: skip
        tree = apply_rules(parse(f"SELECT {call}"))
        plain = to_sql(tree)
        assert to_sql(bound_values(tree)) == plain


@pytest.mark.parametrize("cast", ["CAST", "TRY_CAST"])
def test_checks_of_casts_can_be_taken_out_again(cast: str) -> None:
    for text in ("x", "lower(x) || y"):
        plain = to_sql(apply_rules(parse(f"SELECT {cast}({text} AS INT)")))
        tree = bound_values(apply_rules(parse(f"SELECT {cast}({text} AS INT)")))
        assert "CASTABLE(" in to_sql(tree)
        assert to_sql(without_bounds(tree)) == plain
