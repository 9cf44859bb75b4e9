"""From any plan to what runs it: plans of rows here, all other statements by `statements`.

What runs a kind of plan is loaded when the first of its kind comes: a script of a few statements
needs little of it.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

from pykudu_sql.executor.reading.constants import Constants
from pykudu_sql.executor.session_state import Prepared, SessionState
from pykudu_sql.planner.operands.comparison import EngineRequiredError
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.command import ConstantRow
from pykudu_sql.planner.plan.plan import (
    ChangeQuery,
    ConflictInsert,
    CopyFrom,
    CopyTable,
    CopyTo,
    DeleteQuery,
    ExecutePrepared,
    Explain,
    InsertQuery,
    InsertReturning,
    InsertValues,
    KeyChange,
    KeyDelete,
    KeyInsert,
    KeyLookup,
    KeyUpdate,
    Plan,
    Query,
    RestoreTable,
    UpdateQuery,
    Write,
)
from pykudu_sql.results.result import Outcome


def prepare_plan(state: SessionState, plan: Plan) -> Prepared:
    """The function that runs a plan in a session with given parameters."""
    match plan:
        case KeyLookup(condition=None):
            from pykudu_sql.executor.reading.key_lookup import Lookup

            return _or_in_general(state, plan, Lookup(state, plan))
        case KeyLookup():
            from pykudu_sql.executor.reading.key_lookup import FilteredLookup

            return _or_in_general(state, plan, FilteredLookup(state, plan))
        case KeyChange():
            from pykudu_sql.executor.writing.key_changes import KeyChanges

            return _or_in_general(state, plan, KeyChanges(state, plan))
        case KeyInsert():
            from pykudu_sql.executor.writing.key_inserts import KeyInserts

            return _or_in_general(state, plan, KeyInserts(state, plan))
        case KeyUpdate() | KeyDelete():
            return _or_in_general(state, plan, _prepare_write()(state, plan))
        case Query():
            from pykudu_sql.executor.reading.queries import select

            return partial(select, state, plan)
        case ConstantRow():
            return Constants(state, plan)
        case InsertValues() | InsertQuery() | UpdateQuery() | DeleteQuery():
            return _prepare_write()(state, plan)
        case ChangeQuery() | ConflictInsert() | InsertReturning():
            from pykudu_sql.executor.writing.changes import change

            return partial(change, state, plan)
        case CopyFrom():
            from pykudu_sql.executor.writing.files.copy_from import copy_from

            return partial(copy_from, state, plan)
        case CopyTo():
            from pykudu_sql.executor.writing.files.copy_to import copy_to

            return partial(copy_to, state, plan)
        case RestoreTable():
            from pykudu_sql.executor.writing.restore import restore_table

            return partial(restore_table, state, plan)
        case ExecutePrepared():
            from pykudu_sql.executor.prepared_statements import execute_prepared

            return partial(execute_prepared, state, plan)
        case Explain(ExecutePrepared() as executed):
            return partial(_explain_prepared, state, plan, executed)
        case Explain(explained, analyze=True):
            from pykudu_sql.executor.inspection.explanations import analyze_plan

            return partial(analyze_plan, state, plan, prepare_plan(state, explained))
        case Explain():
            from pykudu_sql.executor.inspection.explanations import explain_plan

            return partial(explain_plan, state, plan)
        case _:
            from pykudu_sql.executor.statements import prepare_statement

            return prepare_statement(state, plan)


@cache
def _prepare_write() -> Callable[[SessionState, Write], Prepared]:
    # Literal writes come by the thousand, and an import within a function takes a microsecond.
    from pykudu_sql.executor.writing.writes import prepare_write

    return prepare_write


def _explain_prepared(
    state: SessionState, plan: Explain, executed: ExecutePrepared, parameters: ParameterValues
) -> Outcome:
    """EXPLAIN EXECUTE: the plan of the prepared statement for the values that it is given."""
    from pykudu_sql.executor.prepared_statements import argument_values

    values = argument_values(state, executed, parameters)
    planned = state.planned(executed.text, values).plan
    explained = planned.general() if isinstance(planned, CopyTable) else planned
    return prepare_plan(state, replace(plan, plan=explained))(values)


def _or_in_general(
    state: SessionState,
    plan: KeyLookup | KeyUpdate | KeyDelete | KeyChange | KeyInsert,
    run: Prepared,
) -> Prepared:
    """What runs a statement about one key, as a query where only the engine can compare it."""

    def attempt(parameters: ParameterValues) -> Outcome:
        try:
            return run(parameters)
        except EngineRequiredError:
            return prepare_plan(state, plan.general())(parameters)

    return attempt
