"""What the name of a table means: a table of the catalog, or a frame of the program.

A frame that was registered must not have the name of a table or view: neither may hide the other
unseen. A variable of the program is looked for only where there is none of these.
"""

from typing import TYPE_CHECKING

from pykudu_sql.planner.parse.error_spans import errors_at
from pykudu_sql.planner.parse.lexer import Token
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext, check_writable
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.namespace import DEFAULT_DATABASE
from pykudu_sql.storage.catalog.system_catalog import check_not_system
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.errors import ProgrammingError, SourceSpan, UndefinedTableError

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.frame_table import FrameTable


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
        try:
            return context.catalog.table(name)
        except UndefinedTableError as error:
            if name in context.frames:
                error.hint = f"'{name}' is a registered frame, which queries read"
            raise


def target_table(name: str, token: Token, context: PlanContext) -> TableInfo:
    """The table to write.

    Raises UndefinedTableError: there is none; ProgrammingError: it belongs to schema `sys`, or is a
    view; ReadOnlyError: the session reads at a past moment.
    """
    check_writable(context.settings.as_of)
    return existing_table(name, token.span, context)


def find_frame(
    name: str, span: SourceSpan | None, catalog: Catalog, context: PlanContext
) -> "FrameTable | None":
    """The frame that a query means; None if it means something of the catalog, or nothing.

    Args:
        name: as the query has it, without a database.
        span: its place.
        catalog: of the moment that the query reads.

    Raises ProgrammingError: the name is that of a frame and of a table or view.
    """
    full = catalog.full_name(name.lower())
    exists = full in catalog.tables or full in catalog.views
    frame = context.frames.get(name.lower())
    if frame is None:
        return None if exists else context.frame_in_scope(name)
    if exists:
        stored = full if "." in full else f"{DEFAULT_DATABASE}.{full}"
        raise ProgrammingError(
            f"'{frame.name}' is a registered frame and also a table or view",
            hint=f"write {stored} for that one, or unregister the frame",
            span=span,
            sqlstate="42P09",
        )
    return frame
