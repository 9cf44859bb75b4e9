"""The columns of a view's query, and those of the views that read a table whose columns change."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.frame_table import FrameTable
from pykudu_sql.storage.catalog.namespace import ViewColumn, ViewInfo
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.errors import Error, NotSupportedError, ProgrammingError, SourceSpan


def planned_columns(source: SourceText, name: str, context: PlanContext) -> tuple[ViewColumn, ...]:
    """The columns of a view's query, which is planned for that."""
    from pykudu_sql.planner.bind.binder import bind
    from pykudu_sql.planner.query.query import parse_rows, plan_rows
    from pykudu_sql.planner.query.result_types import result_columns

    span = SourceSpan(source.start)
    context = replace(context, bound_parameters=None)  # the view keeps the text
    query = plan_rows(source, context)
    if query.parameters:
        raise NotSupportedError("a view cannot have parameters", span=span)
    bound = bind(parse_rows(source), context)
    if name in bound.views:
        raise ProgrammingError(f"view '{name}' would read itself", span=span)
    for reference in bound.references:
        if isinstance(reference.table, FrameTable):
            frame = reference.table.name
            raise NotSupportedError(
                f"a view cannot read '{frame}', a frame that only this program has",
                hint=f"make a table of it first: CREATE TABLE .. AS SELECT * FROM {frame}",
                span=span,
            )
    return tuple(
        ViewColumn(heading.lower(), heading.lower(), str(column.type))
        for heading, column in zip(query.names, result_columns(query, context), strict=True)
    )


def views_with_new_types(
    before: TableInfo, after: TableInfo, context: PlanContext
) -> Iterator[tuple[ViewInfo, ViewInfo]]:
    """The views of which a column has another type once a table is changed: as they are, and then.

    A view that cannot be read then stays as it is.
    """
    from pykudu_sql.planner.ddl.view_dependencies import dependent_views

    catalog = context.catalog.with_table(after, context.now)
    for view in dependent_views(context.catalog, before.name):
        world = replace(context, catalog=catalog, bound_parameters=None)
        with suppress(Error):
            columns = planned_columns(
                SourceText(view.query), view.name, world.within(view.database, None)
            )
            types = {column.source: column.type for column in columns}
            columns = tuple(replace(c, type=types.get(c.source, c.type)) for c in view.columns)
            if columns != view.columns:
                yield view, replace(view, columns=columns)
