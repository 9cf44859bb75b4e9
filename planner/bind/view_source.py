"""A view in a FROM clause: its query in place of its name, bound in the view's own database.

The query stands in the tree as a subquery, so that what holds for subqueries (predicates and
columns that are pushed into tables) holds for views. Its columns are those the view was made with:
a `*` in it does not grow with the table. Errors inside a view have no place in the statement; they
name the view instead.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from sqlglot import exp

from pykudu_sql.planner.bind.relations import OutputColumn
from pykudu_sql.planner.functions.listed_values import write_as_listed
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.tree_nodes import all_nodes
from pykudu_sql.storage.catalog.namespace import ViewInfo
from pykudu_sql.storage.errors import Error, StatementTooComplexError, UndefinedColumnError

MAX_VIEW_DEPTH = 32


def check_depth(view: ViewInfo, open_views: Sequence[str]) -> None:
    """Refuse a view that reads itself, and views upon views without end.

    Args:
        view: to be read.
        open_views: names of the views whose queries are being bound, outermost first.

    Raises StatementTooComplexError: one of both.
    """
    if view.name in open_views:
        path = " reads ".join(f"'{name}'" for name in (*open_views, view.name))
        raise StatementTooComplexError(f"views read each other in a circle: {path}")
    if len(open_views) == MAX_VIEW_DEPTH:
        raise StatementTooComplexError(f"views are nested more than {MAX_VIEW_DEPTH} deep")


def view_tree(view: ViewInfo) -> exp.Expr:
    """The tree of a view's query, without positions, which would be those of another text."""
    tree = write_as_listed(parse(view.query), None)
    for node in all_nodes(tree):
        for place in ("start", "end", "line", "col"):
            node.meta.pop(place, None)
    return tree


def expand_view(
    node: exp.Table, alias: str, query: exp.Expr, columns: Sequence[OutputColumn], view: ViewInfo
) -> tuple[exp.Subquery, list[OutputColumn]]:
    """Put a view's bound query where its name stands.

    Args:
        node: the mention; it leaves the tree.
        alias: of the mention, lower case.
        query: bound.
        columns: that the query has now.

    Returns what stands there now, and the view's columns: those of the query, or others that need
    all of them. Raises UndefinedColumnError: the query has a column of the view no more.
    """
    now = [column.name.lower() for column in columns]
    outputs = list(columns)
    if now != [c.source for c in view.columns] or now != [c.name for c in view.columns]:
        by_name = {column.name.lower(): column for column in columns}
        query = _selected(query, by_name, view)
        outputs = [
            replace(by_name[column.source], name=column.name, origins=()) for column in view.columns
        ]
    mention = node.args.get("alias")
    name = exp.TableAlias(
        this=exp.to_identifier(alias, quoted=True),
        columns=mention.columns if mention is not None else [],
    )
    placed = exp.Subquery(this=query, alias=name)
    if node.args.get("joins"):
        placed.set("joins", node.args["joins"])
    node.replace(placed)
    return placed, outputs


def _selected(query: exp.Expr, by_name: Mapping[str, OutputColumn], view: ViewInfo) -> exp.Select:
    """A view's columns out of its query's, under the view's names."""
    items: list[exp.Expr] = []
    for view_column in view.columns:
        source_column = by_name.get(view_column.source)
        if source_column is None:
            raise UndefinedColumnError(f"its query has no column '{view_column.source}' any more")
        items.append(
            exp.alias_(
                exp.column(exp.to_identifier(source_column.name, quoted=True)), view_column.name
            )
        )
    inner = exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier("view_query")))
    return exp.Select(expressions=items).from_(inner, copy=False)


@contextmanager
def errors_named_after(view: ViewInfo) -> Iterator[None]:
    """Errors of what is done inside name the view, and have no place.

    Raises Error: as it was raised inside.
    """
    try:
        yield
    except Error as error:
        error.message = f"view '{view.name}' cannot be read: {error.message}"
        error.args = (error.message,)
        error.span = None
        raise
