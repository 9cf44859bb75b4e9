"""One writing statement run for many sets of parameters, all or nothing (`executemany`)."""

from collections.abc import Sequence

from pykudu_sql.executor.parameter_shape import check_parameter_shape
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.changes import change_many
from pykudu_sql.executor.writing.key_changes import KeyChanges
from pykudu_sql.executor.writing.key_inserts import KeyInserts
from pykudu_sql.executor.writing.writes import write_many
from pykudu_sql.planner.operands.comparison import EngineRequiredError
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.plan import Change, KeyChange, KeyInsert, Plan, Write
from pykudu_sql.results.result import Outcome
from pykudu_sql.storage.errors import ProgrammingError


def run_many(
    state: SessionState, plan: Plan, arity: int, rows: Sequence[ParameterValues]
) -> Outcome:
    """Run a plan once for each set of parameters.

    `arity`: see `check_parameter_shape`. Raises ProgrammingError: the plan does not write rows;
    Error: it failed for one of them.
    """
    if not isinstance(plan, Write | Change | KeyChange | KeyInsert):
        raise ProgrammingError(
            "executemany takes INSERT, UPSERT, UPDATE, DELETE or MERGE", hint="use execute"
        )
    for parameters in rows:
        if type(parameters) is not tuple or len(parameters) != arity:
            check_parameter_shape(plan, arity, parameters)
    return _run(state, plan, rows)


def _run(
    state: SessionState,
    plan: Write | Change | KeyChange | KeyInsert,
    rows: Sequence[ParameterValues],
) -> Outcome:
    if isinstance(plan, KeyChange | KeyInsert):
        runs = KeyChanges(state, plan) if isinstance(plan, KeyChange) else KeyInserts(state, plan)
        try:
            return runs.run_many(rows)
        except EngineRequiredError:
            general = plan.general()
            assert isinstance(general, Write | Change)
            return _run(state, general, rows)
    if isinstance(plan, Change):
        return change_many(state, plan, rows)
    return write_many(state, plan, rows)
