"""Errors of the engine become ours; what they quote of large values is short."""

import pytest

import pykudu_sql
from pykudu_sql.engine.engine_errors import translate


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("CAST(repeat('a', 5000000) AS INT)", "to INT"),
        ("CAST(repeat('1', 5000000) AS BIGINT)", "to BIGINT"),
        ("CAST(repeat('it''s ', 1000000) AS DOUBLE)", "to DOUBLE"),
        ("CAST(? AS INT)", "to INT"),
        ("1 = ?", "to INT"),
        ("1 + CAST(CAST(? AS STRING) AS INT)", "to INT"),
    ],
)
def test_an_error_quotes_the_ends_of_a_large_value(call: str, shown: str) -> None:
    parameters = ("x" * 5_000_000,) if "?" in call else None
    with pykudu_sql.connect(":memory:") as connection:
        with pytest.raises(pykudu_sql.DataError) as caught:
            connection.execute(f"SELECT {call}", parameters).fetchall()
        assert caught.value.sqlstate == "22018"
        assert shown in caught.value.message
        cause: BaseException | None = caught.value
        while cause is not None:
            assert len(str(cause)) < 5_000
            cause = cause.__cause__


def test_an_error_quotes_a_small_value_whole() -> None:
    value = "x" * 1_000
    with (
        pykudu_sql.connect(":memory:") as connection,
        pytest.raises(pykudu_sql.DataError, match=value),
    ):
        connection.execute("SELECT CAST(? AS INT)", (value,)).fetchall()


@pytest.mark.parametrize("letter", ["a", "é", "語", "🙂"])
@pytest.mark.parametrize(("call", "state"), [("CAST(s AS JSON)", "22018"), ("s -> '$.a'", "22000")])
def test_a_message_that_is_cut_within_a_letter_is_the_same_error(
    letter: str, call: str, state: str
) -> None:
    with pykudu_sql.connect(":memory:") as connection, pytest.raises(pykudu_sql.Error) as caught:
        query = f"SELECT {call} FROM (SELECT repeat('{letter}', 300) AS s)"
        connection.execute(query).fetchall()
    assert caught.value.sqlstate == state
    assert "codec" not in str(caught.value)


BEYOND_TIME = [
    "DATE '2020-01-01' + INTERVAL '300000 years'",
    "TIMESTAMP '2020-01-01' - INTERVAL '400000 years'",
    "DATE '2020-01-01' + 2147483647",
    "make_timestamp(300000, 1, 1, 1, 1, 1)",
    "make_time(25, 1, 1)",
    "to_timestamp(9e30)",
    "CAST(TIMESTAMP '294000-01-01' AS TIMESTAMP_NS)",
    "epoch_ms(9223372036854775807)",
    "last_day(DATE '5881580-07-10')",
]


@pytest.mark.parametrize("call", BEYOND_TIME)
def test_a_time_beyond_its_range_is_an_error_of_datetimes(call: str) -> None:
    with pykudu_sql.connect(":memory:") as connection, pytest.raises(pykudu_sql.Error) as caught:
        connection.execute(f"SELECT {call}").fetchall()
    assert caught.value.sqlstate == "22008"


@pytest.mark.parametrize("value", ["t", "max(t)", "max(d)"])
@pytest.mark.parametrize("type_name", ["DOUBLE", "DECIMAL(9,2)"])
def test_a_cast_that_is_not_offered_names_both_types(value: str, type_name: str) -> None:
    rows = "(SELECT now() AS t, current_date AS d) AS r"
    with pykudu_sql.connect(":memory:") as connection, pytest.raises(pykudu_sql.Error) as caught:
        connection.execute(f"SELECT CAST({value} AS {type_name}) FROM {rows}").fetchall()
    shown = f"{'DATE' if 'd' in value else 'TIMESTAMP'} cannot be cast to {type_name}"
    assert str(caught.value).splitlines()[0] == shown


