"""Conditions of outer joins that get few rows at once, as trees; `test_vector_parts` runs them."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.pushdown.join_parts import cut_joins
from pykudu_sql.planner.pushdown.wide_calls import is_wide_call, qualifier


def cut(join: str, items: str = "a.k") -> str | None:
    """The form of a query of two relations, None where it stays."""
    select = parse(f"SELECT {items} FROM a {join}")
    assert isinstance(select, exp.Select)
    return select.sql("duckdb") if cut_joins(select, 8) else None


def test_the_side_that_may_be_without_a_match_gets_rows_between_its_rows() -> None:
    assert cut("LEFT JOIN b ON upper(a.x || b.x) = 'A'") == (
        "SELECT a.k FROM a LEFT JOIN (SELECT UNNEST(RANGE(0, 8)) AS __part_0, * "
        'FROM b AS "__joined_0") AS "b" '
        'ON CASE WHEN "b"."__part_0" = 0 THEN UPPER(a.x || b.x) = \'A\' END'
    )
    right = cut("RIGHT JOIN b ON upper(a.x || b.x) = 'A'")
    assert right is not None and 'FROM a AS "__joined_0"' in right


@pytest.mark.parametrize("join", ["LEFT", "SEMI", "ANTI"])
def test_an_equality_of_both_sides_stays_one(join: str) -> None:
    form = cut(f"{join} JOIN b ON upper(b.x) = upper(a.x) AND upper(a.x || b.x) > 'A'")
    assert form is not None
    assert 'ON CASE WHEN "b"."__part_0" = 0 THEN UPPER(b.x) END = UPPER(a.x) AND' in form


def test_a_star_has_no_numbers_of_parts() -> None:
    condition = "LEFT JOIN b ON upper(a.x || b.x) = 'A'"
    for items, printed in (("*", "* EXCLUDE"), ("b.*", "b.* EXCLUDE"), ("a.*", "SELECT a.* FROM")):
        form = cut(condition, items)
        assert form is not None and printed in form


@pytest.mark.parametrize(
    "join",
    [
        "JOIN b ON upper(a.x || b.x) = 'A'",
        "FULL JOIN b ON upper(a.x || b.x) = 'A'",
        "LEFT JOIN b ON upper(a.x) = upper(b.x)",
        "LEFT JOIN b ON a.x > b.x AND upper(b.x) > 'A'",
        "LEFT JOIN b USING (k)",
        "LEFT JOIN b AS u (k, x) ON upper(a.x || u.x) = 'A'",
        "LEFT JOIN LATERAL (SELECT 1 AS x) AS l ON upper(a.x || l.x) = 'A'",
        "LEFT JOIN b ON upper(a.x || (SELECT b.x)) = 'A'",
    ],
)
def test_other_joins_stay(join: str) -> None:
    assert cut(join) is None


@pytest.mark.parametrize(
    ("call", "is_wide"),
    [("upper(a.x)", True), ("a.x || 'b'", True), ("CAST(a.x AS INT)", False),
     ("coalesce(a.x, 'b')", False), ("length(a.x)", False), ("upper('a')", False),
     ("a.x = 'b'", False)],
)  # fmt: skip
def test_calls_that_make_values_of_columns_are_wide(call: str, is_wide: bool) -> None:
    assert is_wide_call(parse(f"SELECT {call}").selects[0]) is is_wide


def test_a_column_is_of_the_relation_that_it_names() -> None:
    assert [qualifier(exp.column("x", "A")), qualifier(exp.column("x"))] == ["a", ""]
