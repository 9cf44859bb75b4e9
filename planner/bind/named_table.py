"""The name of a table in a statement of our own grammar."""

from pykudu_sql.planner.parse.error_positions import errors_at
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.catalog.system_catalog import check_not_system
from pykudu_sql.storage.errors import SourceSpan


def named_table(tokens: TokenStream, context: PlanContext) -> TableInfo:
    """The table whose name comes next.

    Raises UndefinedTableError: there is none; the place is shown and a near name suggested;
    ProgrammingError: it is a view, or belongs to the system.
    """
    token = tokens.current
    return existing_table(tokens.table_name(), token.span, context)


def existing_table(name: str, span: SourceSpan | None, context: PlanContext) -> TableInfo:
    """The table of a name, whose place is given. Raises as `named_table`."""
    check_not_system(name, span)
    with errors_at(span):
        return context.catalog.table(name)
