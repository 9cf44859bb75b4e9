"""PREPARE, EXECUTE and DEALLOCATE: statements that a session keeps under names.

A name stands for a text, whose plan is kept as that of any statement. So EXECUTE of a statement
whose tables have changed since plans it anew, and costs no more than the statement itself.
"""

from collections.abc import Mapping
from typing import Any

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.bound_parameters import BoundParameters
from pykudu_sql.planner.operands.value import ParameterValues, parameter_value
from pykudu_sql.planner.plan.plan import Deallocate, ExecutePrepared, Prepare
from pykudu_sql.planner.plan.prepared_plans import PassedOn
from pykudu_sql.results.result import Outcome
from pykudu_sql.results.table_result import python_rows


def prepare_text(state: SessionState, plan: Prepare) -> Outcome:
    """PREPARE; a statement of the same name is replaced."""
    state.prepared = {**state.prepared, plan.name: plan.statement}
    return Outcome(message=f"Statement '{plan.name}' is prepared.")


def deallocate(state: SessionState, plan: Deallocate) -> Outcome:
    """DEALLOCATE."""
    if plan.name is None:
        state.prepared = {}
        return Outcome(message="All prepared statements are forgotten.")
    state.prepared = {name: text for name, text in state.prepared.items() if name != plan.name}
    return Outcome(message=f"Statement '{plan.name}' is forgotten.")


def execute_prepared(
    state: SessionState, plan: ExecutePrepared, parameters: ParameterValues
) -> Outcome:
    """EXECUTE."""
    values = argument_values(state, plan, parameters)
    state.error_boundary.statement = plan.text
    return state.planned(plan.text, values).run(values)


def argument_values(
    state: SessionState, plan: ExecutePrepared, parameters: ParameterValues
) -> ParameterValues:
    """The arguments of EXECUTE as parameters, as if a program passed them.

    Raises InterfaceError: a parameter of EXECUTE itself has no value; DataError: it has one that is
    none of the type.
    """
    values = {key: _value(state, value, parameters) for key, value in plan.arguments}
    if all(isinstance(key, int) for key in values):
        return tuple(values[key] for key in sorted(values))
    named: Mapping[str, Any] = {str(key): value for key, value in values.items()}
    return named


def _value(state: SessionState, value: object, parameters: ParameterValues) -> Any:
    if not isinstance(value, PassedOn):
        return value
    listed = BoundParameters("", parameters).list_of(value.key)
    passed = parameter_value(parameters, value.key) if listed is None else listed
    if value.conversion is None:
        return passed
    result = state.engine.execute(value.conversion, {}, (passed,))
    return python_rows(result.table, result.types)[0][0]
