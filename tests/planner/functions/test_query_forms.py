"""Forms of queries that the engine lacks."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.functions.query_forms import (
    check_operand,
    check_positions,
    free_variable,
    name_number,
    name_rolled_up,
    referenced_outputs,
    swap_right_semi_join,
    values_names,
)
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.storage.errors import ProgrammingError, SyntaxError


def select(sql: str) -> exp.Select:
    tree = parse(sql)
    assert isinstance(tree, exp.Select)
    return tree


@pytest.mark.parametrize("word", ["ROLLUP", "CUBE"])
def test_rollup_behind_the_keys_is_written_around_them(word: str) -> None:
    tree = select(f"SELECT 1 FROM t GROUP BY a, b WITH {word}")
    name_rolled_up(tree)
    assert tree.sql("duckdb").endswith(f"GROUP BY {word} (a, b)")


def test_a_rollup_with_keys_of_its_own_and_no_group_at_all_stay() -> None:
    for sql in ("SELECT 1 FROM t GROUP BY a, ROLLUP (b)", "SELECT 1 FROM t"):
        tree = select(sql)
        before = tree.sql("duckdb")
        name_rolled_up(tree)
        assert tree.sql("duckdb") == before


def test_a_right_semi_join_is_the_left_one_the_other_way_around() -> None:
    tree = select("SELECT * FROM a RIGHT ANTI JOIN b ON a.x = b.x")
    swap_right_semi_join(tree)
    assert "FROM b ANTI JOIN a" in tree.sql("duckdb")
    kept = select("SELECT * FROM a LEFT SEMI JOIN b ON a.x = b.x")
    before = kept.copy()
    swap_right_semi_join(kept)
    assert kept == before


def test_the_variable_of_a_comprehension_is_no_column() -> None:
    tree = select("SELECT [x + t.x + y FOR X IN list IF x > 1] FROM t")
    comprehension = tree.find(exp.Comprehension)
    assert comprehension is not None
    free_variable(comprehension)
    columns = [column.sql() for column in comprehension.this.find_all(exp.Column)]
    assert sorted(columns) == ["t.x", "y"]


def test_values_take_their_names_from_any_row() -> None:
    values = parse("VALUES (1 AS a, 2), (3, 4 AS B)")
    assert isinstance(values, exp.Values)
    assert values_names(values) == ["a", "b"]
    assert values.find(exp.Alias) is None
    plain = parse("VALUES (1, 2)")
    assert isinstance(plain, exp.Values)
    assert values_names(plain) == ["col0", "col1"]


@pytest.mark.parametrize(
    ("clause", "indices"),
    [
        ("", []),
        ("ORDER BY B", [1]),
        ("ORDER BY a + c", [0, 2]),
        ("ORDER BY 2", [0, 1, 2]),
        ("GROUP BY ALL", [0, 1, 2]),
        ("GROUP BY 1", [0, 1, 2]),
        ("ORDER BY 'a'", []),
    ],
)
def test_a_star_brings_the_columns_that_clauses_refer_to(clause: str, indices: list[int]) -> None:
    tree = select(f"SELECT * FROM t {clause}")
    assert referenced_outputs(tree, ["a", "b", "c"]) == indices


@pytest.mark.parametrize("clause", ["ORDER BY a", "LIMIT 1", "OFFSET 1"])
def test_a_clause_of_one_operand_needs_parentheses(clause: str) -> None:
    tree = parse(f"(SELECT a FROM t {clause}) UNION SELECT b FROM u")
    assert isinstance(tree, exp.SetOperation)
    check_operand(tree.this, tree)
    with pytest.raises(SyntaxError, match=f"^{clause.rsplit(' ', 1)[0]} of one query of UNION"):
        check_operand(tree.this.this, tree)


@pytest.mark.parametrize(
    ("clause", "number"),
    [
        ("ORDER BY 3", "3"),
        ("ORDER BY a, (0)", "0"),
        ("ORDER BY -1", "-1"),
        ("GROUP BY 3", "3"),
        ("GROUP BY 1, 2, 9", "9"),
        ("GROUP BY ROLLUP (3)", "3"),
        ("GROUP BY 3 WITH ROLLUP", "3"),
        ("GROUP BY 1, 4 WITH CUBE", "4"),
        ("GROUP BY a, CUBE (1, (a, 4))", "4"),
        ("GROUP BY GROUPING SETS ((a, 1), ROLLUP (5), ())", "5"),
    ],
)
def test_a_number_of_no_column_is_refused_at_its_place(clause: str, number: str) -> None:
    sql = f"SELECT a, b FROM t {clause}"
    with pytest.raises(ProgrammingError, match="there is no column") as caught:
        check_positions(select(sql), 2)
    span = caught.value.span
    assert span is not None and sql[span.start : span.start + span.length] == number
    assert caught.value.sqlstate == "42P10"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a, b FROM t ORDER BY 2, 1",
        "SELECT a, b FROM t ORDER BY 2 /* its last */, 1 -- and its first",
        "SELECT a, b FROM t GROUP BY 1 /* its first */, b",
        "SELECT a, b FROM t GROUP BY 1, b",
        "SELECT a, b FROM t GROUP BY ROLLUP (1, b), GROUPING SETS ((2), ())",
        "SELECT DISTINCT ON (2) a, b FROM t ORDER BY 2",
        "SELECT a, b FROM t ORDER BY 3 + 1, 5.5, '9'",
        "SELECT a, b FROM t UNION SELECT 1, 2 ORDER BY 2",
        "SELECT a, b FROM t",
    ],
)
def test_numbers_of_columns_and_other_keys_pass(sql: str) -> None:
    check_positions(parse(sql), 2)


def test_the_name_of_a_rows_number_is_printed_each_time() -> None:
    tree = parse("SELECT place FROM unnest(['a']) WITH ORDINALITY AS u(item, place)")
    name_number(tree.args["from_"].this)
    texts = {tree.sql("duckdb", copy=False) for _ in range(3)}
    (text,) = texts
    assert "WITH ORDINALITY AS u(item, place)" in text
