"""Integers of more than 64 bits, alone and in lists, structs and maps."""

from typing import Any

import duckdb
import pytest

import pykudu_sql
from pykudu_sql.results.wide_integers import wide_integers

_MOST = (1 << 128) - 1


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("[sum(1), NULL]", [1, None]),
        ("{'total': sum(2), 'n': 1, 'l': [sum(3)]}", {"total": 2, "n": 1, "l": [3]}),
        ("map {'a': sum(5)}", [("a", 5)]),
        ("map {sum(5): {'a b': sum(6), '\"x, y(': 1}}", [(5, {"a b": 6, '"x, y(': 1})]),
        (f"[{_MOST}::UHUGEINT, 5::UHUGEINT]", [_MOST, 5]),
        (f"[{10**40}, -1::BIGNUM]", [10**40, -1]),
        ("[[sum(1)], NULL]", [[1], None]),
        ("{'a': NULL::HUGEINT}", {"a": None}),
        ("CAST(NULL AS HUGEINT[])", None),
        ("[5::HUGEINT, 6]::HUGEINT[2]", [5, 6]),
        ("['HUGEINT']", ["HUGEINT"]),
        ("{'HUGEINT': 'a'}", {"HUGEINT": "a"}),
        ("sum(1)", 1),
    ],
)
def test_they_are_integers_of_python(query: str, value: Any) -> None:
    with pykudu_sql.connect(":memory:") as connection:
        (answer,) = connection.execute(f"SELECT {query}").fetchone() or ()
    assert answer == value
    assert "Decimal" not in repr(answer)


def test_answers_are_those_of_duckdb() -> None:
    query = "SELECT list(x ORDER BY x), {'x': sum(x)} FROM (SELECT sum(i) AS x FROM range(9) r(i)\
             GROUP BY i % 2)"
    with pykudu_sql.connect(":memory:") as connection:
        answer = connection.execute(query).fetchall()
    assert repr(answer) == repr(duckdb.sql(query).fetchall())


@pytest.mark.parametrize("name", ["INT", "DECIMAL(38,0)", "STRUCT(a INT)", "INT[]", "HUGEINTS"])
def test_other_types_need_nothing(name: str) -> None:
    assert wide_integers(name) is None
