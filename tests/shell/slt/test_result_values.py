"""Results formatted by sqllogictest's rules."""

import datetime
from decimal import Decimal

import pytest

from pykudu_sql.shell.slt.records import Digest, Sort
from pykudu_sql.shell.slt.values import digest, format_value, order


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, "I", "NULL"),
        (None, "T", "NULL"),
        (5, "I", "5"),
        (5.9, "I", "5"),
        (-5.9, "I", "-5"),
        (True, "I", "1"),
        (Decimal("7.99"), "I", "7"),
        (9223372036854775807, "I", "9223372036854775807"),
        ("12abc", "I", "12"),
        ("abc", "I", "0"),
        (5, "R", "5.000"),
        (0.0005, "R", "0.001"),
        (-0.0, "R", "0.000"),
        (1 / 3, "R", "0.333"),
        (Decimal("2.0005"), "R", "2.001"),
        (-9223372036854775808.0, "R", "-9223372036854776000.000"),
        (1e300, "R", "1" + "0" * 300 + ".000"),
        ("3.5", "R", "3.500"),
        ("", "T", "(empty)"),
        ("as is", "T", "as is"),
        ("tab\tand\x01", "T", "tab@and@"),
        ("Zürich", "T", "Zürich"),
        (12, "T", "12"),
        (Decimal("1.50"), "T", "1.50"),
        (False, "T", "false"),
        (b"\x0a", "T", "0a"),
        (datetime.datetime(2026, 1, 2), "T", "2026-01-02 00:00:00"),
    ],
)
def test_a_value_is_formatted_by_its_column(value: object, kind: str, text: str) -> None:
    assert format_value(value, kind) == text


def test_rows_and_values_sort_as_text() -> None:
    rows = (("9", "a"), ("10", "b"))
    assert order(rows, Sort.NOSORT) == rows
    assert order(rows, Sort.ROWSORT) == (("10", "b"), ("9", "a"))
    assert order(rows, Sort.VALUESORT) == (("10", "9"), ("a", "b"))


def test_a_digest_is_the_md5_of_the_values_each_on_its_line() -> None:
    # printf '1\n2\n' | md5sum
    assert digest((("1",), ("2",))) == Digest(2, "6ddb4095eb719e2a9f0a3f95677d24e0")
