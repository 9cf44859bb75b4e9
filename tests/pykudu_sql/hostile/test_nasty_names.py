"""Any name of 1 to 256 bytes names a table and a column, in every statement."""

import pytest

import pykudu_sql

NAMES = [
    'double"quote', "back`tick", "it's", "a b", "a;b", "--", "a\nb", ".", "..", ".t", "t.",
    "../../etc/passwd", "select", "table", "null", "count(*)", "1a", "?", ":n", "$1", "rowid", " ",
    "__scan_0", "\u202e", "日本", "😀", "É", "İ", "ß", "Upper", "x" * 256, "é" * 128,
]  # fmt: skip
BAD_NAMES = ["", "a\0b", "x" * 257, "é" * 129]


@pytest.mark.parametrize("name", NAMES)
def test_a_quoted_name_works_in_every_statement(name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {quoted} ({quoted} INT PRIMARY KEY, v INT)")
        connection.execute(f"INSERT INTO {quoted} ({quoted}, v) VALUES (1, 2), (2, 3), (3, 4)")
        connection.execute(f"FLUSH TABLE {quoted}")
        connection.execute(f"UPDATE {quoted} SET v = 9 WHERE {quoted} = 1")
        connection.execute(f"UPDATE {quoted} SET v = v + 1 WHERE {quoted}.{quoted} > 2")
        connection.execute(
            f"DELETE FROM {quoted} WHERE {quoted} IN (SELECT {quoted} FROM {quoted} WHERE v = 3)"
        )
        found = connection.execute(f"SELECT {quoted}, v FROM {quoted} ORDER BY {quoted}")
        assert found.fetchall() == [(1, 9), (3, 5)]
        found = connection.execute(f"SELECT {quoted} FROM {quoted} WHERE {quoted} = 3")
        assert found.fetchall() == [(3,)]
        ((statement,),) = connection.execute(f"SHOW CREATE TABLE {quoted}").fetchall()
        connection.execute(f"DROP TABLE {quoted}")
        connection.execute(statement)
        assert connection.execute(f"SELECT count(*) FROM {quoted}").fetchall() == [(0,)]


@pytest.mark.parametrize("name", NAMES)
def test_a_quoted_name_works_in_statements_that_are_turned_into_others(name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        connection.execute(f"CREATE TABLE {quoted} (id INT PRIMARY KEY, {quoted} INT)")
        connection.execute(f"INSERT INTO {quoted} VALUES (1, 2), (2, 3)")
        connection.execute("CREATE SNAPSHOT before")
        upsert = f"INSERT INTO {quoted} VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET {quoted} = "
        connection.execute(f"{upsert} {quoted}.{quoted} + excluded.{quoted}")
        connection.execute(f"CREATE VIEW v AS SELECT {quoted} FROM {quoted}")
        connection.execute(f"CREATE TABLE copy PRIMARY KEY (id) AS SELECT * FROM {quoted}")
        assert connection.execute("SELECT * FROM v ORDER BY 1").fetchall() == [(3,), (7,)]
        assert connection.execute(f"SELECT id, {quoted} FROM copy WHERE id = 1").fetchall() == [
            (1, 7)
        ]
        connection.execute(f"RESTORE TABLE {quoted} TO SNAPSHOT before")
        assert connection.execute("SELECT * FROM v ORDER BY 1").fetchall() == [(2,), (3,)]
        assert connection.execute(f"TRUNCATE TABLE {quoted}").rowcount == 2
        assert connection.execute("SELECT * FROM v").fetchall() == []


def test_truncate_empties_the_table_it_names_whatever_database_is_used() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE DATABASE other")
        for table, keys in (("t", "(1), (2), (3)"), ("other.t", "(3), (4)")):
            connection.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY)")
            connection.execute(f"INSERT INTO {table} VALUES {keys}")
        connection.execute("USE other")
        assert connection.execute("TRUNCATE TABLE default.t").rowcount == 3
        assert connection.execute("SELECT count(*) FROM default.t").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (2,)
        assert connection.execute("TRUNCATE t").rowcount == 2


def test_a_dot_within_a_quoted_name_divides_database_and_table_as_in_kudu() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        with pytest.raises(pykudu_sql.ProgrammingError, match="database 'a' does not exist"):
            connection.execute('CREATE TABLE "a.b" ("a.b" INT PRIMARY KEY)')
        connection.execute("CREATE DATABASE a")
        connection.execute('CREATE TABLE "a.b" ("a.b" INT PRIMARY KEY)')
        connection.execute('INSERT INTO a.b ("a.b") VALUES (1)')
        assert connection.execute('SELECT "a.b" FROM "a.b"').fetchall() == [(1,)]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_of_no_bytes_too_many_or_with_nul_is_refused(name: str) -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        with pytest.raises(pykudu_sql.ProgrammingError) as caught:
            connection.execute(f'CREATE TABLE "{name}" (id INT PRIMARY KEY)')
        assert caught.value.sqlstate == "42P16"
        assert connection.list_tables() == []
