"""The name of a table in a statement of our own grammar."""

from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.catalog.system_catalog import check_not_system
from pykudu_sql.storage.errors import ProgrammingError


def named_table(tokens: TokenStream, context: PlanContext) -> TableInfo:
    """The table whose name comes next.

    Raises UndefinedTableError: there is none; the place is shown and a near name suggested;
    ProgrammingError: it is a view, or belongs to the system.
    """
    place = tokens.current
    name = tokens.table_name()
    span = place.span
    check_not_system(name, span)
    try:
        return context.catalog.table(name)
    except ProgrammingError as error:
        error.span = span
        raise
