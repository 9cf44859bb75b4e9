"""Views and databases: made, dropped, described and commented on.

Like tables they take effect at once and are durable when the statement returns.
"""

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.explain.show_create import create_view_sql
from pykudu_sql.planner.plan.namespace_plans import (
    CommentOn,
    CreateDatabase,
    CreateView,
    DescribeView,
    DropDatabase,
    DropView,
    Namespace,
    ShowCreateView,
)
from pykudu_sql.results.result import Outcome, Row, RowResult, header
from pykudu_sql.storage.catalog.namespace import DEFAULT_DATABASE
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import ProgrammingError

_TEXT = DataType(Kind.STRING)


def run(state: SessionState, plan: Namespace) -> Outcome:
    """Run a statement about views or databases."""
    definitions = state.store.definitions
    match plan:
        case CreateView(view, if_not_exists, replaces):
            catalog = state.store.catalog
            if if_not_exists and (view.name in catalog.views or view.name in catalog.tables):
                return Outcome(message="View already exists.")
            definitions.put_object(view)
            done = "replaced" if replaces else "created"
            return Outcome(message=f"View has been {done}.")
        case DropView(dropped):
            if dropped is None:
                return Outcome(message="View does not exist.")
            definitions.drop_object(dropped.id)
            return Outcome(message="View has been dropped.")
        case CreateDatabase(database, if_not_exists):
            if if_not_exists and database.name in state.store.catalog.database_names:
                return Outcome(message="Database already exists.")
            if database.name == DEFAULT_DATABASE:
                raise ProgrammingError(
                    f"database '{DEFAULT_DATABASE}' exists already", sqlstate="42P04"
                )
            definitions.put_object(database)
            return Outcome(message="Database has been created.")
        case DropDatabase():
            return _drop_database(state, plan)
        case CommentOn(item):
            definitions.put_object(item)
            return Outcome(message="Comment has been set.")
        case DescribeView(view):
            columns: list[Row] = [(c.name, c.type, c.comment) for c in view.columns]
            found = header(("name", _TEXT), ("type", _TEXT), ("comment", _TEXT))
            return Outcome(RowResult(found, columns), len(columns))
        case ShowCreateView(view):
            text: list[Row] = [(create_view_sql(view),)]
            return Outcome(RowResult(header(("result", _TEXT)), text), 1)


def _drop_database(state: SessionState, plan: DropDatabase) -> Outcome:
    """All that is in it goes with it, at one moment; the session leaves it."""
    store = state.store
    if plan.name not in store.catalog.database_names:
        return Outcome(message="Database does not exist.")
    store.definitions.drop_database(plan.name)
    if state.settings.database == plan.name:
        state.use_database(DEFAULT_DATABASE)
    return Outcome(message="Database has been dropped.")
