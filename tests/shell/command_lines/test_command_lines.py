"""Completion of the command line, the manual page, environment variables, the first script."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from pykudu_sql import __version__
from pykudu_sql.shell.arguments import environment_arguments
from pykudu_sql.shell.cli import build_parser, main
from pykudu_sql.shell.command_lines.command_line import CommandLine, command_lines
from pykudu_sql.shell.command_lines.completions import SHELLS
from pykudu_sql.shell.command_lines.man_page import man_page
from pykudu_sql.shell.settings import UsageError
from pykudu_sql.shell.subcommands import SUBCOMMANDS
from tests.shell.terminal import ROOT, Terminal, prompts


@pytest.fixture(scope="module")
def lines() -> list[CommandLine]:
    return command_lines()


def test_every_subcommand_is_described(lines: list[CommandLine]) -> None:
    assert [line.name for line in lines] == ["", *(command.name for command in SUBCOMMANDS)]
    by_name = {line.name: line for line in lines}
    assert any("--format" in option.flags and option.choices for option in by_name[""].options)
    assert any("--quick" in option.flags for option in by_name["check"].options)
    assert by_name["completions"].choices == ("bash", "zsh", "fish")


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_know_each_subcommand_and_option(shell: str, lines: list[CommandLine]) -> None:
    text = SHELLS[shell](lines)
    assert all(command.name in text for command in SUBCOMMANDS)
    for option in lines[0].options:
        assert option.flags[-1].lstrip("-") in text


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_what_their_shells_understand(shell: str, lines: list[CommandLine]) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"needs {shell}")
    script = SHELLS[shell](lines)
    subprocess.run([program, "-n"], input=script, text=True, check=True)


def completed(lines: list[CommandLine], *words: str) -> set[str]:
    """What bash offers for the last word."""
    asked = (
        f'{SHELLS["bash"](lines)}\nCOMP_WORDS=(pykudu-sql "$@")\n'
        'COMP_CWORD=$#\n_pykudu_sql\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "-c", asked, "bash", *words], capture_output=True, text=True, check=True, cwd="/"
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("che",), {"check"}),
        (("my.db", "--format", "js"), {"json", "jsonlines"}),
        (("my.db", "--max-"), {"--max-rows", "--max-width"}),
        (("check", "--q"), {"--quick"}),
        (("completions", ""), {"bash", "zsh", "fish"}),
        (("my.db", "--null", ""), set[str]()),
        (("check", "/et"), {"/etc"}),
    ],
)
def test_bash_offers(lines: list[CommandLine], words: tuple[str, ...], offered: set[str]) -> None:
    assert completed(lines, *words) == offered


def test_the_manual_page_of_the_package_is_that_of_the_parsers(lines: list[CommandLine]) -> None:
    kept = (ROOT / "docs" / "pykudu-sql.1").read_text()
    assert kept == man_page(lines, __version__), "make docs writes it anew"


def test_nothing_of_the_manual_page_is_a_request_by_accident(lines: list[CommandLine]) -> None:
    known = {".TH", ".SH", ".B", ".br", ".TP"}
    for line in man_page(lines, __version__).splitlines():
        assert not line.startswith((".", "'")) or line.split()[0] in known


@pytest.mark.parametrize(
    ("environ", "arguments"),
    [
        ({}, []),
        ({"PYKUDU_SQL_MAX_ROWS": "7"}, ["--max-rows=7"]),
        ({"PYKUDU_SQL_READ_ONLY": "yes"}, ["--read-only"]),
        ({"PYKUDU_SQL_READ_ONLY": "0"}, []),
        ({"PYKUDU_SQL_NULL": ""}, ["--null="]),
        ({"PYKUDU_SQL_NULL": "-x"}, ["--null=-x"]),
        ({"PYKUDU_SQL_COMMAND": "DROP TABLE t", "PYKUDU_SQL_CSV": "yes"}, []),
    ],
)
def test_options_come_from_the_environment(
    environ: Mapping[str, str], arguments: list[str]
) -> None:
    assert environment_arguments(build_parser(), environ) == arguments


def test_a_switch_is_yes_or_no() -> None:
    with pytest.raises(UsageError, match="PYKUDU_SQL_SAFE is yes or no, not 'perhaps'"):
        environment_arguments(build_parser(), {"PYKUDU_SQL_SAFE": "perhaps"})


def test_the_command_line_goes_before_the_environment(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYKUDU_SQL_FORMAT", "json")
    assert main(["-c", "SELECT 1 AS a"]) == 0
    assert main(["--format", "tsv", "-c", "SELECT 1 AS a"]) == 0
    assert capfd.readouterr().out == '[{"a": 1}]\na\n1\n'


def test_a_script_runs_before_the_others(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "first.sql"
    script.write_text(".mode tsv\nSELECT 'first' AS a;")
    assert main(["--init", str(script), "-c", "SELECT 'then' AS a"]) == 0
    assert capfd.readouterr().out == "a\nfirst\na\nthen\n"


def test_the_users_own_script_runs_before_the_first_prompt(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    folder = tmp_path / "config" / "pykudu-sql"
    folder.mkdir(parents=True)
    (folder / "startup.sql").write_text(".param a 42\nSELECT nope;\n")
    terminal = Terminal(tmp_path, environ)
    shown = terminal.answer("column 'nope' does not exist")
    assert "startup.sql:2" in shown.replace("\n", "")
    terminal.line("SELECT :a + 1 AS answer;")
    terminal.wait(prompts(2))
    assert "43" in terminal.answer("1 row in ")
    terminal.kill()
    with_none = Terminal(tmp_path, {**environ, "PYKUDU_SQL_NO_INIT": "yes"})
    with_none.wait(prompts(1))
    with_none.line("SELECT :a + 1 AS answer;")
    with_none.wait("ERROR")
    with_none.kill()


def test_scripts_do_not_run_the_users_own_first(tmp_path: Path, environ: dict[str, str]) -> None:
    folder = tmp_path / "config" / "pykudu-sql"
    folder.mkdir(parents=True)
    (folder / "startup.sql").write_text("SELECT nope;")
    done = subprocess.run(
        [sys.executable, "-m", "pykudu_sql", "-c", "SELECT 1", "--csv"],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
