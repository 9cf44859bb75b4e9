"""The interactive shell in a terminal: what is typed, what the screen shows."""

from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from pykudu_sql.shell.repl import Repl, is_ready, typed_command
from tests.shell.terminal import COLUMNS, CTRL_C, CTRL_D, ENTER, TAB, UP, Terminal, prompts


def test_a_statement_may_take_several_lines_and_shows_rows_and_time(terminal: Terminal) -> None:
    terminal.line("CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING);")
    terminal.wait(prompts(2))
    terminal.line("INSERT INTO t VALUES (1, 'one'), (2, NULL);")
    terminal.wait(prompts(3))
    terminal.line("SELECT id, v")
    terminal.wait("...>")
    terminal.line("FROM t ORDER BY id;")
    shown = terminal.answer("2 rows in ")
    assert "│ BIGINT │ STRING │" in shown or "BIGINT" in shown
    assert "│      2 │ NULL" in shown


def test_tab_completes_tables_and_columns(terminal: Terminal) -> None:
    terminal.line("CREATE TABLE flights (flight_id BIGINT PRIMARY KEY, carrier STRING);")
    terminal.wait(prompts(2))
    terminal.type("SELECT * FROM fli" + TAB)
    terminal.wait("FROM flights")
    terminal.type(" WHERE carr" + TAB)
    terminal.wait("WHERE carrier")
    terminal.type(CTRL_C)
    terminal.type("SELECT carr" + TAB)
    terminal.wait("SELECT carrier")
    terminal.type(" FROM flights ORDER BY fli" + TAB)
    terminal.wait("ORDER BY flight_id")
    terminal.type(CTRL_C)
    terminal.type(".tab" + TAB)
    terminal.wait(".tables")


def test_up_walks_the_history_past_a_menu_that_came_by_itself(terminal: Terminal) -> None:
    terminal.line("SELECT 41 + 1 AS answer;")
    terminal.answer("1 row in ")
    terminal.type("sel")
    terminal.wait("statements")
    terminal.type(UP + ENTER)
    terminal.wait(lambda screen: screen.count("1 row in ") == 2)


def test_the_prompt_shows_an_open_transaction(terminal: Terminal) -> None:
    terminal.line("BEGIN;")
    terminal.wait("my.db*>")
    terminal.line("ROLLBACK;")
    terminal.wait(lambda shown: shown.endswith("my.db>"))


def test_an_error_leaves_the_shell_usable(terminal: Terminal) -> None:
    terminal.line("SELEC 1;")
    shown = terminal.answer("ERROR 42601")
    assert "Traceback" not in shown
    terminal.line("SELECT 41 + 1 AS answer;")
    terminal.answer("│     42 │")


def test_ctrl_c_clears_the_line(terminal: Terminal) -> None:
    terminal.type("SELECT nonsense" + CTRL_C)
    terminal.wait(prompts(2))
    terminal.line("SELECT 7 AS n;")
    shown = terminal.answer("1 row in ")
    assert "ERROR" not in shown


def test_ctrl_c_cancels_the_statement_and_keeps_the_session(terminal: Terminal) -> None:
    terminal.line("BEGIN;")
    terminal.wait("my.db*>")
    terminal.line("SELECT count(*) FROM range(100000000000) a, range(1000) b;")
    terminal.wait("computing for ")  # so that it runs, and the key is no part of a line
    terminal.type(CTRL_C)
    terminal.wait("Cancelled.", seconds=10)
    terminal.line("SELECT 7 AS n;")
    terminal.wait("1 row in ")


