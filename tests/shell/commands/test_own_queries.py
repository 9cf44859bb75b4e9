"""What the shell asks for itself is not among the statements that `sys.statements` counts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from pykudu_sql import Connection
from pykudu_sql.shell import completer
from pykudu_sql.shell.commands import registry
from pykudu_sql.shell.completer import ShellCompleter
from pykudu_sql.shell.own_queries import query
from pykudu_sql.shell.session import ShellSession, StatementFailed
from pykudu_sql.shell.settings import Settings


@pytest.fixture
def session() -> Iterator[ShellSession]:
    session = ShellSession(":memory:", Settings(), registry.run)
    session.run_script(
        "CREATE TABLE t (a BIGINT PRIMARY KEY, b BIGINT, CHECK (b > 0));"
        "INSERT INTO t VALUES (1, 1);"
        "CREATE INDEX by_b ON t (b); CREATE SNAPSHOT s; CREATE DATABASE d;"
    )
    session.run_script("RESET STATEMENTS;")
    yield session
    session.close()


def counted(session: ShellSession) -> list[str]:
    return [
        text
        for text, calls in query(session.connection, "SELECT statement, calls FROM sys.statements")
    ]


TYPED = (
    "SELECT ",
    "SELECT a FROM ",
    "DROP INDEX ",
    "USE ",
    "SELECT * FROM t AS OF SNAPSHOT ",
    "ALTER TABLE t DROP CONSTRAINT ",
    "UNDROP TABLE ",
    "SELECT * FROM t JOIN t u ON ",
)
LOOKS = (
    ".tables",
    ".schema",
    "\\d t",
    "\\d+ t",
    "\\d sys.tables",
    ".indexes",
    ".databases",
    ".functions",
    ".functions abs*",
    ".settings",
    ".dump",
    ".asof s",
    ".asof off",
    ".diff t since s",
    ".log t 1",
    ".why t 1",
    ".layout t",
)


def test_completion_counts_for_nothing(session: ShellSession) -> None:
    completion = ShellCompleter(session)
    for typed in TYPED:
        document = Document(typed, len(typed))
        list(completion.get_completions(document, CompleteEvent(completion_requested=True)))
    completion.signature(Document("SELECT abs(", 11))
    assert counted(session) == ["RESET STATEMENTS"]


def test_completion_asks_once_however_many_tables_there_are(
    session: ShellSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.run_script("CREATE TABLE u (a BIGINT PRIMARY KEY); CREATE INDEX by_a ON u (a);")
    asked: list[str] = []

    def rows(_: Connection, sql: str) -> list[tuple[str]]:
        asked.append(sql)
        return [("by_a",), ("by_b",)]

    monkeypatch.setattr(completer, "query", rows)
    event = CompleteEvent(completion_requested=True)
    offered = ShellCompleter(session).get_completions(Document("DROP INDEX ", 11), event)
    assert [each.text for each in offered] == ["by_a", "by_b"]
    assert len(asked) == 1


@pytest.mark.parametrize("format", ["table", "csv"])
def test_commands_that_look_count_for_nothing(session: ShellSession, format: str) -> None:
    session.run_script("\n".join([f".mode {format}", *LOOKS]))
    assert counted(session) == ["RESET STATEMENTS"]


def test_a_command_that_fails_counts_for_nothing_and_what_follows_counts(
    session: ShellSession,
) -> None:
    with pytest.raises(StatementFailed):
        session.run_script(".diff t since tuesday")
    session.run_script("SELECT b FROM t WHERE a = 1;")
    assert set(counted(session)) == {"RESET STATEMENTS", "SELECT b FROM t WHERE a = ?"}


def test_statements_that_commands_run_for_the_user_count(
    session: ShellSession, tmp_path: Path
) -> None:
    session.run_script(f".export t {tmp_path / 'x.csv'}\nSELECT 1;\n.watch 0 2")
    assert {text.split()[0] for text in counted(session)} == {"RESET", "COPY", "SELECT"}
