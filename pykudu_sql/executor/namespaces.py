"""Views and databases: made, dropped and commented on.

Like tables they take effect at once and are durable when the statement returns.
"""

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.plan.namespace_plans import (
    CommentOn,
    CreateDatabase,
    CreateView,
    DropDatabase,
    DropViews,
)
from pykudu_sql.results.result import Outcome
from pykudu_sql.storage.catalog.namespace import DEFAULT_DATABASE
from pykudu_sql.storage.errors import ProgrammingError


def create_view(state: SessionState, plan: CreateView) -> Outcome:
    """CREATE VIEW and ALTER VIEW."""
    catalog, name = state.store.catalog, plan.view.name
    if plan.if_not_exists and (name in catalog.views or name in catalog.tables):
        return Outcome(message="View already exists.")
    state.store.definitions.put_object(plan.view)
    return Outcome(message=f"View has been {'replaced' if plan.replaces else 'created'}.")


def drop_views(state: SessionState, plan: DropViews) -> Outcome:
    """DROP VIEW: all that it names, in one edit."""
    if plan.views:
        state.store.definitions.drop_tables((), [view.id for view in plan.views])
    if len(plan.names) > 1:
        dropped = f"{len(plan.views)} of {len(plan.names)} views have been dropped."
        return Outcome(message=dropped)
    return Outcome(message="View has been dropped." if plan.views else "View does not exist.")


def create_database(state: SessionState, plan: CreateDatabase) -> Outcome:
    """CREATE DATABASE."""
    database = plan.database
    if plan.if_not_exists and database.name in state.store.catalog.database_names:
        return Outcome(message="Database already exists.")
    if database.name == DEFAULT_DATABASE:
        raise ProgrammingError(f"database '{DEFAULT_DATABASE}' exists already", sqlstate="42P04")
    state.store.definitions.put_object(database)
    return Outcome(message="Database has been created.")


def comment_on(state: SessionState, plan: CommentOn) -> Outcome:
    """COMMENT ON a view or database."""
    state.store.definitions.put_object(plan.item)
    return Outcome(message="Comment has been set.")


def drop_database(state: SessionState, plan: DropDatabase) -> Outcome:
    """DROP DATABASE: its tables and views are dropped in the same edit."""
    store = state.store
    if plan.name not in store.catalog.database_names:
        return Outcome(message="Database does not exist.")
    store.definitions.drop_database(plan.name)
    if state.settings.database == plan.name:
        state.use_database(DEFAULT_DATABASE)
    return Outcome(message="Database has been dropped.")
