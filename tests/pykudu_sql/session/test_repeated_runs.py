"""`executemany`: each set of parameters has the shape that the statement takes, or none is run."""

from collections import UserList

import pytest

import pykudu_sql
from pykudu_sql.dbapi.connection import Connection
from pykudu_sql.storage.errors import InterfaceError, ProgrammingError


@pytest.fixture
def connection() -> Connection:
    opened = pykudu_sql.connect(autocommit=True)
    opened.execute("CREATE TABLE t (k INT PRIMARY KEY, n INT)")
    return opened


def test_a_set_of_parameters_is_any_sequence_of_the_right_length(connection: Connection) -> None:
    sets = [(1, 2), [3, 4], UserList([5, 6])]
    connection.executemany("INSERT INTO t VALUES (?, ?)", sets)  # type: ignore[arg-type]
    assert connection.execute("SELECT k, n FROM t ORDER BY k").fetchall() == [
        (1, 2), (3, 4), (5, 6),
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", [(3,), (3, 4, 5), [3], "ab", {"a": 1}, 3])
def test_a_set_of_another_shape_is_refused_and_nothing_is_written(
    connection: Connection, wrong: object
) -> None:
    with pytest.raises(InterfaceError):
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, 2), wrong])  # type: ignore[list-item]
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_a_statement_with_names_takes_no_tuple(connection: Connection) -> None:
    with pytest.raises(InterfaceError, match="the statement has named parameters"):
        connection.executemany("INSERT INTO t VALUES (:a, :b)", [{"a": 1, "b": 2}, (3, 4)])


def test_a_statement_that_only_reads_is_refused(connection: Connection) -> None:
    with pytest.raises(ProgrammingError, match="executemany takes INSERT"):
        connection.executemany("SELECT ?", [(1,)])
