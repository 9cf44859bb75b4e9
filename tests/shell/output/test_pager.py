"""The pager: which one, when it comes, and what goes through it."""

import io
import os
from contextlib import closing
from pathlib import Path

import pytest

from pykudu_sql.shell.output.pager import (
    PagedText,
    PagerClosed,
    pager_command,
    pager_environment,
)
from tests.shell.terminal import Terminal, prompts


@pytest.mark.parametrize(
    ("chosen", "environ", "safe", "command"),
    [
        ("mine -x", {"PYKUDU_SQL_PAGER": "a", "PAGER": "b"}, False, "mine -x"),
        ("", {"PYKUDU_SQL_PAGER": "a -S", "PAGER": "b"}, False, "a -S"),
        ("", {"PAGER": "b"}, False, "b"),
        ("", {}, False, "less"),
        ("mine", {"PAGER": "b"}, True, "less"),
    ],
)
def test_the_pager_is_the_users_own_but_in_safe_mode(
    monkeypatch: pytest.MonkeyPatch,
    chosen: str,
    environ: dict[str, str],
    safe: bool,
    command: str,
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert pager_command(chosen, environ, safe=safe) == command


def test_without_less_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert pager_command("", {}, safe=False) is None
    assert pager_command("more", {}, safe=True) is None


def test_options_of_less_are_the_users_own_and_safe_mode_starts_no_program() -> None:
    assert pager_environment({}, "-SR", safe=False) == {"LESS": "-SR"}
    assert pager_environment({"LESS": "-i"}, "-R", safe=True) == {"LESS": "-i", "LESSSECURE": "1"}


def paged(command: str, *texts: str, lines: int = 10, columns: int = 20) -> str:
    """What a stream gets of texts that are written in a screen's pager."""
    stream = io.StringIO()
    text = PagedText(command, stream, os.terminal_size((columns, lines)), safe=False)
    with closing(text):
        for each in texts:
            text.write(each, each)
    return stream.getvalue()


def test_what_fits_the_screen_needs_no_pager(tmp_path: Path) -> None:
    assert paged("exit 1", *["line\n"] * 8) == "line\n" * 8


@pytest.mark.parametrize(
    "texts", [["line\n"] * 9, ["x" * 180 + "\n"], ["line\n" * 9]], ids=["long", "wide", "one"]
)
def test_what_does_not_fit_goes_through_the_pager(tmp_path: Path, texts: list[str]) -> None:
    target = tmp_path / "seen"
    assert paged(f"cat > '{target}'", *texts, "and more\n") == ""
    assert target.read_text() == "".join(texts) + "and more\n"


def test_who_leaves_the_pager_wants_no_more() -> None:
    with pytest.raises(PagerClosed):
        paged("exec true", *["line\n" * 10_000] * 1_000)


@pytest.fixture
def viewer(tmp_path: Path, environ: dict[str, str]) -> dict[str, str]:
    """A pager that says what it got and waits for Enter."""
    script = tmp_path / "viewer"
    script.write_text('#!/bin/sh\necho "viewer: $(wc -l) lines"\nread x < /dev/tty\n')
    script.chmod(0o755)
    return {**environ, "PYKUDU_SQL_PAGER": str(script)}


def test_last_opens_the_whole_result_in_the_pager(tmp_path: Path, viewer: dict[str, str]) -> None:
    terminal = Terminal(tmp_path, viewer, columns=80, rows=24)
    terminal.wait(prompts(1))
    terminal.line("SELECT i, repeat('x', 90) AS long FROM range(1000) r(i);")
    terminal.wait("1,000 rows (10 shown), .last shows all")
    terminal.wait(prompts(2))
    terminal.line(".last")
    terminal.wait("viewer: 1005 lines")
    terminal.line("")
    terminal.wait(lambda shown: shown.endswith("1,000 rows\nmy.db>"))
    terminal.line(".pager on")
    terminal.wait(lambda shown: shown.endswith(".pager on\nmy.db>"))
    terminal.line("SELECT i FROM range(100) r(i);")
    terminal.wait("viewer: 105 lines")
    terminal.line("")
    terminal.wait(lambda shown: "100 rows in " in shown and shown.endswith("my.db>"))
    terminal.line(".pager off")
    terminal.wait(lambda shown: shown.endswith(".pager off\nmy.db>"))
    terminal.type("\x1bOS")  # F4
    terminal.wait("│     99 │")
    terminal.kill()
