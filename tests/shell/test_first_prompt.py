"""The prompt before the line editor is loaded: what it needs, and what becomes of keys."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.shell.first_prompt import first_prompt
from tests.shell.terminal import CTRL_C, ENTER, Terminal, prompts


@pytest.fixture
def early(tmp_path: Path, environ: dict[str, str]) -> Iterator[Terminal]:
    """A shell whose keys are pressed before its line editor is there."""
    early = Terminal(tmp_path, environ)
    yield early
    early.kill()


def test_the_prompt_comes_before_any_of_the_large_libraries() -> None:
    program = (
        "import sys\n"
        "from pykudu_sql.shell import cli, first_prompt\n"
        "def drawn(connection):\n"
        "    print(first_prompt.prompt_text(connection), sorted({'duckdb', 'numpy', 'pyarrow',"
        " 'prompt_toolkit', 'sqlglot', 'asyncio'} & set(sys.modules)))\n"
        "    raise SystemExit\n"
        "first_prompt.first_prompt = drawn\n"
        "sys.stdin.isatty = lambda: True\n"
        "cli.main(['--no-init'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.endswith("memory>  []\n"), done.stderr


def test_what_is_typed_ahead_is_drawn_once_and_runs(early: Terminal) -> None:
    early.wait("my.db>")
    early.type("SELECT 41 + 1 AS n;" + ENTER)
    screen = early.answer("1 row in ")
    assert screen.count("SELECT 41 + 1 AS n;") == 1
    assert screen.count("my.db>") == 2


def test_ctrl_c_typed_ahead_clears_what_is_typed(early: Terminal) -> None:
    early.wait("my.db>")
    early.type("nonsense" + CTRL_C)
    early.wait(prompts(2))
    early.line("SELECT 7 AS n;")
    assert "ERROR" not in early.answer("1 row in ")


def test_lines_pasted_ahead_wait_for_enter(early: Terminal) -> None:
    early.wait("my.db>")
    assert early.raw().count("\x1b[?2004h") >= 1
    early.type("\x1b[200~SELECT 1 AS n;\nSELECT 2 AS n;\n\x1b[201~")
    early.wait("SELECT 2 AS n;")
    assert "row in" not in early.answer("SELECT 2 AS n;", prompt="...>")
    early.type(ENTER)
    early.wait("1 row in ")


def test_a_prompt_wider_than_the_terminal_is_left_to_the_editor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(os, "get_terminal_size", lambda: os.terminal_size((7, 24)))
    with pykudu_sql.connect() as connection, first_prompt(connection):
        pass
    assert capsys.readouterr().out == ""
