"""Statements typed before: found with Ctrl-R, run again, edited, saved under a name."""

import io
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.shell.cli import main
from pykudu_sql.shell.parameters import Value, parse_value
from pykudu_sql.shell.repl import without_go
from tests.shell.terminal import CTRL_R, ENTER, Terminal, prompts, times


@pytest.fixture
def environ(environ: dict[str, str], tmp_path: Path) -> dict[str, str]:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/41/42/" "$1"\n')
    editor.chmod(0o700)
    return {**environ, "EDITOR": str(editor), "VISUAL": ""}


@pytest.fixture
def scripted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator["Scripted"]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    yield Scripted(monkeypatch, capsys)


class Scripted:
    """Runs a script through standard input; CSV, so that results alone are printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, script: str, *options: str) -> tuple[int, str, str]:
        """Exit code, output and errors."""
        typed = io.TextIOWrapper(io.BytesIO(script.encode()), encoding="utf-8")
        self._monkeypatch.setattr("sys.stdin", typed)
        code = main(["--csv", *options])
        printed = self._capsys.readouterr()
        return code, printed.out, printed.err


def test_enter_takes_what_ctrl_r_found_by_a_part_of_it_and_the_next_enter_runs_it(
    terminal: Terminal,
) -> None:
    terminal.line("SELECT 40 + 2 AS Answer;")
    terminal.wait(prompts(2))
    terminal.line("SELECT 7 AS n;")
    terminal.wait(prompts(3))
    terminal.type(CTRL_R + "2 as ans")
    terminal.wait("2 as ans")
    terminal.type(ENTER)
    terminal.wait(lambda shown: shown.endswith("my.db> SELECT 40 + 2 AS Answer;"))
    terminal.type(ENTER)
    terminal.wait(times(2, "│     42 │"))


def test_go_runs_a_statement_without_a_semicolon_and_then_again(terminal: Terminal) -> None:
    terminal.line("SELECT 41 + 1 AS n \\g")
    terminal.wait(prompts(2))
    terminal.line("\\g")
    terminal.wait(times(2, "│  42 │"))
    terminal.line("\\gx")
    terminal.wait("n = 42")


def test_the_editor_gets_the_last_statement_and_the_prompt_gets_it_back(terminal: Terminal) -> None:
    terminal.line("SELECT 41 AS n;")
    terminal.wait(prompts(2))
    terminal.line("\\e")
    terminal.wait(lambda shown: shown.endswith("my.db> SELECT 42 AS n;"))
    terminal.type(ENTER)
    terminal.wait("│  42 │")


def test_history_lists_what_holds_a_text(terminal: Terminal) -> None:
    terminal.line("SELECT 1 AS one;")
    terminal.wait(prompts(2))
    terminal.line("SELECT 2 AS two;")
    terminal.wait(prompts(3))
    terminal.line(".history TWO")
    terminal.wait(prompts(4))
    listed = terminal.answer("SELECT 2 AS two;").rpartition(".history TWO")[2]
    assert "SELECT 2 AS two;" in listed
    assert "SELECT 1 AS one;" not in listed


def test_an_editor_that_cannot_be_started_is_an_error_that_names_it(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    terminal = Terminal(tmp_path, {**environ, "EDITOR": "/no/such/editor"})
    terminal.wait("my.db>")
    terminal.line("\\e")
    shown = terminal.answer("$VISUAL or $EDITOR names one")
    assert "/no/such/editor" in shown
    terminal.kill()


def test_a_saved_statement_runs_with_values_by_place_or_by_name(scripted: Scripted) -> None:
    script = ".save place SELECT ? + 1 AS n, ? AS s;\n.save name SELECT :a || :b AS s;\n"
    assert scripted(script)[0] == 0
    ran = scripted(".run place 41 two\n.run name a=x 'b=y z'\n")
    assert ran == (0, "n,s\n42,two\ns\nxy z\n", "")


def test_the_last_statement_is_what_save_keeps(scripted: Scripted) -> None:
    scripted("SELECT 5\n AS five;\n.save five\n")
    assert scripted(".run\n.run five\n")[1] == "five: SELECT 5 AS five;\nfive\n5\n"


def test_a_name_of_a_saved_statement_leads_out_of_no_folder(
    scripted: Scripted, tmp_path: Path
) -> None:
    before = set(tmp_path.rglob("*"))
    for name in ("../x", "/tmp/x", ".hidden", "a/b"):
        code, _, errors = scripted(f".save {name} SELECT 1;\n")
        assert (code, "is no name" in errors) == (1, True)
    assert set(tmp_path.rglob("*")) == before


def test_a_missing_saved_statement_names_a_near_one(scripted: Scripted) -> None:
    scripted(".save monthly SELECT 1;\n")
    assert "did you mean 'monthly'?" in scripted(".run monthyl\n")[2]


def test_a_read_only_session_replaces_no_saved_statement(
    scripted: Scripted, tmp_path: Path
) -> None:
    db = str(tmp_path / "my.db")
    scripted(".save q SELECT 1 AS n;\n", db)
    code, _, errors = scripted(".save q SELECT 2 AS n;\n", db, "--read-only")
    assert (code, "replaces no file" in errors) == (1, True)
    assert scripted(".run q\n")[1] == "n\n1\n"


@pytest.mark.parametrize("line", [".edit", ".save q SELECT 1", ".run q", "\\e"])
def test_safe_mode_reaches_no_file_and_no_editor(scripted: Scripted, line: str) -> None:
    code, _, errors = scripted(f"{line}\n", "--safe")
    assert (code, "not available in safe mode" in errors) == (1, True)


def test_an_editor_is_for_people(scripted: Scripted) -> None:
    assert "needs a terminal" in scripted(".edit\n")[2]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1), ("-7", -7), ("1.50", Decimal("1.50")), ("'1'", "1"), ("null", None),
        ("TRUE", True), ("2026-01-01", "2026-01-01"), ("", ""), ("1e5", "1e5"), ("'", "'"),
    ],
)  # fmt: skip
def test_a_value_is_read_as_people_mean_it(text: str, value: Value) -> None:
    assert (parse_value(text), type(parse_value(text))) == (value, type(value))


@given(st.text())
def test_a_text_in_quotes_stays_that_text(text: str) -> None:
    assert parse_value("'" + text.replace("'", "''") + "'") == text


@pytest.mark.parametrize(
    ("typed", "runs"),
    [
        ("SELECT 1 \\g", "SELECT 1 ;"),
        ("SELECT 1;", "SELECT 1;"),
        ("\\g", "\\g"),
        ("SELECT '\\g", "SELECT '\\g"),
        ("SELECT 1 -- \\g", "SELECT 1 -- \\g"),
        ("SELECT '\\g';", "SELECT '\\g';"),
    ],
)
def test_go_behind_a_statement_ends_it_unless_it_is_part_of_a_text(typed: str, runs: str) -> None:
    assert without_go(typed) == runs
