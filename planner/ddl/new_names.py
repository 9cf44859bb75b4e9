"""Whether a table or view may have a new name, whatever statement gives it."""

from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.catalog.namespace import database_of
from pykudu_sql.storage.catalog.system_catalog import check_not_system
from pykudu_sql.storage.errors import SourceSpan


def check_new_name(name: str, context: PlanContext, span: SourceSpan | None = None) -> None:
    """See that a name is not the system's and its database exists.

    `name`: with its database; `span`: of the name in the statement. Raises ProgrammingError: it
    belongs to the system; UndefinedObjectError: there is no such database.
    """
    check_not_system(name, span)
    context.catalog.check_database(database_of(name))
