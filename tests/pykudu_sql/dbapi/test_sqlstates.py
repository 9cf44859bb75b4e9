"""SQLSTATEs of errors that come of using the interface wrong; no SQL script brings them about."""

from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql import Connection


@pytest.fixture
def conn() -> Connection:
    connection = pykudu_sql.connect(":memory:", autocommit=True)
    connection.execute("CREATE TABLE t (id INT PRIMARY KEY, v STRING)")
    return connection


def sqlstate_of(caught: pytest.ExceptionInfo[pykudu_sql.Error]) -> str | None:
    return caught.value.sqlstate


def test_parameters_of_the_wrong_number_are_07001(conn: Connection) -> None:
    with pytest.raises(pykudu_sql.InterfaceError) as caught:
        conn.execute("SELECT * FROM t WHERE id = ?", (1, 2))
    assert sqlstate_of(caught) == "07001"


def test_a_parameter_without_a_value_is_07006(conn: Connection) -> None:
    with pytest.raises(pykudu_sql.InterfaceError) as caught:
        conn.execute("SELECT * FROM t WHERE v = concat(?, 'x')", (object(),))
    assert sqlstate_of(caught) == "07006"


def test_a_closed_connection_is_08003(conn: Connection) -> None:
    conn.close()
    with pytest.raises(pykudu_sql.InterfaceError) as caught:
        conn.execute("SELECT 1")
    assert sqlstate_of(caught) == "08003"


def test_text_that_is_no_unicode_is_22021(conn: Connection) -> None:
    with pytest.raises(pykudu_sql.ProgrammingError) as caught:
        conn.execute("SELECT '\ud800'")
    assert sqlstate_of(caught) == "22021"


def test_columns_of_different_lengths_are_22026(conn: Connection) -> None:
    with pytest.raises(pykudu_sql.DataError) as caught:
        conn.append("t", {"id": [1, 2], "v": ["a"]})
    assert sqlstate_of(caught) == "22026"


def test_fetching_without_a_result_is_24000(conn: Connection) -> None:
    cursor = conn.execute("INSERT INTO t VALUES (1, 'a')")
    with pytest.raises(pykudu_sql.ProgrammingError) as caught:
        cursor.fetchone()
    assert sqlstate_of(caught) == "24000"


def test_an_update_of_a_missing_key_is_02000(conn: Connection) -> None:
    with pytest.raises(pykudu_sql.IntegrityError) as caught:
        conn.append("t", {"id": [7], "v": ["a"]}, operation="update")
    assert sqlstate_of(caught) == "02000"


def test_a_directory_that_is_not_there_is_58p01(tmp_path: Path) -> None:
    with pytest.raises(pykudu_sql.OperationalError) as caught:
        pykudu_sql.connect(str(tmp_path / "no" / "my.db"))
    assert sqlstate_of(caught) == "58P01"


def test_a_file_in_the_place_of_a_database_is_58p01_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "my.db").write_text("somebody else's")
    with pytest.raises(pykudu_sql.OperationalError, match="is a file, and a database is") as caught:
        pykudu_sql.connect(str(tmp_path / "my.db"))
    assert sqlstate_of(caught) == "58P01"
    assert (tmp_path / "my.db").read_text() == "somebody else's"
