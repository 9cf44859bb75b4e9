"""Keys typed while a statement runs are not drawn, wait for a reader, and the modes come back."""

import os
import pty
import select
import sys
import termios
import tty
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from pykudu_sql.shell.editing.typed_keys import drawn_keys, undrawn_keys
from tests.shell.terminal import CTRL_C, Terminal

SLOW = "SELECT count(*) FROM range({}) a, range(60000) b WHERE a.range * b.range = -1 ;"


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    """The two ends of a terminal that this process reads."""
    keyboard, terminal = pty.openpty()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(fileno=lambda: terminal))
    yield keyboard, terminal
    os.close(keyboard)
    os.close(terminal)


def draws(terminal: int) -> bool:
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


def test_keys_are_drawn_again_whatever_ends_a_statement(ends: tuple[int, int]) -> None:
    _, terminal = ends
    before = termios.tcgetattr(terminal)
    with pytest.raises(KeyboardInterrupt), undrawn_keys():
        assert not draws(terminal)
        with drawn_keys():
            assert draws(terminal)
        assert not draws(terminal)
        raise KeyboardInterrupt
    assert termios.tcgetattr(terminal) == before


def test_keys_typed_meanwhile_wait_for_a_reader(ends: tuple[int, int]) -> None:
    keyboard, terminal = ends
    with undrawn_keys():
        os.write(keyboard, b"SELECT 1")
    tty.setraw(terminal, termios.TCSANOW)  # as a prompt does; by default it discards keys
    readable, _, _ = select.select([terminal], [], [], 30)
    assert readable
    assert os.read(terminal, 100) == b"SELECT 1"


def test_where_no_terminal_is_read_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        with undrawn_keys(), drawn_keys():
            pass


def test_a_shell_draws_what_is_typed_ahead_at_its_prompt_only(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, {"HOME": str(tmp_path)})
    try:
        terminal.wait("my.db>")
        terminal.line(SLOW.format(30_000))
        terminal.wait("computing for")
        terminal.type("zebra")
        terminal.wait("my.db> zebra")
        assert terminal.raw().count("zebra") == 1
        terminal.line("")
        terminal.wait("...>")
        terminal.type(CTRL_C)
        terminal.line(SLOW.format(3_000_000))
        terminal.wait("computing for")
        terminal.type(CTRL_C)
        assert "Cancelled." in terminal.answer("Cancelled.")
    finally:
        terminal.kill()
