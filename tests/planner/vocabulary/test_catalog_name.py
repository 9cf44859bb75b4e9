"""Names of tables that begin with a catalog: ours in every statement, another in none."""

from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.planner.vocabulary.catalog_name import check_catalog
from pykudu_sql.storage.errors import SourceSpan, UndefinedTableError

STATEMENTS = (
    "SELECT * FROM {}.d.t",
    "SELECT * FROM {}.d.t AS OF SNAPSHOT s",
    "SELECT * FROM CHANGES({}.d.t, snapshot('s'))",
    "SELECT * FROM {}.sys.tablets",
    "SELECT * FROM {}.information_schema.tables",
    "WITH q AS (TABLE {}.d.t) SELECT (SELECT max(v) FROM q)",
    "INSERT INTO {}.d.t VALUES (2, 2)",
    "INSERT INTO d.t SELECT k + 10, v FROM {}.d.t",
    "UPSERT INTO {}.d.t VALUES (3, 3)",
    "UPDATE {}.d.t SET v = 5 WHERE k = 1",
    "UPDATE {}.d.t SET v = v + 1",
    "DELETE FROM {}.d.t WHERE k = 2",
    "MERGE INTO {}.d.t a USING d.t b ON a.k = b.k WHEN MATCHED THEN UPDATE SET v = b.v",
    "MERGE INTO d.t a USING {}.d.t b ON a.k = b.k WHEN MATCHED THEN UPDATE SET v = b.v",
    "CREATE TABLE {}.d.u (k INT PRIMARY KEY)",
    "ALTER TABLE {}.d.u ADD COLUMN x INT",
    "DROP TABLE IF EXISTS {}.d.u",
    "CREATE VIEW w AS SELECT * FROM {}.d.t",
    "DESCRIBE {}.d.t",
    "SHOW CREATE TABLE {}.d.t",
    "FLUSH TABLE {}.d.t",
    "TRUNCATE {}.d.t",
)


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> pykudu_sql.Connection:
    path: Path = tmp_path_factory.mktemp("catalog") / "db"
    connection = pykudu_sql.connect(path, autocommit=True)
    connection.execute("CREATE DATABASE d")
    connection.execute("CREATE TABLE d.t (k INT PRIMARY KEY, v INT)")
    connection.execute("INSERT INTO d.t VALUES (1, 1)")
    connection.execute("CREATE SNAPSHOT s")
    return connection


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_name_with_another_catalog_is_refused(
    connection: pykudu_sql.Connection, statement: str
) -> None:
    rows = connection.execute("SELECT * FROM d.t").fetchall()
    with pytest.raises(UndefinedTableError, match="catalog 'nope' does not exist") as caught:
        connection.execute(statement.format("nope"))
    assert caught.value.hint is not None and "pykudu.database.table" in caught.value.hint
    assert connection.execute("SELECT * FROM d.t").fetchall() == rows


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("catalog", ["pykudu", '"PyKudu"'])
def test_a_name_with_the_catalog_of_information_schema_is_the_table(
    connection: pykudu_sql.Connection, statement: str, catalog: str
) -> None:
    connection.execute("DROP VIEW IF EXISTS w")
    connection.execute("CREATE TABLE IF NOT EXISTS d.u (k INT PRIMARY KEY)")
    connection.execute("TRUNCATE d.t")
    connection.execute("INSERT INTO d.t VALUES (1, 1)")
    if statement.startswith("CREATE TABLE"):
        connection.execute("DROP TABLE d.u")
    if "ADD COLUMN" in statement:
        connection.execute("ALTER TABLE d.u DROP COLUMN IF EXISTS x")
    connection.execute(statement.format(catalog))


@pytest.mark.parametrize("statement", ["SELECT * FROM a.b.d.t", "DROP TABLE a.b.d.t"])
def test_a_name_of_four_parts_is_refused(connection: pykudu_sql.Connection, statement: str) -> None:
    with pytest.raises(UndefinedTableError, match=r"'a\.b\.d\.t' has more names than a table"):
        connection.execute(statement)


def test_the_error_says_where_the_name_stands() -> None:
    span = SourceSpan(3, 4)
    with pytest.raises(UndefinedTableError) as caught:
        check_catalog(["x", "d", "t"], span)
    assert caught.value.span == span
    check_catalog(["PYKUDU", "d", "t"], span)
