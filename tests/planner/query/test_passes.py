# ruff: noqa: E501  (tables of statements read best one a line)
"""What each rewrite pass makes of a query, one golden file a pass; see tests/golden.py."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Explain
from pykudu_sql.planner.planner import plan
from pykudu_sql.planner.query.passes import PASSES
from tests.golden import check_golden

HERE = Path(__file__).parent / "passes"
LONG_LIST = ", ".join(str(i * 7) for i in range(1200))
ALTERNATIVES = " or ".join(f"(a = {i} and b = {i + 1})" for i in range(65))

STATEMENTS: dict[str, list[str]] = {
    "fold_session_facts": [
        "select now(), current_date, current_database()",
        "select id from t where s < cast(now() as string)",
        "select a from t",
    ],
    "push_down_predicates": [
        "select id from t where a > 5 and b in (1, 2) and s like 'al%'",
        "select * from (select a, b from t) x where x.a = 1",
        "select t.id from t left join u on u.t_id = t.id and u.name = 'x' where u.id is null",
        "select a, count(*) from t group by a having a = 3 and count(*) > 1",
        "with w as (select * from t) select * from w where a = 1 union all select * from w where a = 2",
        "select id from t where d > d",
    ],
    "infer_predicates": [
        "select t.id from t join u on u.t_id = t.id where t.id between 5 and 9",
        "select id from t where id in (select t_id from u where name = 'x')",
        "select id from t where a = b",
    ],
    "hide_counters": [
        "select *, auto_incrementing_id from logs",
        "select * from logs",
    ],
    "push_down_limit": [
        "select a from t limit 5 offset 2",
        "select * from t order by id limit 3",
        "select a from t order by a limit 3",
        "select count(*), min(a), max(id) from t",
    ],
    "hand_on_rows": [
        "select a, s as word from t where id >= ? and id < 100 order by id limit 5 offset 2",
        "select a from t where a + 1 > 5",
    ],
    "derive_types": [
        "select k from kinds where big < 0.00001",
        "select k from kinds where big = ? or code = 'x'",
        "select sum(a * 2), coalesce(b, 0), upper(note), k.* from (select big, k from kinds) k, t, u",
        "select (case when a > 1 then big else 1.5 end) x, ?, round(big, 1) from kinds, t",
    ],
    "plan_scans": [
        "select x.a, y.b from t x join t y on x.id = y.id",
        "select t.a, u.name from t join u on u.t_id = t.id where u.note = 'n'",
        "select count(*) from t",
        "select was from t as of '2020-01-01'",
    ],
    "qualify_columns": [
        'select "default".t.a from "default".t where "default".t.b = 1',
        "select a from t",
    ],
    "choose_top_rows": [
        "select max(a) from (select a from t order by b desc limit 10) x",
        "select max(a) from (select a from t where a > 1 order by b desc limit 10) x",
    ],
    "choose_early_subqueries": [
        "select s from t where id > (select max(t_id) from u) - 5",
        "select a from t where id in (select t_id from u group by t_id having count(*) > 3)",
        "select a from t where id in (select t_id from u where t_id > 3)",
        "select t_id from u group by t_id having count(*) > 3",
    ],
    "choose_group_codes": [
        "select s, count(*) from t group by s order by s",
        "select a, count(*) from t group by a",
        "select s, row_number() over () from t group by s",
    ],
    "choose_word_conditions": [
        "select a from t where upper(s) = 'X' and a > 1 and length(s) < 3",
        "select a from t where s like 'x%' and lower(s) = ?",
        "select t.a from u left join t on t.id = u.t_id where coalesce(t.s, 'x') = 'x'",
    ],
    "name_long_lists": [
        f"select id from t where a in ({LONG_LIST})",
        "select id from t where a in (1, 2)",
    ],
    "fold_names": ['select a as "Größe" from t order by "GRÖßE"', "select a as x from t"],
    "apply_compatibility_rules": [
        "select coalesce(s, 'x'), if(a > 1, 2, 3) from t",
        "select cast(s as varchar(3)), a in () from t",
        "select from_unixtime(a), instr(s, 'a') from t",
    ],
    "bound_values": ["select repeat(s, a) from t", "select lower(s) from t"],
    "compare_exactly": [
        "select k from kinds where big < 0.00000000000000001",
        "select k from kinds where big < 1",
        "select count(*) from kinds having sum(big) > (select sum(big) * 0.5 from kinds)",
    ],
    "bound_comparisons": [
        "select x = date '2024-01-01', x = 'a' from (select string_agg(s, '') as x from t)",
        "select a = 1 from t",
    ],
    "bound_copies": [
        "select lag(z) over (order by k) from (select a as k, string_agg(s, '') as z from t group by a)",
        "select a from t order by s, upper(s)",
    ],
    "type_literals": [
        "select 0.12345678901234567890123456789012345678 + a from t",
        "select 1.5 + a from t",
    ],
    "number_parameters": [
        "select a + ? from t where b = ? and s = ?",
        "select a + :x from t where b = :x and s = :y",
    ],
    "group_alternatives": [
        f"select id from t where {ALTERNATIVES}",
        "select id from t where (a = 1 and b = 2) or (a = 3 and b = 4)",
    ],
    "choose_validity": [
        "select count(s), count(*) from t where b is not null",
        "select count(s), max(s) from t",
        "select count(t.s) from t join t x on x.id = t.id where x.s > 'a'",
        "select count(distinct s), count(a) from t group by s is null",
        "select count(s) from (select * from t) x",
    ],
}


def test_every_pass_has_a_golden_and_every_golden_a_pass() -> None:
    names = [each.name for each in PASSES]
    assert names == list(STATEMENTS)
    assert {path.stem for path in HERE.glob("*.golden")} == set(names)


@pytest.mark.parametrize("name", [each.name for each in PASSES])
def test_a_pass_changes_a_query_as_its_golden_says(name: str, context: PlanContext) -> None:
    lines: list[str] = []
    for sql in STATEMENTS[name]:
        lines.extend([_short(sql), *_effect(name, sql, context), ""])
    check_golden(HERE / f"{name}.golden", "\n".join(lines))


@pytest.mark.parametrize("name", [each.name for each in PASSES])
def test_a_pass_has_an_effect_on_one_of_its_statements(name: str, context: PlanContext) -> None:
    effects = [list(_effect(name, sql, context)) for sql in STATEMENTS[name]]
    assert any(len(lines) > 1 for lines in effects)


def _effect(name: str, sql: str, context: PlanContext) -> Iterator[str]:
    """The statement before a pass, and what is new behind it."""
    planned = plan(f"explain (passes) {sql}", context)
    assert isinstance(planned, Explain)
    before = ""
    for each in planned.passes:
        if each.name == name:
            yield f"  {_short(before)}"
            yield from (f"+ {_short(line)}" for line in each.lines)
            return
        before = next((line for line in each.lines if line.startswith("sql: ")), before)


def _short(line: str) -> str:
    return line.replace(LONG_LIST, "0, 7, ...")
