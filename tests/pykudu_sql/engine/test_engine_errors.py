"""Errors of the engine become ours; what they quote of large values is short."""

import pytest

import pykudu_sql


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
