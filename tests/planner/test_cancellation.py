"""Planning stops at the places that a check is asked at, and only while it is asked."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pykudu_sql.planner.cancellation import cancelled_by, check_cancelled
from pykudu_sql.planner.deep_stack import run_deep
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.planner import plan
from pykudu_sql.storage.errors import QueryCancelledError


def stopping_after(count: int) -> Callable[[], None]:
    """A check that stops what has asked it so often."""
    asked = iter(range(count))

    def check() -> None:
        if next(asked, None) is None:
            raise QueryCancelledError("it took too long")

    return check


def test_a_check_is_asked_within_its_block_and_on_the_thread_for_deep_work() -> None:
    check_cancelled()
    with cancelled_by(stopping_after(1)):
        check_cancelled()
        with pytest.raises(QueryCancelledError):
            check_cancelled()
        with pytest.raises(QueryCancelledError):
            run_deep(check_cancelled)
    check_cancelled()


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT a, count(*) FROM t WHERE a IN (1, 2 + 3) OR s = lower('x') GROUP BY a",
        "WITH q AS (SELECT b || a AS c FROM t) SELECT repeat(c, 3), CAST(c AS INT) = 5 FROM q",
        "UPDATE t SET b = upper(b) WHERE b || a = 'x'",
        "INSERT INTO logs (day, msg) VALUES (1, lower('a')), (2, lower('b'))",
    ],
)
def test_wherever_planning_is_stopped_the_reason_comes_out(
    context: PlanContext, statement: str
) -> None:
    stopped = 0
    while True:
        try:
            plan(statement, replace(context, cancel_check=stopping_after(stopped)))
            break
        except QueryCancelledError:
            stopped += 1
    assert stopped > 10
