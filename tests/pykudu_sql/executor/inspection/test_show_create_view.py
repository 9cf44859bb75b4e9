"""SHOW CREATE TABLE and VIEW of a view: one text, which makes the view again."""

import pytest

import pykudu_sql

VIEWS = {
    "v": "CREATE VIEW v AS SELECT * FROM t",
    '"my view"': 'CREATE VIEW "my view" ("A", "b""c", "or") AS SELECT k, "a b", "select" FROM t',
    "w": "CREATE VIEW w COMMENT 'it''s' AS SELECT k FROM t WHERE \"a b\" = 'x' -- the end",
    '"My DB"."v.w"': 'CREATE VIEW "My DB"."v.w" AS SELECT * FROM "default".t',
    "q": "CREATE VIEW q AS WITH q AS (SELECT 1 AS a) SELECT a, a + 1 FROM q",
}


@pytest.mark.parametrize("name", VIEWS)
def test_the_text_of_a_view_makes_it_again(name: str) -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute('CREATE TABLE t (k INT PRIMARY KEY, "a b" STRING, "select" INT)')
        cursor.execute('CREATE DATABASE "My DB"')
        cursor.execute(VIEWS[name])
        columns = cursor.execute(f"SELECT * FROM {name}").description
        ((text,),) = cursor.execute(f"SHOW CREATE TABLE {name}").fetchall()
        cursor.execute(f"DROP VIEW {name}")
        cursor.execute(f"{text};")

        assert cursor.execute(f"SHOW CREATE VIEW {name}").fetchall() == [(text,)]
        assert cursor.execute(f"SELECT * FROM {name}").description == columns
