"""EXPLAIN of statements about one row by its key."""

import pytest

from pykudu_sql.planner.dml.update import plan_delete, plan_update
from pykudu_sql.planner.explain.key_text import KeyText, key_text
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import KeyChange


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        (
            "update t set a = (a + 1) * ?, b = 5 where id = :k and s is null returning s as word",
            KeyText(
                "KEY UPDATE t",
                [
                    "key: id = :k",
                    "condition: s IS NULL",
                    "set: b = 5, a = (a + 1) * ?1",
                    "returning: word",
                ],
            ),
        ),
        (
            "update t set s = coalesce(s, '') || 'x' where id = 1",
            KeyText("KEY UPDATE t", ["key: id = 1", "set: s = coalesce(s, '') || 'x'"]),
        ),
        (
            "delete from t where id = 1 and a in (1, 2)",
            KeyText("KEY DELETE FROM t", ["key: id = 1", "condition: a IN (1, 2)"]),
        ),
    ],
)
def test_a_change_by_key_shows_what_it_reads_and_sets(
    context: PlanContext, sql: str, text: KeyText
) -> None:
    plan = (plan_update if sql.startswith("update") else plan_delete)(SourceText(sql), context)
    assert isinstance(plan, KeyChange)
    assert key_text(plan) == text
