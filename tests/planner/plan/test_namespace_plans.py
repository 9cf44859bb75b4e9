"""Statements about views, databases and comments, as EXPLAIN heads them."""

from pykudu_sql.planner.plan.namespace_plans import (
    CommentOn,
    CreateDatabase,
    CreateView,
    DropDatabase,
    DropViews,
)
from pykudu_sql.storage.catalog.namespace import DatabaseInfo, ViewInfo

VIEW = ViewInfo("1", "v", "SELECT 1 AS a", "default", ())


def test_a_view_to_drop_is_named_if_there_is_one() -> None:
    assert DropViews(("v", "w"), ()).headline == "DROP VIEW v, w"


def test_a_view_is_headed_by_its_statement_whatever_it_is() -> None:
    assert CreateView("ALTER VIEW {v} RENAME TO w", VIEW).headline == "ALTER VIEW {v} RENAME TO w"


def test_databases_and_comments_are_headed_by_their_names() -> None:
    database = DatabaseInfo("2", "größe")
    assert CreateDatabase(database).headline == "CREATE DATABASE größe"
    assert DropDatabase("größe", cascade=True).headline == "DROP DATABASE größe"
    assert CommentOn(database, "DATABASE größe").headline == "COMMENT ON DATABASE größe"
