"""What would need a decimal of more than 38 digits is refused by the place where types meet."""

import pytest

from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.query import plan_rows
from pykudu_sql.planner.type_coercion.type_conflicts import no_common_type
from pykudu_sql.storage.errors import NotSupportedError, ProgrammingError


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("cast(k as decimal(38,38))", r"USING \(v\) of DECIMAL\(38,0\) and DECIMAL\(38,38\)"),
        ("cast(k as decimal(38,0))", None),
    ],
)
def test_columns_that_using_joins_need_a_common_type(
    context: PlanContext, other: str, message: str | None
) -> None:
    one = "(select cast(k as decimal(38,0)) as v from kinds) a"
    sql = f"select v from {one} join (select {other} as v from kinds) b using (v)"
    if message is None:
        assert plan_rows(SourceText(sql), context).names == ("v",)
        return
    with pytest.raises(ProgrammingError, match=message):
        plan_rows(SourceText(sql), context)


def test_a_recursive_query_must_begin_with_all_digits(context: PlanContext) -> None:
    recursive = "with recursive c as (select cast(1 as {}) as x union all select {} from c) {}"
    sql = recursive.format("decimal(3,0)", "cast(1.5 as decimal(3,1))", "select x from c")
    with pytest.raises(ProgrammingError, match="'c' begins as DECIMAL") as caught:
        plan_rows(SourceText(sql), context)
    assert caught.value.hint == "CAST what it begins with, as CAST(x AS DECIMAL(3,1))"
    begun = recursive.format("decimal(3,1)", "cast(1 as decimal(3,0))", "select x from c")
    assert plan_rows(SourceText(begun), context).names == ("x",)


def test_a_type_is_named_once() -> None:
    error = no_common_type("x", ["INT", "DECIMAL(38,38)", "INT"])
    assert error.message.startswith("x of INT and DECIMAL(38,38): no type")


@pytest.mark.parametrize(
    ("call", "is_refused"),
    [
        ("unnest({'a': k, 'b': 1})", True),
        ("unnest([{'a': k}], recursive := true)", True),
        ("unnest([{'a': k}])", False),
        ("unnest([[k]], recursive := true)", False),
        ("unnest(?)", False),
    ],
)
def test_a_struct_is_not_unnested_to_columns_without_names(
    context: PlanContext, call: str, is_refused: bool
) -> None:
    if not is_refused:
        assert len(plan_rows(SourceText(f"select {call} from kinds"), context).names) == 1
        return
    with pytest.raises(NotSupportedError, match="a column of each of its fields"):
        plan_rows(SourceText(f"select {call} from kinds"), context)