@pytest.mark.parametrize(
    ("sql", "sqlstate", "message"),
    [
        ("SELECT sum(x) OVER w FROM range(3) t(x)", "42704", "there is no window 'w'"),
        ("SELECT x FROM range(3) t(x) WHERE rank() OVER () = 1", "42P20", "WHERE clause"),
        ("SELECT x FROM range(3) t(x) QUALIFY x = 1", "42P20", "at least one window"),
        (
            "SELECT sum(x) OVER (ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM range(3) t(x)",
            "42P20",
            "frame starting from current row",
        ),
        (
            "SELECT sum(x) OVER (w ORDER BY x) FROM range(3) t(x) WINDOW w AS (ORDER BY x)",
            "42P20",
            "cannot override ORDER BY",
        ),
        (
            "SELECT sum(x) OVER (ORDER BY x, x RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) "
            "FROM range(3) t(x)",
            "42P20",
            "RANGE frames must",
        ),
    ],
)
def test_a_wrong_window_is_told_by_its_rule(sql: str, sqlstate: str, message: str) -> None:
    with (
        pykudu_sql.connect(":memory:") as connection,
        pytest.raises(pykudu_sql.ProgrammingError, match=message) as caught,
    ):
        connection.execute(sql).fetchall()
    assert caught.value.sqlstate == sqlstate


@pytest.mark.parametrize(
    ("query", "sqlstate", "message"),
    [
        ("SELECT list_reduce([], (x, y) -> x)", "22000", "list_reduce on an empty input list"),
        ("FROM range('a')", "22018", "^could not convert string 'a' to BIGINT"),
        ("FROM range('9223372036854775808')", "22003", "does not fit into BIGINT"),
        ("SELECT chr(-1)", "22000", "UTF8 Codepoint -1"),
        ("SELECT from_base64('!!')", "22018", "'!!' as base64|\"!!\" as base64"),
    ],
)
def test_what_is_wrong_with_a_value_is_said(query: str, sqlstate: str, message: str) -> None:
    with (
        pykudu_sql.connect(":memory:") as connection,
        pytest.raises(pykudu_sql.DataError, match=message) as caught,
    ):
        connection.execute(query).fetchall()
    assert caught.value.sqlstate == sqlstate


@pytest.mark.parametrize(
    ("cast", "sqlstate", "message"),
    [
        ("CAST('x' AS INT)", "22018", "could not convert string 'x' to INT"),
        ("CAST(s AS BOOLEAN)", "22018", "could not convert string 'zz' to BOOLEAN"),
        ("CAST(300 AS TINYINT)", "22003", "300 does not fit into TINYINT"),
        ("CAST(n AS TINYINT)", "22003", "999 does not fit into TINYINT"),
        ("CAST(n AS DECIMAL(2,0))", "22003", "999 does not fit into DECIMAL"),
        ("CAST('300' AS TINYINT)", "22003", "'300' does not fit into TINYINT"),
        ("CAST(s AS DATE)", "22018", "'zz' is no DATE"),
        ("CAST('2026-99-99' AS DATE)", "22008", "'2026-99-99' is no DATE"),
        ("CAST(s AS TIMESTAMP)", "22018", "'zz' is no TIMESTAMP"),
        ("CAST(s AS TIME)", "22018", "'zz' is no TIME"),
        ("CAST(s AS JSON)", "22018", "'zz' is no JSON: unexpected character at byte 0"),
    ],
)
def test_a_cast_that_fails_names_the_one_that_does_not(
    cast: str, sqlstate: str, message: str
) -> None:
    with pykudu_sql.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (s STRING PRIMARY KEY, n INT)")
        connection.execute("INSERT INTO t VALUES ('zz', 999)")
        with pytest.raises(pykudu_sql.DataError, match=message) as caught:
            connection.execute(f"SELECT {cast} FROM t").fetchall()
        assert caught.value.sqlstate == sqlstate and "TRY_CAST" in (caught.value.hint or "")
        tried = connection.execute(f"SELECT TRY_{cast} FROM t").fetchall()
    assert tried == [(None,)]


def test_a_batch_of_too_many_texts_is_told_without_the_words_of_the_engine() -> None:
    said = (
        "Invalid Input Error: Arrow Appender: The maximum total string size for regular string "
        "buffers is 2147483647 but the offset of 2147483800 exceeds this."
    )
    error = translate(RuntimeError(said))
    assert error.sqlstate == "53200"
    assert error.message == "a batch of the result would have more than 2 GiB of texts"
