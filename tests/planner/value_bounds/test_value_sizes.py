"""How large a value may be, as far as its text tells."""

from math import inf

import pytest
import sqlglot
from sqlglot import exp

from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.query import plan_rows
from pykudu_sql.planner.value_bounds.value_sizes import CELL, CELL_BYTES, is_short, most_bytes


def value(text: str) -> exp.Expr:
    """An expression: x is a stored number, s a stored text, and nothing is known of d."""
    tree = sqlglot.parse_one(text, dialect="duckdb")
    for column in tree.find_all(exp.Column):
        if column.name != "d":
            column.meta[CELL] = CELL_BYTES if column.name == "s" else 64
    return tree


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("'abc'", 3),
        ("'ä'", 2),
        ("concat_ws('ab', '', 'c', '')", 5),
        ("(s)", CELL_BYTES),
        ("d", inf),
        ("(SELECT s FROM t)", CELL_BYTES),
        ("(SELECT d FROM t)", inf),
        ("(SELECT * FROM t)", inf),
        ("x + 1", 64),
        ("CAST(d AS INT)", 64),
        ("CAST(d AS TEXT)", inf),
    ],
)
def test_a_value_has_at_most_so_many_bytes(text: str, size: float) -> None:
    assert most_bytes(value(text)) == size


@pytest.mark.parametrize(
    ("text", "short"),
    [
        *((text, True) for text in ("1", "x", "(x)", "(SELECT x FROM t)", "CAST(s AS DATE)")),
        *((text, False) for text in ("'1'", "s", "d", "(SELECT s FROM t)", "CAST(x AS TEXT)")),
        ("(SELECT x, x FROM t)", False),
    ],
)
def test_numbers_and_times_are_short_and_texts_are_not(text: str, short: bool) -> None:
    assert is_short(value(text)) == short


@pytest.mark.parametrize(
    ("computed", "is_checked"),
    [("count(*)", False), ("max(a) + 1", False), ("max(s)", False), ("string_agg(s, '')", True)],
)
def test_a_computed_column_of_few_bytes_needs_no_check(
    context: PlanContext, computed: str, is_checked: bool
) -> None:
    inner = f"SELECT {computed} AS x FROM t"
    sql = plan_rows(SourceText(f"SELECT concat(x, x) FROM ({inner}) AS q"), context).sql
    assert ("WITHIN(" in sql.upper()) is is_checked
