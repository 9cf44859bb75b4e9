"""What a condition pushes into the scan: a table of text to predicate."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.planner.explain.predicate_text import predicate_text
from pykudu_sql.planner.operands.comparison import EngineRequiredError, compare, exact_cell
from pykudu_sql.planner.operands.template import bind_predicate
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.planner import plan
from pykudu_sql.storage.common.predicate.column_predicate import NEVER, Comparison, Op
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import DataType, Kind


def pushed(sql: str, context: PlanContext, parameters: object = None) -> dict[str, str]:
    planned = plan(sql, context)
    assert isinstance(planned, Query)
    texts = {}
    for scan in planned.scans:
        predicate = scan.predicate
        if parameters is not None:
            predicate = bind_predicate(predicate, parameters)  # type: ignore[arg-type]
        if predicate is not None:
            texts[scan.table.name] = predicate_text(predicate, scan.table.schema)
    return texts


CONDITIONS = [
    ("t", "a = 5", "a = 5"),
    ("t", "5 < a", "a >= 6"),
    ("t", "a < 5.5", "a <= 5"),
    ("t", "a <= -0.5", "a <= -1"),
    ("t", "a > 5.5", "a >= 6"),
    ("t", "a = 5.5", "false"),
    ("t", "a = 5.0", "a = 5"),
    ("t", "a = null", "false"),
    ("t", "a = '5'", "a = 5"),
    ("t", "a = '5.50'", "false"),
    ("t", "a < '1e12'", "a IS NOT NULL"),
    ("t", "a < 1e12", "a IS NOT NULL"),
    ("t", "a > 1e12", "false"),
    ("t", "a between 1 and 3", "a >= 1 AND a <= 3"),
    ("t", "a not between 1 and 3", None),
    ("t", "a in (3, 1, 3)", "a IN (3, 1)"),
    ("t", "a in (1, null)", "a = 1"),
    ("t", "a in (1.5, 2.5)", "false"),
    ("t", "a in (1, b)", None),
    ("t", "a not in (1, 2)", None),
    ("t", "a is null", "a IS NULL"),
    ("t", "a is not null", "a IS NOT NULL"),
    ("t", "id is null", "false"),
    ("t", "id is not null", None),
    ("t", "a <> 1", None),
    ("t", "a = b", None),
    ("t", "a + 1 = 5", None),
    ("t", "a = 2 + 3", "a = 5"),
    ("t", "a = -(2 + 3)", "a = -5"),
    ("t", "a = random()", None),
    ("t", "flag", "flag = true"),
    ("t", "not flag", "flag = false"),
    ("t", "s like 'ab%'", "s STARTS WITH 'ab'"),
    ("t", "s like 'ab'", "s = 'ab'"),
    ("t", "s like 'a_b%'", "s STARTS WITH 'a' AND s LIKE 'a_b%'"),
    ("t", "s like '%ab'", "s LIKE '%ab'"),
    ("t", "s not like 'ab%'", None),
    ("t", "s not like 'ab'", None),
    ("t", "not s like 'ab'", None),
    ("t", "a = " + "9" * 4000, None),
    ("t", "a >= 5." + "0" * 40 + "1", "a >= 6"),
    ("t", "s like 'a!%b' escape '!'", None),
    ("t", "s >= 'b' and s < 'c'", "s >= 'b' AND s < 'c'"),
    ("t", "d = 0.1", "d = 0.1"),
    ("t", "a = 1 and (b = 2 and d > 3)", "a = 1 AND b = 2 AND d > 3.0"),
    ("t", "a = 1 or a = 2", "a IN (1, 2)"),
    ("t", "a = 1 or a in (2, 3) or a > 10", "a >= 11 OR a IN (1, 2, 3)"),
    ("t", "a = 1 or b = 2", "a = 1 OR b = 2"),
    ("t", "a = 1 or b + 1 = 2", None),
    ("t", "(a = 1 and b + 1 = 2) or a = 3", "a IN (1, 3)"),
    ("t", "a = 1 or (b = 2 and s = 'x')", "(b = 2 AND s = 'x') OR a = 1"),
    ("t", "a = 1 or null", None),
    ("t", "false", "false"),
    ("t", "a = 1 and false", "false"),
    ("events", "day = '2026-01-05'", "day = '2026-01-05'"),
    ("events", "day >= date '2026-01-31' - interval 30 day", "day >= '2026-01-01'"),
    ("events", "day > timestamp '2026-01-05 12:00:00'", "day >= '2026-01-06'"),
    ("events", "ts < date '2026-01-05'", "ts <= '2026-01-04 23:59:59.999999'"),
    ("events", "ts >= '2026-01-05 10:00'", "ts >= '2026-01-05 10:00:00'"),
    ("events", "ts >= '2026-1-5'", None),
    ("events", "amount = '1.005'", "false"),
    ("events", "amount > 1.005", "amount >= 1.01"),
    ("events", "amount = 1.005", "false"),
    ("events", "amount = 1.10", "amount = 1.10"),
    ("events", "amount < 1e9", "amount IS NOT NULL"),
    ("kinds", "small < 1000", "small IS NOT NULL"),
    ("kinds", "small = 1000", "false"),
    ("kinds", "raw = x'0aff'", "raw = X'0AFF'"),
    ("kinds", "code = 'abcd'", "code = 'abcd'"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "condition", "expected"), CONDITIONS)
def test_a_condition_is_pushed_as_far_as_it_goes(
    context: PlanContext, table: str, condition: str, expected: str | None
) -> None:
    found = pushed(f"select 1 from {table} where {condition} limit 5", context)
    assert found.get(table) == expected


JOINS = [
    ("t join u on t.id = u.t_id and u.id > 3 and t.a = 1", {"t": "a = 1", "u": "id >= 4"}),
    ("t left join u on t.id = u.t_id and u.id > 3 and t.a = 1", {"u": "id >= 4"}),
    ("t left join u on t.id = u.t_id where u.id > 3", {"u": "id >= 4"}),
    ("t left join u on t.id = u.t_id where u.name is null", {}),
    ("t left join u on t.id = u.t_id where u.name is null or u.id = 3", {}),
    ("t left join u on t.id = u.t_id where t.s is null", {"t": "s IS NULL"}),
    ("t right join u on t.id = u.t_id and t.a = 1 and u.id = 3", {"t": "a = 1"}),
    ("t full join u on t.id = u.t_id and t.a = 1 and u.id = 3", {}),
    ("t full join u on t.id = u.t_id where t.a = 1", {"t": "a = 1"}),
    ("t semi join u on t.id = u.t_id and u.id = 3 and t.a = 1", {"u": "id = 3"}),
    ("t anti join u on t.id = u.t_id and u.id = 3 and t.a = 1", {"u": "id = 3"}),
    ("t asof join u on t.id >= u.t_id where u.id = 3", {}),
    ("t, u where t.id = u.t_id and u.id = 3 and t.a = 1", {"t": "a = 1", "u": "id = 3"}),
    ("t where exists (select 1 from u where u.t_id = t.id and u.id = 3)", {"u": "id = 3"}),
    ("(select * from t where a = 1) x where x.b = 2", {"t": "a = 1 AND b = 2"}),
    ("t where a = 1 union all select 1 from u where id = 2", {"t": "a = 1", "u": "id = 2"}),
    ("t, u where (t.a = 1 and u.id = 3) or (u.id = 4 and t.a = 2)",
     {"t": "a IN (1, 2)", "u": "id IN (3, 4)"}),
    ("t, u where (t.a = 1 and u.id = 3) or t.a = 2", {"t": "a IN (1, 2)"}),
    ("t, u where t.a = 1 or u.id = 3", {}),
    ("t left join u on t.id = u.t_id where (t.a = 1 and u.id = 3) or (t.a = 2 and u.name is null)",
     {"t": "a IN (1, 2)"}),
    ("t join (u right join events e on u.id = e.at) on true where u.name is null", {}),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), JOINS)
def test_joins_decide_what_may_be_pushed(
    context: PlanContext, source: str, expected: dict[str, str]
) -> None:
    assert pushed(f"select 1 from {source}", context) == expected


@pytest.mark.parametrize(
    ("condition", "parameters", "expected"),
    [
        ("a = ?", (5,), "a = 5"),
        ("a < ?", (5.5,), "a <= 5"),
        ("a = ?", (None,), "false"),
        ("a in (?, 2)", (1,), "a IN (1, 2)"),
        ("a between ? and ?", (1, 9), "a >= 1 AND a <= 9"),
        ("a = ? or a = ?", (1, 2), "a IN (1, 2)"),
        ("a = ? and b = 3", (1,), "b = 3 AND a = 1"),
        ("s = ? or b = 1", (7,), None),
        ("a = :x", {"x": 5}, "a = 5"),
    ],
)
def test_parameters_are_pushed_when_they_are_bound(
    context: PlanContext, condition: str, parameters: object, expected: str | None
) -> None:
    found = pushed(f"select 1 from t where {condition}", context, parameters)
    assert found.get("t") == expected


@pytest.mark.parametrize(
    ("sql", "limit"),
    [
        ("select a from t limit 5", 5),
        ("select a + 1 from t limit 5 offset 2", 7),
        ("select a from t where b = 1 limit 5", 5),
        ("select a from t where b = 1 limit 5 offset 2", 7),
        ("select a from t where b = (select 1) limit 5", None),
        ("select a from t order by id limit 5", 5),
        ("select id as i from t order by t.id limit 5", 5),
        ("select * from t order by id limit 5", 5),
        ("select at from events order by host limit 5", 5),
        ("select at from events order by host, at limit 5", 5),
        ("select at from events order by at limit 5", None),
        ("select a as id from t order by id limit 5", None),
        ("select -id as id from t order by id limit 5", None),
        ("select a from t order by id desc limit 5", None),
        ("select a from t order by a limit 5", None),
        ("select a from t order by id, a limit 5", None),
        ("select distinct a from t limit 5", None),
        ("select count(*) from t limit 5", None),
        ("select a from t group by a limit 5", None),
        ("select row_number() over () from t limit 5", None),
        ("select t.a from t, u limit 5", None),
        ("select a from t limit ?", None),
        ("select a from (select * from t) x limit 5", None),
        ("select a from t qualify row_number() over () = 1 limit 5", None),
    ],
)
def test_limit_is_pushed_where_single_rows_of_one_table_are_enough(
    context: PlanContext, sql: str, limit: int | None
) -> None:
    planned = plan(sql, context)
    assert isinstance(planned, Query)
    assert planned.scans[0].limit == limit


@given(st.integers(-(10**6), 10**6), st.fractions(-200, 200, max_denominator=8))
def test_bounds_of_integers_select_the_same_values(cell: int, value: object) -> None:
    column = ColumnSchema(0, "x", DataType(Kind.INT32), nullable=False)
    number = float(value)  # type: ignore[arg-type]
    for op, holds in (
        (Op.EQ, cell == number),
        (Op.LT, cell < number),
        (Op.LE, cell <= number),
        (Op.GT, cell > number),
        (Op.GE, cell >= number),
    ):
        predicate, is_exact = compare(column, op, number)
        assert is_exact
        if isinstance(predicate, Comparison):
            bound = predicate.value
            assert isinstance(bound, int)
            kept = {
                Op.EQ: cell == bound,
                Op.LT: cell < bound,
                Op.LE: cell <= bound,
                Op.GT: cell > bound,
                Op.GE: cell >= bound,
            }[predicate.op]
            assert kept == holds
        else:
            assert predicate == NEVER
            assert not holds


@pytest.mark.parametrize(
    ("type_name", "value", "cell"),
    [
        ("INT", 5, 5),
        ("INT", 5.0, 5),
        ("INT", 5.5, None),
        ("INT", 2**40, None),
        ("INT", "5", 5),
        ("INT", "5.0", 5),
        ("INT", "5.5", None),
        ("BIGINT", 2**63, None),
        ("STRING", "a", "a"),
        ("VARCHAR(3)", "abc", "abc"),
        ("VARCHAR(3)", "abcd", None),
        ("DECIMAL(9,2)", "1.50", 150),
        ("DATE", "2026-01-01", 20454),
        ("BINARY", b"ab", b"ab"),
        ("INT", None, None),
    ],
)
def test_a_key_is_matched_exactly_or_not_at_all(
    type_name: str, value: object, cell: object
) -> None:
    assert exact_cell(parse_type(type_name), value) == cell


@pytest.mark.parametrize(
    ("type_name", "value"),
    [
        ("INT", "x"),
        ("INT", "0x5"),
        ("INT", object()),
        ("INT", datetime.date(2026, 1, 1)),
        ("STRING", 5),
        ("VARCHAR(3)", b"a"),
        ("DATE", 5),
        ("BINARY", 5),
        ("DECIMAL(9,2)", 1.5),
    ],
)
def test_what_a_value_of_another_kind_equals_is_left_to_the_engine(
    type_name: str, value: object
) -> None:
    with pytest.raises(EngineRequiredError):
        exact_cell(parse_type(type_name), value)
