"""Statements that run again after a conflict, and those that wait for them."""

import threading
from pathlib import Path

import pytest

import pykudu_sql


@pytest.mark.parametrize(
    "statement",
    ["UPDATE t SET n = 2 WHERE k = 1", "UPDATE t SET n = n + 1 WHERE k = 1", "DELETE FROM t"],
)
def test_statements_that_stand_alone_let_one_end_that_runs_again(
    tmp_path: Path, statement: str
) -> None:
    with pykudu_sql.connect(str(tmp_path / "my.db"), autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, n INT)")
        connection.execute("INSERT INTO t VALUES (1, 1)")
        done = threading.Event()

        def write() -> None:
            connection.execute(statement)
            done.set()

        thread = threading.Thread(target=write)
        with connection._session.database.retry_queue.retrying(60, lambda: None):
            thread.start()
            assert not done.wait(0.1)
        thread.join()
        assert done.is_set()


def test_a_statement_that_waits_can_be_stopped(tmp_path: Path) -> None:
    with pykudu_sql.connect(str(tmp_path / "my.db"), autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, n INT)")
        connection.execute("SET statement_timeout = 10")
        with (
            connection._session.database.retry_queue.retrying(60, lambda: None),
            pytest.raises(pykudu_sql.OperationalError, match="timeout") as caught,
        ):
            connection.execute("INSERT INTO t VALUES (1, 1)")
        assert caught.value.sqlstate == "57014"


def test_a_counter_that_many_threads_raise_loses_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "my.db")
    with pykudu_sql.connect(path, autocommit=True, durability="off") as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, n INT)")
        connection.execute("INSERT INTO t VALUES (1, 0)")
        failures: list[BaseException] = []

        def count() -> None:
            try:
                with pykudu_sql.connect(path, autocommit=True, durability="off") as session:
                    for _ in range(20):
                        session.execute("UPDATE t SET n = n + 1 WHERE k = 1")
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=count) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert connection.execute("SELECT n FROM t").fetchone() == (120,)
