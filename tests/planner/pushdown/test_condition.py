"""Boolean expressions as conditions of single tables, as wide as they have to be."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.explain.predicate_text import predicate_text
from pykudu_sql.planner.parse.dialect import display, parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.pushdown.condition import (
    ConditionReader,
    conjuncts,
    shared_conjuncts,
    stored_column,
)


def conditions(where: str, context: PlanContext) -> list[tuple[str, str, bool]]:
    """Of each table its name, the condition, and whether it fails for a row of NULLs."""
    bound = bind(parse(f"select 1 from t, u where {where}"), context)
    read = ConditionReader(bound, context).read(bound.tree.args["where"].this)
    return [
        (each.reference.alias, predicate_text(each.template, each.reference.table.schema),
         each.fails_null)
        for each in read
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("where", "condition", "fails_null"),
    [
        ("3 < a", "a >= 4", True),
        ("a between 1 and 3", "a >= 1 AND a <= 3", True),
        ("a in (1, ?)", "a IN (1, ?1)", True),
        ("s like 'ab%'", "s STARTS WITH 'ab'", True),
        ("s like 'ab'", "s = 'ab'", True),
        ("s like '%'", "s IS NOT NULL", True),
        ("s like ''", "s = ''", True),
        ("s like '_b%c%'", "s LIKE '_b%c%'", True),
        ("s like 'a%b'", "s STARTS WITH 'a' AND s LIKE 'a%b'", True),
        (r"s like 'a\b%c'", r"s STARTS WITH 'a\b'", True),
        ("starts_with(s, 'ab')", "s STARTS WITH 'ab'", True),
        ("s ^@ ''", "s IS NOT NULL", True),
        ("ends_with(s, 'ab')", "s LIKE '%ab'", True),
        ("contains(s, 'ab')", "s LIKE '%ab%'", True),
        # Values that the engine casts to a type that holds less of them, or of the column.
        ("a = cast(8 as float)", "a >= 7 AND a <= 9", True),
        ("a < cast(16777216 as float)", "a <= 16777221", True),
        ("a between cast(8 as float) and 12", "a >= 7 AND a <= 13", True),
        ("a in (1, cast(8 as float))", "(a >= 0 AND a <= 2) OR (a >= 7 AND a <= 9)", True),
        ("a in (1e0, 9007199254740993)", "a >= 0 AND a <= 2", True),
        ("a between ? and cast(8 as float)", "a <= 9", True),
        ("((flag))", "flag = true", True),
        ("not flag", "flag = false", True),
        ("a is null", "a IS NULL", False),
        ("not (a is null)", "a IS NOT NULL", True),
        ("(a = 1 and s = 'x') or a = 2", "(a = 1 AND s = 'x') OR a = 2", True),
        ("a = 1 or a is null", "a IS NULL OR a = 1", False),
    ],
)
def test_an_expression_says_a_condition_of_its_table(
    context: PlanContext, where: str, condition: str, fails_null: bool
) -> None:
    assert conditions(where, context) == [("t", condition, fails_null)]


@pytest.mark.parametrize(
    "where",
    [
        "contains(s, 'a%')", "starts_with('ab', s)", "not contains(s, 'a')",
        "a = b", "a = 1 or d > b", "s not like 'ab%'", "a in (1, b)", "a + 1 = 2", "a = random()",
        "a between symmetric 3 and 1", "a = 1 or t_id = 2",
    ],
)  # fmt: skip
def test_what_depends_on_more_than_a_column_and_constants_says_nothing(
    context: PlanContext, where: str
) -> None:
    assert conditions(where, context) == []


@pytest.mark.parametrize(
    ("where", "is_exact"),
    [
        ("a between 1 and ?", True), ("a between b and 3", False), ("5 between a and 9", None),
        ("a in (1, ?, null)", True), ("a in (1, cast(2 as float), ?)", False),
        ("a in (1, 1e300)", False), ("s like 'ab%'", True), ("s = 5", False), ("d = 1", True),
        ("d in (1, 0.5, 1e300)", True), ("d > 9007199254740993", False),
        ("d = 0.1234567890123456", False),
        ("s like 'a_b%'", True), ("s like '%'", True), ("s like 'ab'", True),
        (r"s like 'a\b%c'", False), ("s like 'a!%b' escape '!'", None), ("s ilike 'a%'", None),
        ("flag", True), ("not flag", True), ("a", False), ("t.id is not null", True),
        ("a = 1 or (b > 2 and a is null)", True), ("a = 1 or (b > 2 and a + 1 = 3)", False),
        ("a = 1 or s like 'x%'", True), ("a = 1 and t_id = 2 or a = 2", False),
        ("a = ? or null = a", True), ("a = ? or t.id is not null", False),
    ],
)  # fmt: skip
def test_a_condition_says_whether_it_is_wider_than_its_expression(
    context: PlanContext, where: str, is_exact: bool | None
) -> None:
    bound = bind(parse(f"select 1 from t, u where ({where})"), context)
    read = ConditionReader(bound, context).read(bound.tree.args["where"].this)
    assert [condition.is_exact for condition in read] == ([] if is_exact is None else [is_exact])


def test_each_table_has_its_own_condition(context: PlanContext) -> None:
    said = conditions("(a = 1 and t_id = 2) or (t_id = 3 and a = 4)", context)
    assert [(alias, text) for alias, text, _ in said] == [
        ("t", "a IN (1, 4)"),
        ("u", "t_id IN (2, 3)"),
    ]


def test_of_other_columns_than_those_allowed_nothing_is_said(context: PlanContext) -> None:
    bound = bind(parse("select 1 from t where a = 1 and b = 2"), context)
    only = frozenset({(bound.references[0], "b")})
    (condition,) = ConditionReader(bound, context, only=only).read(bound.tree.args["where"].this)
    assert predicate_text(condition.template, bound.references[0].table.schema) == "b = 2"


@pytest.mark.parametrize(
    ("where", "parts", "shared"),
    [
        ("a = 1 and ((b = 2 and c = 3))", ["a = 1", "b = 2", "c = 3"], []),
        ("(a = 1 and b = 2) or (b = 3 and a = 1)", None, ["a = 1"]),
        ("a = 1 or b = 2", None, []),
    ],
)
def test_conjuncts_are_cut_through_parentheses_and_shared_ones_read_out_of_or(
    where: str, parts: list[str] | None, shared: list[str]
) -> None:
    condition = parse(f"select 1 from t where {where}").args["where"].this
    cut = [display(each) for each in conjuncts(condition)]
    assert cut == ([display(condition)] if parts is None else parts)
    assert [display(each) for each in shared_conjuncts(condition)] == cut + shared
    assert list(conjuncts(None)) == []


@pytest.mark.parametrize(
    ("source", "owner"),
    [("t", "t"), ("(select a from t) as x", None), ("sys.tables as t", None)],
)
def test_an_own_column_is_one_of_a_stored_table(
    context: PlanContext, source: str, owner: str | None
) -> None:
    name = "name" if source.startswith("sys") else "a"
    bound = bind(parse(f"select {name} from {source}"), context)
    own = stored_column(bound.tree.expressions[0], bound)
    assert (None if own is None else own[0].alias) == owner
