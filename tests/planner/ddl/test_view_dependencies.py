"""Which views read a table."""

from collections.abc import Iterator

import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.planner.ddl.view_dependencies import dependent_views


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as made:
        made.execute("CREATE DATABASE d")
        for table in ("t", "u", "d.t"):
            made.execute(f"CREATE TABLE {table} (k INT PRIMARY KEY)")
        yield made


@pytest.mark.parametrize(
    ("query", "reads"),
    [
        ("SELECT * FROM t", True),
        ("SELECT 1 AS a WHERE EXISTS (SELECT * FROM u JOIN t USING (k))", True),
        ("WITH c AS (SELECT * FROM T) SELECT * FROM c", True),
        ("WITH t AS (SELECT 1 AS k) SELECT * FROM t", False),
        ("SELECT * FROM d.t", False),
        ("SELECT k AS t FROM u", False),
    ],
)
def test_a_view_depends_on_what_its_query_mentions(
    connection: Connection, query: str, reads: bool
) -> None:
    connection.execute(f"CREATE VIEW v AS {query}")
    found = dependent_views(connection._session.catalog, "t")
    assert [view.name for view in found] == (["v"] if reads else [])


def test_names_of_a_view_are_those_of_its_database(connection: Connection) -> None:
    connection.execute("USE d")
    connection.execute("CREATE VIEW v AS SELECT * FROM t")
    catalog = connection._session.catalog
    assert dependent_views(catalog, "t") == []
    assert [view.name for view in dependent_views(catalog, "d.t")] == ["d.v"]


def test_views_of_views_come_behind_them(connection: Connection) -> None:
    connection.execute("CREATE VIEW c AS SELECT * FROM t")
    connection.execute("CREATE VIEW b AS SELECT * FROM c")
    connection.execute("CREATE VIEW a AS SELECT b.k FROM b JOIN c USING (k)")
    found = [view.name for view in dependent_views(connection._session.catalog, "t")]
    assert found[0] == "c"
    assert sorted(found) == ["a", "b", "c"]
