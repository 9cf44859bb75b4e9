"""Every subcommand ends with the same exit codes."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from pykudu_sql import ProgrammingError
from pykudu_sql.shell.cli import main
from pykudu_sql.shell.exit_codes import ExitCode, exit_code
from pykudu_sql.shell.subcommands import SUBCOMMANDS

DOCUMENTATION = Path(__file__).resolve().parents[2] / "docs" / "shell.md"
NAMES = [command.name for command in SUBCOMMANDS]
# What each takes, with `{}` for what is not there.
NOT_THERE = {
    "slt": ["{}.test"],
    "check": ["{}"],
    "inspect": ["{}"],
    "load": ["{}.db", "t", "{}.csv", "--primary-key", "k"],
    "export": ["{}", "t", "{}.out"],
    "changes": ["{}", "t", "{}.out", "--since", "2026-01-01"],
    "backup": ["{}", "{}"],
    "restore": ["{}", "{}"],
}


def code(arguments: Sequence[str]) -> int:
    """How a command line ends; argparse leaves by itself."""
    try:
        return main(arguments)
    except SystemExit as left:
        assert isinstance(left.code, int)
        return left.code


@pytest.mark.parametrize("name", NAMES)
def test_help_is_no_mistake(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--help", "-h"):
        assert code([name, option]) == ExitCode.OK
        assert "usage: pykudu-sql" in capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_an_option_that_there_is_not_is_a_mistake(name: str) -> None:
    assert code([name, "--no-such-option"]) == ExitCode.USAGE


@pytest.mark.parametrize("name", NOT_THERE)
def test_what_is_not_there_is_a_mistake_of_the_command_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [word.format(tmp_path / "none") for word in NOT_THERE[name]]
    assert code([name, *arguments]) == ExitCode.USAGE
    assert "none" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.db")
    assert code([missing, "--read-only", "-c", "SELECT 1"]) == ExitCode.USAGE
    assert code([missing, "-f", str(tmp_path / "none.sql")]) == ExitCode.USAGE


@pytest.mark.parametrize("state", ["58P01", "42P01", "42704"])
def test_what_an_error_says_is_not_there_is_a_mistake_of_the_command_line(state: str) -> None:
    assert exit_code(ProgrammingError("it is not there", sqlstate=state)) == ExitCode.USAGE
    assert exit_code(ProgrammingError("it is wrong")) == ExitCode.FAILED


def test_a_part_that_there_is_not_to_inspect_is_a_mistake(tmp_path: Path) -> None:
    database = str(tmp_path / "d.db")
    assert code([database, "-c", "CREATE TABLE t (k INT PRIMARY KEY)"]) == ExitCode.OK
    for part in (["bogus"], ["tablet", "none"], ["rowset", "", "99"], ["delta", "", "9.redo"]):
        assert code(["inspect", database, *part]) == ExitCode.USAGE


@pytest.mark.parametrize(
    "command",
    [
        ["load", "{}", "nosuch", "{}/CURRENT", "--format", "csv"],
        ["export", "{}", "nosuch", "{}.out"],
        ["export", "{}", "t", "{}.out", "--as-of", "nosuch"],
        ["changes", "{}", "nosuch", "{}.out", "--since", "2026-01-01"],
        ["changes", "{}", "t", "{}.out", "--since", "nosuch"],
    ],
)
def test_a_table_or_snapshot_that_a_job_names_and_that_there_is_not_is_a_mistake(
    tmp_path: Path, command: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    database = str(tmp_path / "d.db")
    assert code([database, "-c", "CREATE TABLE t (k INT PRIMARY KEY)"]) == ExitCode.OK
    assert code([word.format(database) for word in command]) == ExitCode.USAGE
    assert "nosuch" in capsys.readouterr().err


def test_a_statement_that_fails_is_no_mistake_of_the_command_line() -> None:
    assert code([":memory:", "-c", "SELECT 1"]) == ExitCode.OK
    assert code([":memory:", "-c", "SELECT x"]) == ExitCode.FAILED


def test_the_table_of_the_documentation_has_every_code() -> None:
    text = DOCUMENTATION.read_text(encoding="utf-8")
    assert [each for each in ExitCode if f"\n| {int(each)} | " not in text] == []
