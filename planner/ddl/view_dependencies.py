"""Which views read a table, directly or through other views."""

from collections.abc import Iterator

from sqlglot import exp

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.namespace import ViewInfo, full_name
from pykudu_sql.storage.errors import Error


def dependent_views(catalog: Catalog, name: str) -> list[ViewInfo]:
    """The views that read a table or view, each behind those that it reads.

    `name`: of the table, with its database.
    """
    read = {view.name: frozenset(_relations(view)) for view in catalog.views.values()}
    readers: list[ViewInfo] = []
    sought = {name}
    while sought:
        views = [
            view
            for view in catalog.views.values()
            if view not in readers and read[view.name] & sought
        ]
        readers.extend(views)
        sought = {view.name for view in views}
    return readers


def _relations(view: ViewInfo) -> Iterator[str]:
    """The full names of what a view's query mentions, queries of its WITH clauses left out."""
    try:
        tree = parse(view.query)
    except Error:
        return  # it cannot be read either way
    own = {cte.alias.lower() for cte in nodes_of(tree, exp.CTE)}
    for mention in nodes_of(tree, exp.Table):
        if mention.db:
            yield full_name(f"{mention.db}.{mention.name}".lower(), view.database)
        elif mention.name.lower() not in own:
            yield full_name(mention.name.lower(), view.database)
