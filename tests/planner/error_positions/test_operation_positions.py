"""The operation or the call that has the types which the engine tells."""

import pytest

from pykudu_sql.planner.error_positions.operation_positions import span_of_operation
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.storage.errors import SourceSpan


def shown(span: SourceSpan | None, statement: str) -> str | None:
    return None if span is None else statement[span.start : span.start + span.length]


@pytest.mark.parametrize(
    ("message", "statement", "place"),
    [
        ("no operator matches INT + STRING", "SELECT 1 + 'a'", "1 + 'a'"),
        ("no operator matches INT + STRING", "SELECT 1 + 2, a + 'b', 'c' + 1", "a + 'b'"),
        ("no operator matches INT + STRING", "SELECT a + 'b', c + 'd'", None),
        ("no operator matches INT + STRING", "SELECT a - 'b'", None),
        ("no operator matches DECIMAL(2,1) << INT", "SELECT 1.5 << 2", "1.5 << 2"),
        ("no operator matches TIMESTAMP WITH TIME ZONE * INT", "SELECT a * 1, 'x' * 1", "a * 1"),
        ("no operator matches -STRING", "SELECT -'a', -1", "-'a'"),
        ("no operator matches ~STRING", "SELECT ~a", "~a"),
        ("no operator matches INT LIKE STRING", "SELECT a LIKE 'x'", "a LIKE 'x'"),
        ("no operator matches INT[INT]", "SELECT a[1]", "a"),
        ("no operator matches a riddle", "SELECT 1", None),
        ("no function matches abs(STRING)", "SELECT abs(1), abs('x')", "abs"),
        ("no function matches abs(STRING)", "SELECT abs(a), abs(b)", None),
        ("no function matches substring(INT, INT)", "SELECT substr(a, 1)", "substr"),
        (
            "no function matches time_bucket(TIMESTAMP, INTERVAL)",
            "SELECT time_bucket(t, x)",
            "time_bucket",
        ),
        ("no function matches strpos(INT, STRING)", "SELECT instr(1, 'x')", "instr"),
        ("no function matches repeat(STRING, STRING)", "SELECT repeat('x', 'y')", "repeat"),
        (
            "cannot compare values of type TIMESTAMP and type INT - an explicit cast",
            "SELECT ts > 5, 5 = 6",
            "ts > 5",
        ),
        (
            "cannot compare values of type TIMESTAMP and type INT - an explicit cast",
            "SELECT 5 > ts",
            "5 > ts",
        ),
        ("overflow in addition of BIGINT (7 + 1)!", "SELECT 7 + 1, 7 + 2, a - 1", "7 + 1"),
        ("overflow in multiplication of INT64 (7 * 1)!", "SELECT a * b, c * d", None),
        ("INT cannot be cast to DATE", "SELECT a::DATE, b::INT, try_cast(c AS DATE)", "a"),
        ("INT cannot be cast to DATE", "SELECT a::DATE, b::DATE", None),
        ("DECIMAL(2,1) cannot be cast to TIMESTAMP", "SELECT to_char(5.5, '9.9')", "to_char"),
        ("INT cannot be cast to DATE", "SELECT abs(a) UNION SELECT d", None),
        ("INT cannot be cast to DATE", "SELECT a UNION SELECT d", "a"),
        ("INT cannot be cast to DATE", "SELECT a, b UNION SELECT d, e", None),
        ("cannot mix values of type A and B in CASE expression", "SELECT if(a, 1, b)", "a, 1, b"),
        ("argument for ntile must be greater than zero", "SELECT ntile(0) OVER ()", "ntile"),
        (
            "window ROWS PRECEDING expression cannot be negative",
            "SELECT rank() OVER (), max(a) OVER (ORDER BY a ROWS -1 PRECEDING)",
            "a) OVER (ORDER BY a ROWS -1",
        ),
        (
            "cannot mix values of type A and B in COALESCE operator",
            "SELECT coalesce(a, b)",
            "coalesce",
        ),
        ("cannot combine types of INT and DATE", "SELECT greatest(a, b)", "greatest"),
        ("encode() knows no format", "SELECT abs(a), hex(encode(a))", "encode"),
        ("'repeat' would make a value of more", "SELECT repeat('a', 9)", "repeat"),
        ("overflow in thought of INT (7 + 1)!", "SELECT 7 + 1", None),
    ],
)
def test_the_one_operation_of_these_types_is_shown(
    message: str, statement: str, place: str | None
) -> None:
    assert shown(span_of_operation(message, parse(statement)), statement) == place