def test_ctrl_c_between_the_prompt_and_the_work_keeps_the_session(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Prompt:
        texts: ClassVar[list[str]] = ["SELECT 1;"]

        def prompt(self, default: str) -> str:
            if not self.texts:
                raise EOFError
            return self.texts.pop()

    def interrupted(_repl: Repl, _text: str) -> None:
        raise KeyboardInterrupt

    repl = Repl.__new__(Repl)
    monkeypatch.setattr(Repl, "_run", interrupted)
    monkeypatch.setattr(repl, "_session", SimpleNamespace(prefill=""), raising=False)
    monkeypatch.setattr(repl, "_prompt", Prompt(), raising=False)
    assert repl.run() == 0
    assert capsys.readouterr().err == "Cancelled.\n"


def test_data_cannot_act_on_the_terminal(terminal: Terminal) -> None:
    terminal.line("SELECT chr(27) || ']0;owned' || chr(7) || chr(8238) AS v;")
    terminal.answer("\\x1b]0;owned\\x07\\u202e")
    assert "\x1b]0;owned" not in terminal.raw()


def test_lines_are_kept_for_the_next_session(
    tmp_path: Path, environ: dict[str, str], terminal: Terminal
) -> None:
    terminal.line("SELECT 12345 AS n;")
    terminal.wait("1 row in ")
    terminal.type(CTRL_D)
    assert terminal.exit_code() == 0
    again = Terminal(tmp_path, environ)
    try:
        again.wait("my.db>")
        again.type("\x1b[A")  # the key "up"
        again.wait("my.db> SELECT 12345 AS n;")
    finally:
        again.kill()


def test_leaving_with_an_open_transaction_says_what_became_of_it(terminal: Terminal) -> None:
    terminal.line("BEGIN;")
    terminal.wait("my.db*>")
    terminal.line("quit")
    terminal.wait("The open transaction was rolled back.")
    assert terminal.exit_code() == 0


def test_opening_another_database_says_what_became_of_an_open_transaction(
    terminal: Terminal,
) -> None:
    terminal.line("BEGIN;")
    terminal.wait("my.db*>")
    terminal.line(".open other.db")
    terminal.wait("The open transaction was rolled back.")
    terminal.wait("other.db>")


def test_a_wide_result_fits_the_terminal(terminal: Terminal) -> None:
    terminal.line("SELECT repeat('x', 500) AS v, 1 AS n;")
    shown = terminal.answer("1 row in ")
    assert "xxx…xxx" in shown
    boxes = [line for line in shown.splitlines() if line.startswith(("┌", "│"))]
    assert {len(line) for line in boxes} == {COLUMNS}


def test_the_page_of_a_statement_fits_the_terminal_but_for_its_examples(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    narrow = Terminal(tmp_path, environ, columns=60, rows=200)
    narrow.wait("my.db>")
    narrow.line(".help all select")
    page = narrow.answer("SELECT supports")
    assert "- joins of all kinds, also SEMI, ANTI, ASOF, LATERAL (of\n" in page
    assert "  queries and table functions), NATURAL and USING;\n" in page
    narrow.line(".help all restore table")
    grammar = narrow.answer("UNDROP TABLE t [AS")
    assert "FROM t AS OF 7161436569600000000\n    -- a hybrid timestamp\n" in grammar
    assert "FROM t FOR SYSTEM_TIME FROM a TO b | BETWEEN a\n    AND b | ALL\n" in grammar
    narrow.kill()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("help", ".help"),
        ("HELP create table;", ".help create table"),
        ("quit;", ".quit"),
        ("helpless", "helpless"),
        ("SELECT 1;", "SELECT 1;"),
    ],
)
def test_words_of_other_shells_need_no_dot(typed: str, meant: str) -> None:
    assert typed_command(typed) == meant


@pytest.mark.parametrize("typed", ["help", "HELP;", "help select", "quit", ".tables", "SELECT 1;"])
def test_enter_runs_what_is_complete(typed: str) -> None:
    assert is_ready(typed)


@pytest.mark.parametrize("typed", ["SELECT 1", "helper", "quit smoking", "SELECT ';"])
def test_enter_begins_a_line_after_what_is_not(typed: str) -> None:
    assert not is_ready(typed)
