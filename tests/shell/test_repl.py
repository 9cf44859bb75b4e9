"""The interactive shell in a terminal: what is typed, what the screen shows."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pyte
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
COLUMNS, ROWS = 100, 40
CTRL_C, CTRL_D, TAB, ENTER = "\x03", "\x04", "\t", "\r"


class Terminal:
    """A program in a terminal whose screen can be read."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.Stream(self._screen)
        self._raw = ""
        self._program = pexpect.spawn(
            sys.executable,
            ["-m", "pykudu_sql", "my.db"],
            cwd=str(folder),
            env={**os.environ, **environ},
            dimensions=(ROWS, COLUMNS),
            encoding="utf-8",
            timeout=30,
        )

    def type(self, keys: str) -> None:
        """Press keys."""
        self._program.send(keys)

    def line(self, text: str) -> None:
        """Type a line."""
        self.type(text + ENTER)

    def screen(self) -> str:
        """What the screen shows, blank lines left out."""
        lines = (line.rstrip() for line in self._screen.display)
        return "\n".join(line for line in lines if line)

    def wait(self, condition: Callable[[str], bool] | str, seconds: float = 30) -> str:
        """Wait until the screen shows a text or meets a condition; returns the screen."""
        deadline = time.monotonic() + seconds
        while True:
            shown = self.screen()
            if condition in shown if isinstance(condition, str) else condition(shown):
                return shown
            assert time.monotonic() < deadline, f"waited for {condition!r} on:\n{shown}"
            try:
                text = self._program.read_nonblocking(65536, 0.1)
                self._raw += text
                self._stream.feed(text)
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                pytest.fail(f"the program ended; the screen:\n{self.screen()}")

    def raw(self) -> str:
        """Every byte the program wrote so far, as text."""
        return self._raw

    def exit_code(self) -> int | None:
        """Wait for the end of the program."""
        self._program.expect(pexpect.EOF)
        self._program.close()
        code: int | None = self._program.exitstatus
        return code

    def kill(self) -> None:
        """End it if it still runs."""
        self._program.kill(signal.SIGKILL)
        self._program.wait()
        self._program.close()


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "TERM": "xterm-256color",
        "PROMPT_TOOLKIT_NO_CPR": "1",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PYTHONPATH": os.environ.get("PYTHONPATH", str(ROOT)),
    }


@pytest.fixture
def terminal(tmp_path: Path, environ: dict[str, str]) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path, environ)
    terminal.wait("my.db>")
    yield terminal
    terminal.kill()


def prompts(count: int, prompt: str = "my.db>") -> Callable[[str], bool]:
    """The screen shows so many prompts and waits at the last one."""
    return lambda shown: shown.count(prompt) >= count and shown.endswith(prompt)


def test_a_statement_may_take_several_lines_and_shows_rows_and_time(terminal: Terminal) -> None:
    terminal.line("CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING);")
    terminal.wait(prompts(2))
    terminal.line("INSERT INTO t VALUES (1, 'one'), (2, NULL);")
    terminal.wait(prompts(3))
    terminal.line("SELECT id, v")
    terminal.wait("...>")
    terminal.line("FROM t ORDER BY id;")
    shown = terminal.wait("2 rows in ")
    assert "│ BIGINT │ STRING │" in shown or "BIGINT" in shown
    assert "│      2 │ NULL" in shown


def test_tab_completes_tables_and_columns(terminal: Terminal) -> None:
    terminal.line("CREATE TABLE flights (flight_id BIGINT PRIMARY KEY, carrier STRING);")
    terminal.wait(prompts(2))
    terminal.type("SELECT * FROM fli" + TAB)
    terminal.wait("FROM flights")
    terminal.type(" WHERE car" + TAB)
    terminal.wait("WHERE carrier")
    terminal.type(CTRL_C)
    terminal.type(".tab" + TAB)
    terminal.wait(".tables")


def test_the_prompt_shows_an_open_transaction(terminal: Terminal) -> None:
    terminal.line("BEGIN;")
    terminal.wait("my.db*>")
    terminal.line("ROLLBACK;")
    terminal.wait(lambda shown: shown.endswith("my.db>"))


def test_an_error_leaves_the_shell_usable(terminal: Terminal) -> None:
    terminal.line("SELEC 1;")
    shown = terminal.wait("ERROR 42601")
    assert "Traceback" not in shown
    terminal.line("SELECT 41 + 1 AS answer;")
    terminal.wait("42")


def test_ctrl_c_clears_the_line(terminal: Terminal) -> None:
    terminal.type("SELECT nonsense" + CTRL_C)
    terminal.wait(prompts(2))
    terminal.line("SELECT 7 AS n;")
    shown = terminal.wait("1 row in ")
    assert "ERROR" not in shown


def test_ctrl_c_cancels_the_statement_and_keeps_the_session(terminal: Terminal) -> None:
    terminal.line("BEGIN;")
    terminal.wait("my.db*>")
    terminal.line("SELECT count(*) FROM range(100000000000) a, range(1000) b;")
    time.sleep(0.5)
    terminal.type(CTRL_C)
    terminal.wait("Cancelled.", seconds=10)
    terminal.line("SELECT 7 AS n;")
    terminal.wait("1 row in ")


def test_data_cannot_act_on_the_terminal(terminal: Terminal) -> None:
    terminal.line("SELECT chr(27) || ']0;owned' || chr(7) || chr(8238) AS v;")
    terminal.wait("\\x1b]0;owned\\x07\\u202e")
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
    shown = terminal.wait("1 row in ")
    assert "xxx…xxx" in shown
    boxes = [line for line in shown.splitlines() if line.startswith(("┌", "│"))]
    assert {len(line) for line in boxes} == {COLUMNS}
