"""From a plan to what runs it: one `match` over all kinds of plans.

`prepare` is called once for a statement and its result once for each set of parameters, so what
does not depend on parameters is worked out in between. What runs a kind of plan is loaded when the
first of its kind comes: a script of a few statements needs little of it.
"""

from collections.abc import Callable
from functools import partial

from pykudu_sql.executor.reading.constants import Constants
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.plan.comparison import InexactKeyError
from pykudu_sql.planner.plan.definition import definition_name
from pykudu_sql.planner.plan.listing_plans import Describe, DescribeDatabase, DescribeFormatted
from pykudu_sql.planner.plan.namespace_plans import (
    CommentOn,
    CreateDatabase,
    CreateView,
    DescribeView,
    DropDatabase,
    DropView,
    ShowCreateView,
)
from pykudu_sql.planner.plan.plan import (
    AlterTable,
    ChangeQuery,
    ConflictInsert,
    ConstantRow,
    CreateSnapshot,
    CreateTable,
    DeleteQuery,
    DropSnapshot,
    DropTable,
    Explain,
    Flush,
    InsertQuery,
    InsertReturning,
    InsertValues,
    KeyDelete,
    KeyLookup,
    KeyUpdate,
    NoOperation,
    Optimize,
    Plan,
    Pragma,
    Query,
    RestoreTable,
    SavepointAction,
    SavepointControl,
    SetDatabase,
    SetOption,
    Show,
    TransactionAction,
    TransactionControl,
    UndropTable,
    UpdateQuery,
    Vacuum,
)
from pykudu_sql.planner.plan.value import ParameterValues
from pykudu_sql.results.result import Outcome
from pykudu_sql.settings import with_setting
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, last_before

Prepared = Callable[[ParameterValues], Outcome]


def prepare(state: SessionState, plan: Plan) -> Prepared:
    """What runs a plan in a session for given parameters."""
    name = definition_name(plan)
    if name is None:
        return _prepare(state, plan)
    return partial(_define, state, name, _prepare(state, plan))


def _define(state: SessionState, name: str, run: Prepared, parameters: ParameterValues) -> Outcome:
    """Run a statement that changes the catalog."""
    state.transactions.make_way_for(name)
    return run(parameters)


def _prepare(state: SessionState, plan: Plan) -> Prepared:
    match plan:
        case KeyLookup():
            from pykudu_sql.executor.reading.key_lookup import Lookup

            return _or_in_general(state, plan, Lookup(state, plan))
        case KeyUpdate() | KeyDelete():
            from pykudu_sql.executor.writing.writes import prepare_write

            return _or_in_general(state, plan, prepare_write(state, plan))
        case Query():
            from pykudu_sql.executor.reading.queries import select

            return partial(select, state, plan)
        case ConstantRow():
            return Constants(state, plan)
        case InsertValues() | InsertQuery() | UpdateQuery() | DeleteQuery():
            from pykudu_sql.executor.writing.writes import prepare_write

            return prepare_write(state, plan)
        case ChangeQuery() | ConflictInsert() | InsertReturning():
            from pykudu_sql.executor.writing.changes import change

            return partial(change, state, plan)
        case RestoreTable():
            from pykudu_sql.executor.writing.restore import restore_table

            return partial(restore_table, state, plan)
        case CreateTable():
            from pykudu_sql.executor.writing.definitions import create_table

            return partial(create_table, state, plan)
        case Explain(explained, analyze=True):
            from pykudu_sql.executor.inspection.explanations import analyze_plan

            return partial(analyze_plan, state, plan, prepare(state, explained))
        case Explain():
            from pykudu_sql.executor.inspection.explanations import explain_plan

            return partial(explain_plan, state, plan)
        case _:
            return lambda parameters: _run(state, plan)


def _or_in_general(
    state: SessionState, plan: KeyLookup | KeyUpdate | KeyDelete, run: Prepared
) -> Prepared:
    """What runs a statement about one key, as a query where only the engine can compare it."""

    def attempt(parameters: ParameterValues) -> Outcome:
        try:
            return run(parameters)
        except InexactKeyError:
            return _prepare(state, plan.general())(parameters)

    return attempt


def _run(state: SessionState, plan: Plan) -> Outcome:
    """Run a plan that takes no parameters."""
    from pykudu_sql.executor import maintenance, namespaces
    from pykudu_sql.executor.inspection import descriptions, history, listings
    from pykudu_sql.executor.writing import definitions

    match plan:
        case DropTable():
            return definitions.drop_table(state, plan)
        case AlterTable():
            return definitions.alter_table(state, plan)
        case Flush():
            return maintenance.flush(state, plan)
        case Optimize():
            return maintenance.optimize(state, plan)
        case Vacuum():
            return maintenance.vacuum(state, plan)
        case (
            CreateView()
            | DropView()
            | CreateDatabase()
            | DropDatabase()
            | CommentOn()
            | DescribeView()
            | ShowCreateView()
        ):
            return namespaces.run(state, plan)
        case Pragma():
            from pykudu_sql.executor.inspection.pragmas import pragma

            return pragma(state, plan)
        case Show():
            return listings.show(state, plan)
        case Describe() | DescribeFormatted() | DescribeDatabase():
            return descriptions.describe(state, plan)
        case TransactionControl(action):
            return _control(state, action)
        case SavepointControl():
            return _savepoint(state, plan)
        case SetOption():
            return _set(state, plan)
        case SetDatabase():
            return history.set_database(state, plan)
        case CreateSnapshot():
            return history.create_snapshot(state, plan)
        case DropSnapshot():
            return history.drop_snapshot(state, plan)
        case UndropTable():
            return history.undrop_table(state, plan)
        case NoOperation(message):
            return Outcome(message=message)
        case _:
            raise AssertionError(f"a plan without an executor: {type(plan).__name__}")


def _set(state: SessionState, plan: SetOption) -> Outcome:
    name, value = plan.name.lower(), plan.value
    if name == "as_of" and isinstance(value, int):
        value = last_before(
            SnapshotBound(value)
        )  # The planner gives the bound of the moment, settings hold the moment.
    state.settings = with_setting(state.settings, name, value)
    return Outcome(message=f"Setting {name} has been changed.")


def _control(state: SessionState, action: TransactionAction) -> Outcome:
    transactions = state.transactions
    if action is TransactionAction.BEGIN:
        transactions.begin()
        return Outcome(message="A transaction has begun.")
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
