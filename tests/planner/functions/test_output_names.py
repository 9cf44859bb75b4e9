"""Names of result columns, and of the columns of relations that are made of queries."""

from collections.abc import Sequence

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from pykudu_sql.planner.functions.output_names import (
    first_select,
    is_ambiguous,
    make_unlike,
    name_outputs,
    output_name,
)
from pykudu_sql.planner.parse.dialect import parse


def select(sql: str) -> exp.Select:
    tree = parse(sql)
    assert isinstance(tree, exp.Select)
    return tree


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ("A", "a"),
        ("t.A", "a"),
        ("a AS Total", "total"),
        ('a AS "Total"', "Total"),
        ("Count( * )", "Count( * )"),
        ("(a)", "a"),
    ],
)
def test_a_column_is_called_by_its_alias_its_column_or_its_text(item: str, name: str) -> None:
    (entry,) = select(f"SELECT {item} FROM t").expressions
    assert output_name(entry) == name


def test_computed_columns_of_every_branch_are_named_for_the_engine() -> None:
    tree = parse("SELECT a + 1, b FROM t UNION SELECT c, d * 2 FROM u")
    name_outputs(tree)
    aliases = [node.alias for node in tree.find_all(exp.Alias)]
    assert sorted(aliases) == ["a + 1", "d * 2"]


def test_the_first_select_of_a_query_names_its_columns() -> None:
    tree = parse("((SELECT a FROM t UNION SELECT b FROM t) EXCEPT SELECT c FROM t)")
    assert first_select(tree).sql() == "SELECT a FROM t"
    values = parse("VALUES (1)")
    assert first_select(values) is values


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        ("'a', 'A', 'a'", ["'a'", "'A'_1", "'a'_2"]),
        ("a, b + 1, B + 1", ["a", "b + 1", "B + 1_1"]),
        ('1, 2 AS "1"', ["1_1", "1"]),
        ('1, 1, 5 AS "1_1"', ["1", "1_2", "1_1"]),
        ("a AS x, b AS x", ["x", "x"]),
    ],
)
def test_only_headings_that_nobody_gave_are_made_unlike(entries: str, names: Sequence[str]) -> None:
    items = select(f"SELECT {entries} FROM t").expressions
    assert make_unlike([(item, [output_name(item)]) for item in items]) == names
    assert [output_name(item) for item in items] == names


@given(st.lists(st.sampled_from(["x", "x_1", "x_2", "x_1_1", "y"]), min_size=1, max_size=6))
def test_a_name_that_is_not_ambiguous_means_the_same_to_the_engine(names: list[str]) -> None:
    columns = ", ".join(f"{place} AS {name}" for place, name in enumerate(names))
    with duckdb.connect() as engine:
        for name in set(names):
            if is_ambiguous(name, names):
                continue
            (meant,) = engine.execute(f"SELECT {name} FROM (SELECT {columns})").fetchall()
            assert (names.count(name), meant) == (1, (names.index(name),))
