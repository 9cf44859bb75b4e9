"""Views in a FROM clause."""

from dataclasses import replace

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.view_source import (
    MAX_VIEW_DEPTH,
    check_depth,
    errors_named_after,
    view_tree,
)
from pykudu_sql.planner.parse.dialect import display, parse
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.catalog.namespace import DEFAULT_DATABASE, ViewColumn, ViewInfo
from pykudu_sql.storage.errors import (
    Error,
    SourceSpan,
    StatementTooComplexError,
    UndefinedColumnError,
)


def view(name: str, query: str, **columns: str) -> ViewInfo:
    """A view; `columns`: its names of what its query calls them."""
    made = tuple(ViewColumn(source, own, "INT") for own, source in columns.items())
    return ViewInfo("id", name, query, DEFAULT_DATABASE, made)


def bound(sql: str, context: PlanContext, *views: ViewInfo) -> BoundQuery:
    catalog = replace(context.catalog, views={each.name: each for each in views})
    return bind(parse(sql), replace(context, catalog=catalog))


def used(query: BoundQuery) -> set[str]:
    return {r.table.schema.by_id[i].name for r, ids in query.used.items() for i in ids}


@pytest.mark.parametrize(
    ("made", "written", "names"),
    [
        (
            view("v", "select id, a from t", id="id", a="a"),
            "SELECT * FROM (SELECT id, a FROM t) AS v",
            {"id", "a"},
        ),
        (
            view("v", "select id, a from t", x="a"),
            "SELECT * FROM (SELECT a AS x FROM (SELECT id, a FROM t) AS view_query) AS v",
            {"id", "a"},
        ),
    ],
)
def test_a_views_query_stands_in_place_of_its_name_with_the_views_columns(
    context: PlanContext, made: ViewInfo, written: str, names: set[str]
) -> None:
    query = bound("select * from v", context, made)
    assert display(query.tree).replace('"', "") == written
    assert query.names == tuple(column.name for column in made.columns)
    assert (query.views, used(query)) == ({"v"}, names)


def test_a_view_of_a_star_reads_only_the_columns_that_are_used(context: PlanContext) -> None:
    star = view("v", "select * from logs", day="day", msg="msg")
    assert used(bound("select day from v", context, star)) == {"day"}


def test_a_column_that_the_query_lost_is_undefined_in_the_view(context: PlanContext) -> None:
    lost = view("v", "select id from t", id="id", a="a")
    with pytest.raises(UndefinedColumnError, match=r"view 'v' cannot be read: .* no column 'a'"):
        bound("select id from v", context, lost)


def test_views_that_read_each_other_are_refused(context: PlanContext) -> None:
    circle = (view("v", "select a from w", a="a"), view("w", "select a from v", a="a"))
    with pytest.raises(StatementTooComplexError, match="'v' reads 'w' reads 'v'"):
        bound("select a from v", context, *circle)


def test_views_are_nested_to_a_depth() -> None:
    open_views = [f"v{i}" for i in range(MAX_VIEW_DEPTH)]
    check_depth(view("v", "select 1"), open_views[1:])
    with pytest.raises(StatementTooComplexError, match="nested more than"):
        check_depth(view("v", "select 1"), open_views)


def test_the_tree_of_a_view_has_no_places() -> None:
    tree = view_tree(view("v", "select a from t where a = 1"))
    assert all(node_span(node) is None for node in tree.walk())


def test_an_error_inside_names_the_view_in_place_of_a_position() -> None:
    with pytest.raises(Error) as caught, errors_named_after(view("v", "select 1")):
        raise UndefinedColumnError("there is none", span=SourceSpan(3))
    assert caught.value.message == "view 'v' cannot be read: there is none"
    assert caught.value.span is None
