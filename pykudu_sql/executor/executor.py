"""From a plan to what runs it.

`prepare` is called once for a statement and its result once for each set of parameters, so what
does not depend on parameters is worked out in between. `SELECT 1`, which connection pools ask for
and shells are started for, loads nothing of what other plans need, and a COPY of a table little.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

from pykudu_sql.executor.reading.constants import Constants
from pykudu_sql.executor.session_state import Prepared, SessionState
from pykudu_sql.planner.plan.command import ConstantRow
from pykudu_sql.planner.plan.table_copy import CopyTable

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.plan import Plan


def prepare(state: SessionState, plan: "Plan") -> Prepared:
    """What runs a plan in a session for given parameters."""
    if isinstance(plan, ConstantRow):
        return Constants(state, plan)
    if isinstance(plan, CopyTable):
        from pykudu_sql.executor.writing.files.copy_to import copy_table

        return partial(copy_table, state, plan)
    return _runner_of_plans()(state, plan)


@cache
def _runner_of_plans() -> "Callable[[SessionState, Plan], Prepared]":
    from pykudu_sql.executor.plan_runners import prepare_plan

    return prepare_plan
