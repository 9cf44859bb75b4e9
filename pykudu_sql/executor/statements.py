"""The registry of what runs statements that are not about rows, an entry a kind of plan.

Such a plan takes no parameters, CREATE TABLE .. AS excepted. A statement that changes the catalog
takes effect at once, for all sessions and for good, so it is no part of any transaction: its entry
says what it is called where it has to end one.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.executor import maintenance, namespaces
from pykudu_sql.executor.inspection import descriptions, history, listings
from pykudu_sql.executor.inspection.pragmas import pragma
from pykudu_sql.executor.prepared_statements import deallocate, prepare_text
from pykudu_sql.executor.session_state import Prepared, SessionState
from pykudu_sql.executor.writing import definitions
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.listing_plans import Describe, DescribeDatabase, DescribeFormatted
from pykudu_sql.planner.plan.namespace_plans import (
    CommentOn,
    CreateDatabase,
    CreateView,
    DropDatabase,
    DropViews,
)
from pykudu_sql.planner.plan.plan import (
    AlterTable,
    CreateSnapshot,
    CreateTable,
    Deallocate,
    DropSnapshot,
    DropTables,
    Flush,
    NoOperation,
    Optimize,
    Plan,
    Pragma,
    Prepare,
    ResetStatements,
    SavepointAction,
    SavepointControl,
    SetDatabase,
    SetOption,
    Show,
    TransactionAction,
    TransactionControl,
    UndropTable,
    Vacuum,
)
from pykudu_sql.results.result import Outcome
from pykudu_sql.settings import reset_settings, session_defaults, with_setting
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, last_before


@dataclass(frozen=True, slots=True)
class Runner:
    """What runs a kind of plan.

    Attributes:
        run: the plan of that kind, in a session.
        definition: what the statement is called if it changes the catalog, else None.
    """

    run: Callable[[SessionState, Any], Outcome]
    definition: str | None = None


def prepare_statement(state: SessionState, plan: Plan) -> Prepared:
    """The function that runs a plan in a session."""
    return partial(_run, state, plan, RUNNERS[type(plan)])


def _run(state: SessionState, plan: Plan, runner: Runner, parameters: ParameterValues) -> Outcome:
    if runner.definition is not None:
        state.transactions.make_way_for(runner.definition)
    return runner.run(state, plan)


def _no_operation(state: SessionState, plan: NoOperation) -> Outcome:
    return Outcome(message=plan.message)


def _set(state: SessionState, plan: SetOption) -> Outcome:
    name, value = plan.name.lower(), plan.value
    if name == "as_of" and isinstance(value, int):
        value = last_before(
            SnapshotBound(value)
        )  # The planner gives the bound of the moment, settings hold the moment.
    defaults = session_defaults(state.database_settings)
    if plan.word == "RESET" and name == "all":
        state.settings = reset_settings(state.settings, defaults)
        return Outcome(message="All settings of this connection have been reset.")
    state.settings = with_setting(state.settings, name, value, defaults)
    return Outcome(message=f"Setting {name} has been changed.")


def _control(state: SessionState, plan: TransactionControl) -> Outcome:
    transactions, action = state.transactions, plan.action
    if action is TransactionAction.BEGIN:
        transactions.begin(read_only=bool(plan.read_only))
        which = "read-only transaction" if plan.read_only else "transaction"
        return Outcome(message=f"A {which} has begun.")
    if action is TransactionAction.SET_MODES:
        transactions.set_read_only(plan.read_only)
        return Outcome(message="The transaction has these modes.")
    was_open = transactions.is_open
    if action is TransactionAction.COMMIT:
        transactions.commit()
        return Outcome(message="Committed." if was_open else "There was no transaction.")
    transactions.rollback()
    return Outcome(message="Rolled back." if was_open else "There was no transaction.")


def _savepoint(state: SessionState, plan: SavepointControl) -> Outcome:
    transactions, name = state.transactions, plan.name
    match plan.action:
        case SavepointAction.SET:
            transactions.savepoint(name)
            return Outcome(message=f"Savepoint '{name}' is set.")
        case SavepointAction.ROLLBACK_TO:
            transactions.rollback_to(name)
            return Outcome(message=f"Rolled back to savepoint '{name}'.")
        case SavepointAction.RELEASE:
            transactions.release(name)
            return Outcome(message=f"Savepoint '{name}' is released.")


RUNNERS: Mapping[type[Plan], Runner] = {
    CreateTable: Runner(definitions.create_table, "CREATE TABLE"),
    DropTables: Runner(definitions.drop_tables, "DROP TABLE"),
    AlterTable: Runner(definitions.alter_table, "ALTER TABLE"),
    UndropTable: Runner(history.undrop_table, "UNDROP TABLE"),
    CreateView: Runner(namespaces.create_view, "CREATE VIEW"),
    DropViews: Runner(namespaces.drop_views, "DROP VIEW"),
    CreateDatabase: Runner(namespaces.create_database, "CREATE DATABASE"),
    DropDatabase: Runner(namespaces.drop_database, "DROP DATABASE"),
    CommentOn: Runner(namespaces.comment_on, "COMMENT ON"),
    CreateSnapshot: Runner(history.create_snapshot, "CREATE SNAPSHOT"),
    DropSnapshot: Runner(history.drop_snapshot, "DROP SNAPSHOT"),
    SetDatabase: Runner(history.set_database, "SET DATABASE"),
    SetOption: Runner(_set),
    TransactionControl: Runner(_control),
    SavepointControl: Runner(_savepoint),
    Show: Runner(listings.show),
    Describe: Runner(descriptions.describe),
    DescribeFormatted: Runner(descriptions.describe),
    DescribeDatabase: Runner(descriptions.describe),
    Pragma: Runner(pragma),
    Flush: Runner(maintenance.flush),
    Optimize: Runner(maintenance.optimize),
    Vacuum: Runner(maintenance.vacuum),
    ResetStatements: Runner(maintenance.reset_statements),
    Prepare: Runner(prepare_text),
    Deallocate: Runner(deallocate),
    NoOperation: Runner(_no_operation),
}
