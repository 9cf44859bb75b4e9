"""A SELECT of one row by its whole key is a look-up, and anything more is none."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.explain.predicate_text import predicate_text
from pykudu_sql.planner.operands.value import Parameter
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import KeyLookup, Plan
from pykudu_sql.planner.pushdown.key_access import key_lookup, parameters_of
from pykudu_sql.storage.common.types.types import DataType, Kind


def lookup(sql: str, context: PlanContext) -> KeyLookup | None:
    def general() -> Plan:
        raise AssertionError("a look-up plans the query only when it is run")

    return key_lookup(bind(parse(sql), context), context, general)


@pytest.mark.parametrize(
    ("sql", "key", "names"),
    [
        ("select a as x, id from t where id = 5", (5,), ["x", "id"]),
        ("select a from t where 5 = (id) limit 3", (5,), ["a"]),
        ("select x.a from t x where x.id = '7'", (7,), ["a"]),
        ("select value from events where at = 1 and host = 'x'", ("x", 1), ["value"]),
        ("select value from events where at = 1 + 1 and host = 'x' || 'y'", ("xy", 2), ["value"]),
        ("select * from logs where day = 1 and auto_incrementing_id = 2", (1, 2), ["day", "msg"]),
    ],
)
def test_equalities_with_the_whole_key_are_a_lookup_in_key_order(
    context: PlanContext, sql: str, key: tuple[object, ...], names: list[str]
) -> None:
    found = lookup(sql, context)
    assert found is not None
    assert (found.key, [name for name, _ in found.outputs]) == (key, names)


def test_a_parameter_of_a_key_waits_for_its_value(context: PlanContext) -> None:
    found = lookup("select a from t where id = ?", context)
    assert found is not None
    assert found.parameters == (0,)
    assert found.key == (Parameter(0, DataType(Kind.INT64), "id"),)


@pytest.mark.parametrize(
    "sql",
    [
        "select a from t", "select a from t where id = 5 and abs(a) = 1",
        "select a from t where id = 5 and s not like 'x'", "select a from t where id = 5 or id = 6",
        "select a from t where id > 5", "select host from events where host = 'x'",
        "select a + 1 from t where id = 5", "select a from t where id = 5 order by a",
        "select a from t where id = 5 limit 0", "select distinct a from t where id = 5",
        "select a from t where id = 5.5", "select a from t where id = null",
        "select t.a from t, u where t.id = 5", "select a from (select * from t) where id = 5",
        "select * exclude (a) from t where id = 5", "select 1",
        "select a from t where id = 5 limit 5%", "select a from t where id = cast(5 as float)",
        "select value from events where at = 1 and host = to_json(5)",
    ],
)  # fmt: skip
def test_anything_more_or_less_is_left_to_the_engine(context: PlanContext, sql: str) -> None:
    assert lookup(sql, context) is None


@pytest.mark.parametrize(
    ("sql", "condition", "parameters"),
    [
        ("select a from t where id = 5 and a = 1", "a = 1", ()),
        ("select a from t where id = 5 and id = 6", "id = 6", ()),
        ("select a from t where s is null and id = ? and b <= ?", "s IS NULL AND b <= ?2", (0, 1)),
        ("select a from t where id = 5 and (a in (1, ?) or not b > 3)", None, ()),
        ("select a from t where id = 5 and (a in (1, ?) or b = 3)", "b = 3 OR a IN (1, ?1)", (0,)),
    ],
)
def test_what_else_the_row_must_hold_is_a_condition_of_the_lookup(
    context: PlanContext, sql: str, condition: str | None, parameters: tuple[int, ...]
) -> None:
    found = lookup(sql, context)
    if condition is None:
        assert found is None
        return
    assert found is not None
    assert found.condition is not None
    assert predicate_text(found.condition, found.table.schema) == condition
    assert found.parameters == parameters


def test_key_access_can_be_turned_off(context: PlanContext) -> None:
    assert lookup("select a from t where id = 5", context.without_key_access()) is None


def test_parameters_of_a_key_come_once_each() -> None:
    one, other = (Parameter(key, DataType(Kind.INT64), "id") for key in (1, "x"))
    assert parameters_of((one, 5, other, one)) == (1, "x")
