"""SET as other databases have it: taken where it changes nothing, else refused with a way out."""

import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.planner.commands.foreign_settings import foreign_setting
from pykudu_sql.planner.parse.token_stream import TokenStream


@pytest.fixture
def connection() -> Connection:
    return pykudu_sql.connect(autocommit=True)


@pytest.mark.parametrize(
    "statement",
    [
        "SET NAMES utf8",
        "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_general_ci'",
        "SET CHARACTER SET utf8",
        "SET client_encoding = 'UTF8'",
        "SET standard_conforming_strings = on",
        "SET TIME ZONE 'UTC'",
        "SET TIME ZONE DEFAULT",
        "SET SESSION time_zone = '+00:00'",
        "SET timezone TO 'Etc/UTC'",
    ],
)
def test_what_is_so_is_taken(connection: Connection, statement: str) -> None:
    before = connection.execute("SHOW SETTINGS").fetchall()
    assert connection.execute(statement).rowcount == -1
    assert connection.execute("SHOW SETTINGS").fetchall() == before


@pytest.mark.parametrize(
    ("statement", "way_out"),
    [
        ("SET NAMES latin1", "texts are UTF-8"),
        ("SET TIME ZONE 'Europe/Berlin'", "from_utc_timestamp"),
        ("SET TIME ZONE -7", "from_utc_timestamp"),
        ("SET standard_conforming_strings = off", "E'..'"),
        ("SET LOCAL statement_timeout = 5", "SET name = value"),
        ("SET GLOBAL max_connections = 5", "connect(path, name=value)"),
        ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "BEGIN READ ONLY"),
        ("SET SESSION TRANSACTION READ ONLY", "BEGIN READ ONLY"),
        ("SET SESSION AUTHORIZATION bob", "who may read the files"),
        ("SET search_path TO a, b", "USE db"),
        ("SET autocommit = 0", "BEGIN .. COMMIT"),
        ("SET FOREIGN_KEY_CHECKS = 0", "leave it out"),
        ("SET IDENTITY_INSERT t ON", "leave it out"),
        ("SET NOCOUNT ON", "leave it out"),
        ("SET ROLE bob", "leave it out"),
    ],
)
def test_the_others_say_what_to_write(connection: Connection, statement: str, way_out: str) -> None:
    with pytest.raises(pykudu_sql.NotSupportedError) as caught:
        connection.execute(statement)
    assert caught.value.hint is not None and way_out in caught.value.hint


def test_session_before_a_setting_of_our_own_is_passed_over(connection: Connection) -> None:
    connection.execute("SET SESSION statement_timeout = '5 s'")
    assert connection.execute("SHOW statement_timeout").fetchall()[0][1] == "5000"
    with pytest.raises(pykudu_sql.ProgrammingError, match="no setting 'statement_timeot'"):
        connection.execute("SET SESSION statement_timeot = 5")


def test_what_other_databases_do_not_have_is_left_to_set() -> None:
    tokens = TokenStream("SESSION as_of = DEFAULT")
    assert foreign_setting(tokens) is None
    assert tokens.current.word == "AS_OF"


def test_a_setting_may_be_called_as_a_scope_is(connection: Connection) -> None:
    with pytest.raises(pykudu_sql.ProgrammingError, match="no setting 'session'"):
        connection.execute("SET session = 5")
