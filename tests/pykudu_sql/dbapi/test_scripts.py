"""What programs know of sqlite3: `executescript`, `total_changes`, `connect(database=..)`."""

import asyncio
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql import aio

SCRIPT = """
CREATE TABLE t (id INT PRIMARY KEY, v STRING); -- a semicolon in a comment; and
INSERT INTO t VALUES (1, 'a;b'), (2, NULL);
CREATE TABLE u (id INT PRIMARY KEY);
SELECT v FROM t ORDER BY id;
"""


def test_a_script_commits_each_statement_and_what_was_open() -> None:
    with pykudu_sql.connect() as connection:
        connection.execute("CREATE TABLE s (id INT PRIMARY KEY)")
        connection.execute("INSERT INTO s VALUES (1)")
        assert connection.executescript(SCRIPT).fetchall() == [("a;b",), (None,)]
        assert not connection.in_transaction and not connection.autocommit
        connection.rollback()
        assert connection.execute("SELECT count(*) FROM s, t").fetchone() == (2,)
        assert connection.executescript(" -- nothing").description is None


def test_a_script_may_have_transactions_and_ends_at_an_error() -> None:
    with pykudu_sql.connect(autocommit=True) as connection:
        connection.executescript(SCRIPT)
        with pytest.raises(pykudu_sql.IntegrityError, match="already present"):
            connection.executescript(
                "INSERT INTO u VALUES (1); BEGIN; INSERT INTO u VALUES (2);"
                "INSERT INTO u VALUES (1); COMMIT"
            )
        assert connection.in_transaction and connection.autocommit
        connection.rollback()
        assert connection.execute("SELECT id FROM u").fetchall() == [(1,)]


def test_a_script_is_text_and_has_no_parameters() -> None:
    with pykudu_sql.connect() as connection:
        with pytest.raises(pykudu_sql.InterfaceError, match="text"):
            connection.executescript(b"SELECT 1")  # type: ignore[arg-type]
        with pytest.raises(pykudu_sql.InterfaceError, match="1 parameter"):
            connection.executescript("SELECT ?")
        assert not connection.autocommit
    with pytest.raises(pykudu_sql.InterfaceError, match="the connection is closed"):
        connection.executescript("SELECT 1")


def test_all_ways_to_change_rows_count(tmp_path: Path) -> None:
    with pykudu_sql.connect(files=str(tmp_path)) as connection:
        assert connection.total_changes == 0
        connection.executescript(SCRIPT)
        for change, total in (
            ("INSERT INTO u VALUES (1) RETURNING id", 3),
            ("UPDATE t SET v = 'c' WHERE id = 1", 4),
            ("UPDATE t SET v = v || 'c'", 6),
            ("DELETE FROM t WHERE id = 7", 6),
            ("DELETE FROM u", 7),
            (f"COPY t TO '{tmp_path}/t.csv'", 7),
            ("SELECT * FROM t", 7),
        ):
            connection.execute(change)
            assert connection.total_changes == total, change
        connection.rollback()
        connection.execute("DELETE FROM t")
        connection.execute(f"COPY t FROM '{tmp_path}/t.csv'")
        connection.executemany("INSERT INTO u VALUES (?)", [(8,), (9,)])
        connection.append("u", {"id": [10]})
        assert connection.total_changes == 7 + 2 + 2 + 2 + 1
        connection.commit()
    with pytest.raises(pykudu_sql.InterfaceError, match="the connection is closed"):
        _ = connection.total_changes


def test_a_path_by_the_name_that_sqlite3_has_for_it_opens_no_memory() -> None:
    with pytest.raises(pykudu_sql.ProgrammingError, match="the first argument is the path"):
        pykudu_sql.connect(database="my.db")
    pykudu_sql.connect(database="default").close()


def test_asyncio_has_both() -> None:
    async def story() -> None:
        async with await aio.connect() as connection:
            cursor = await connection.executescript(SCRIPT)
            assert await cursor.fetchall() == [("a;b",), (None,)]
            assert connection.total_changes == 2

    asyncio.run(story())
