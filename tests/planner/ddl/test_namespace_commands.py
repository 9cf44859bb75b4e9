"""Views, databases and comments, from words to plans."""

from dataclasses import replace

import pytest

from pykudu_sql.planner.ddl.namespace_commands import (
    alter_view,
    at_view,
    comment_on,
    create_database,
    create_view,
    drop_database,
    drop_view,
    use,
)
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.namespace_plans import (
    CommentOn,
    CreateDatabase,
    CreateView,
    DropDatabase,
    DropViews,
)
from pykudu_sql.planner.plan.plan import AlterTable, SetOption
from pykudu_sql.storage.errors import (
    Error,
    InvalidSchemaError,
    NotSupportedError,
    ProgrammingError,
    UndefinedColumnError,
    UndefinedObjectError,
    UndefinedTableError,
)


def made(sql: str, context: PlanContext) -> CreateView:
    planned = create_view(TokenStream(sql), context)
    assert isinstance(planned, CreateView)
    return planned


@pytest.fixture(scope="module")
def viewed(context: PlanContext) -> PlanContext:
    """The world with a view `v` of two columns."""
    view = made("create view v as select id, a + 1 as b from t", context).view
    return replace(context, catalog=replace(context.catalog, views={"v": view}))


def test_a_view_has_the_columns_of_its_query_with_their_types(context: PlanContext) -> None:
    planned = made(
        "create view V comment 'c' as select id, Max(s) as M from t group by id;", context
    )
    assert [(c.name, c.type) for c in planned.view.columns] == [("id", "BIGINT"), ("m", "STRING")]
    assert planned.view.query == "select id, Max(s) as M from t group by id"
    assert (planned.view.name, planned.view.comment, planned.replaces) == ("v", "c", False)


def test_a_list_of_columns_names_those_of_the_query(context: PlanContext) -> None:
    planned = made("create view v (x, y comment 'why') as select id, a from t", context)
    assert [(c.name, c.comment) for c in planned.view.columns] == [("x", ""), ("y", "why")]
    with pytest.raises(InvalidSchemaError, match="names 1 column, its query has 2"):
        made("create view v (x) as select id, a from t", context)


def test_a_view_that_is_replaced_keeps_its_identity(viewed: PlanContext) -> None:
    old = viewed.catalog.view("v")
    assert made("create or replace view v as select 1 as x", viewed).view.id == old.id
    planned = alter_view(TokenStream("alter view v rename to w"), viewed)
    assert isinstance(planned, CreateView)
    assert planned.view == replace(old, name="w")


@pytest.mark.parametrize(
    ("sql", "error", "message"),
    [
        ("create view w as select ? as x", NotSupportedError, "cannot have parameters"),
        ("create or replace view v as select * from v", ProgrammingError, "would read itself"),
        ("create view sys.v as select 1 as x", ProgrammingError, "sys"),
        ("create view w as select nope from t", UndefinedColumnError, "nope"),
        ("create view w (x, x) as select 1, 2", InvalidSchemaError, "x"),
    ],
)
def test_a_view_that_cannot_be_read_is_not_made(
    viewed: PlanContext, sql: str, error: type[Error], message: str
) -> None:
    with pytest.raises(error, match=message):
        create_view(TokenStream(sql), viewed)


def test_a_view_is_told_from_a_table_by_its_whole_name(viewed: PlanContext) -> None:
    for name, is_view in (("v", True), ("default.V", True), ('"v"', True), ("t", False)):
        assert at_view(TokenStream(name), viewed) is is_view
    assert not at_view(TokenStream("'v'"), viewed)
    assert not at_view(TokenStream("db.v"), viewed)


def test_a_view_to_drop_must_be_there_and_be_no_table(viewed: PlanContext) -> None:
    view = viewed.catalog.view("v")
    assert drop_view(TokenStream("drop view v"), viewed) == DropViews(("v",), (view,))
    assert drop_view(TokenStream("drop view if exists w"), viewed) == DropViews(("w",), ())
    assert drop_view(TokenStream("drop view if exists w, v, v"), viewed) == DropViews(
        ("w", "v", "v"), (view,)
    )
    with pytest.raises(UndefinedTableError):
        drop_view(TokenStream("drop view w"), viewed)
    with pytest.raises(ProgrammingError):
        drop_view(TokenStream("drop view if exists t"), viewed)


def test_a_database_is_made_used_and_dropped_by_name(context: PlanContext) -> None:
    new = create_database(TokenStream("create schema if not exists New comment 'c'"), context)
    assert isinstance(new, CreateDatabase)
    assert (new.database.name, new.database.comment, new.if_not_exists) == ("new", "c", True)
    assert use(TokenStream("use DB"), context) == SetOption("database", "db", "USE")
    dropped = drop_database(TokenStream("drop schema db restrict"), context)
    assert dropped == DropDatabase("db")
    absent = drop_database(TokenStream("drop database if exists nope cascade"), context)
    assert absent == DropDatabase("nope", if_exists=True, cascade=True)


def test_a_database_that_is_not_there_gets_a_way_out(context: PlanContext) -> None:
    with pytest.raises(UndefinedObjectError, match="'nowhere'"):
        use(TokenStream("use nowhere"), context)
    with pytest.raises(UndefinedObjectError) as caught:
        drop_database(TokenStream("drop database nowhere"), context)
    assert caught.value.hint == "DROP DATABASE IF EXISTS nowhere takes that for done"


def test_a_database_with_tables_is_dropped_only_with_them_and_the_default_never(
    context: PlanContext,
) -> None:
    with pytest.raises(ProgrammingError, match="cannot be dropped") as caught:
        drop_database(TokenStream("drop database default cascade"), context)
    assert caught.value.sqlstate == "42501"
    table = replace(context.catalog.table("t"), name="db.t")
    tables = {**context.catalog.tables, "db.t": table}
    there = replace(context, catalog=replace(context.catalog, tables=tables))
    with pytest.raises(ProgrammingError, match="is not empty: it has") as caught:
        drop_database(TokenStream("drop database db"), there)
    assert caught.value.sqlstate == "2BP01"
    cascade = drop_database(TokenStream("drop database db cascade"), there)
    assert cascade == DropDatabase("db", cascade=True)


def test_a_comment_is_set_and_taken_away(viewed: PlanContext) -> None:
    planned = comment_on(TokenStream("comment on view v is 'new'"), viewed)
    assert planned == CommentOn(replace(viewed.catalog.view("v"), comment="new"), "VIEW v")
    column = comment_on(TokenStream("comment on column v.b is 'bee'"), viewed)
    assert isinstance(column, CommentOn)
    assert column.object_name == "COLUMN v.b"
    for place in ("table t", "column t.a", "column default.t.a"):
        altered = comment_on(TokenStream(f"comment on {place} is null"), viewed)
        assert isinstance(altered, AlterTable)
        assert len(altered.steps) == 1


@pytest.mark.parametrize("place", ["column a", "column t.nope", "column v.nope", "index i"])
def test_a_comment_on_what_is_not_there_is_refused(viewed: PlanContext, place: str) -> None:
    with pytest.raises(Error):
        comment_on(TokenStream(f"comment on {place} is 'x'"), viewed)
