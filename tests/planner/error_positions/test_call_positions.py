"""Calls that an error does not name, and entries of VALUES whose types differ."""

import pytest

from pykudu_sql.planner.error_positions.call_positions import span_of_call, span_of_computation
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.storage.errors import SourceSpan

INT_AND_DATE = "cannot combine types INT and DATE - an explicit cast is required"
UNLIKE = "no function matches list_value() with arguments of types as different as these"


def shown(span: SourceSpan | None, statement: str) -> str | None:
    return None if span is None else statement[span.start : span.start + span.length]


@pytest.mark.parametrize(
    ("message", "statement", "place"),
    [
        ("invalid input for hex digit: z", "SELECT upper(a), unhex('zz')", "unhex"),
        ("invalid input for hex digit: z", "SELECT unhex(a), unhex(b)", None),
        ("invalid input for binary digit: 2", "SELECT unbin(a)", "unbin"),
        ("'%Q' in a pattern of time means nothing", "SELECT a + strptime(b, '%Q')", "strptime"),
        ("'x' is not written as the pattern of time says", "SELECT strptime(b, '%Y')", "strptime"),
        ("ACOS is undefined outside [-1,1]", "SELECT acos(2), asin(1)", "acos"),
        ("overflow on abs(-128)", "SELECT abs(a), sqrt(b)", "abs"),
        ("left-shift value 100 is out of range", "SELECT 5 << 100, abs(a)", "5 << 100"),
        ("a riddle", "SELECT abs(a)", None),
        (INT_AND_DATE, "VALUES (1), (DATE '2020-01-01')", "'2020-01-01'"),
        (INT_AND_DATE, "VALUES (1, 2), (-3, CAST(4 AS DATE))", "4"),
        (INT_AND_DATE, "VALUES (d, 1), (d, 2), (d, CAST(5 AS DATE))", "5"),
        (INT_AND_DATE, "VALUES ('d', 1), ('d', 2), ('d', CAST(5 AS DATE))", "5"),
        (INT_AND_DATE, "VALUES (1, 2), (CAST(4 AS DATE), CAST(5 AS DATE))", None),
        (INT_AND_DATE, "SELECT 1", None),
        ("cannot combine types BINARY and INT - an explicit cast", "VALUES (x'00'), (1)", "1"),
        ("cannot combine types INT[] and INT - an explicit cast", "VALUES ([1]), (1)", "1"),
        (UNLIKE, "SELECT [1, 2], [a, b], ['x', 'y']", "a, b"),
        (UNLIKE, "SELECT [1, CAST(5 AS DATE)]", "1, CAST(5"),
    ],
)  # fmt: skip
def test_the_one_call_or_entry_that_an_error_is_about_is_shown(
    message: str, statement: str, place: str | None
) -> None:
    assert shown(span_of_call(message, parse(statement)), statement) == place


@pytest.mark.parametrize(
    ("message", "statement", "place"),
    [
        ("date out of range: 2020-13-1", "SELECT make_date(2020, 13, -1)", "make_date"),
        ("date out of range: 2020-13-1", "SELECT make_date(2020, 13, 1), a + 1", None),
        ("could not convert string 'a' to INT", "SELECT upper(a) FROM t WHERE a = 1", None),
        ("LIMIT or OFFSET is negative", "SELECT sum(a) FROM t LIMIT ?", None),
        ("'x' is no moment", "SELECT sum(a) FROM t AS OF ?", None),
        ("'2040-01-01' has not come yet", "SELECT sum(a) FROM t AS OF ?", None),
    ],
)
def test_what_alone_computes_a_value_is_shown(
    message: str, statement: str, place: str | None
) -> None:
    assert shown(span_of_computation(message, parse(statement)), statement) == place
