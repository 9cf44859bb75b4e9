"""Commands about files: whatever a name means, the session goes on and says what was wrong."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shell.terminal import CTRL_C, Terminal

PROGRAM = [sys.executable, "-m", "pykudu_sql"]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path, {"XDG_CONFIG_HOME": str(tmp_path / "config"), "NO_COLOR": "1"})
    yield terminal
    terminal.kill()


def run(folder: Path, script: str, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Run a script of which every statement and command is tried."""
    return subprocess.run(
        [*PROGRAM, "--csv", "--keep-going", *options],
        input=script.encode(),
        capture_output=True,
        cwd=folder,
        timeout=120,
        check=False,
    )


COMMANDS = (
    ".read {}",
    ".output {}",
    ".once {}",
    ".export range {}.csv",
    ".import {}.csv t --create",
    ".open {}.db",
    ".save {} SELECT 1",
    ".run {}",
)


@pytest.mark.parametrize("name", ["~no-such-user/x", "a\0b", "a" * 300, "\x1b[31m/x"])
def test_a_name_that_no_file_can_have_fails_its_command_alone(tmp_path: Path, name: str) -> None:
    script = "".join(f"{command.format(name)}\nSELECT 5 AS n;\n" for command in COMMANDS)
    done = run(tmp_path, script)
    assert done.stdout == b"n\n5\n" * len(COMMANDS) and done.returncode == 1
    assert done.stderr.count(b"ERROR") == len(COMMANDS)
    assert b"internal error" not in done.stderr and b"\x1b" not in done.stderr


def test_a_command_with_a_nul_character_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, ".shell echo a\0\n.output |cat \0\n.pager less \0\nSELECT 5 AS n;\n")
    assert done.stdout == b"n\n5\n" and done.stderr.count(b"NUL") == 3


@pytest.mark.parametrize("command", [".output", ".once"])
def test_a_file_that_takes_no_more_fails_its_statement_alone(tmp_path: Path, command: str) -> None:
    done = run(tmp_path, f"{command} /dev/full\nSELECT * FROM range(100000);\nSELECT 5 AS n;\n")
    assert (done.returncode, done.stdout) == (1, b"n\n5\n")
    assert b"ERROR: cannot write /dev/full: No space left on device" in done.stderr


def test_a_full_file_is_an_error_although_the_result_is_short(tmp_path: Path) -> None:
    done = run(tmp_path, ".output /dev/full\nSELECT 1;\n.output\nSELECT 5 AS n;\n")
    assert (done.returncode, done.stdout) == (1, b"n\n5\n")
    assert done.stderr.count(b"No space left on device") == 1


def test_a_command_that_fails_while_it_reads_results_fails_the_script_alone(tmp_path: Path) -> None:
    done = run(tmp_path, "", "-c", ".output | exit 3", "-c", "SELECT 1", "-c", "SELECT 5 AS n")
    assert done.returncode == 1 and done.stdout.endswith(b"n\n5\n")
    assert b"ERROR: the command that read the results ended with code 3" in done.stderr


def test_results_go_into_no_pipe_that_nothing_reads(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = run(tmp_path, ".output pipe\nSELECT 5 AS n;\n")
    assert (done.returncode, done.stdout) == (1, b"n\n5\n")
    assert b"cannot write pipe: nothing reads this pipe" in done.stderr


def test_a_script_comes_through_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", "echo 'SELECT 7 AS n' > pipe"], cwd=tmp_path):
        assert run(tmp_path, ".read pipe\n").stdout == b"n\n7\n"


@pytest.mark.parametrize("options", [["-f", "/dev/full"], ["--init", "/dev/zero"]])
def test_a_device_without_an_end_is_no_script(tmp_path: Path, options: list[str]) -> None:
    done = run(tmp_path, "", *options)
    assert done.returncode == 2 and b"it is a device" in done.stderr
    assert run(tmp_path, "", "-f", os.devnull).returncode == 0


def test_ctrl_c_ends_the_wait_for_a_script_in_a_pipe(tmp_path: Path, terminal: Terminal) -> None:
    os.mkfifo(tmp_path / "pipe")
    terminal.wait("my.db>")
    terminal.line(".read pipe")

    def is_cancelled(shown: str) -> bool:
        terminal.type(CTRL_C)
        return "Cancelled." in shown

    terminal.wait(is_cancelled)
    terminal.line("SELECT 40 + 2 AS n;")
    terminal.answer("42")


def test_results_that_find_no_room_leave_the_prompt_as_it_was(terminal: Terminal) -> None:
    terminal.wait("my.db>")
    terminal.line("BEGIN;")
    terminal.answer("my.db*>", "my.db*>")
    terminal.line(".output /dev/full")
    terminal.line("SELECT 1;")
    terminal.answer("No space left on device", "my.db*>")
    terminal.line("SELECT 40 + 2 AS n;")
    terminal.answer("42", "my.db*>")


def test_closed_standard_streams_are_no_files_of_the_database(tmp_path: Path) -> None:
    table = "CREATE TABLE t (k INT PRIMARY KEY); INSERT INTO t VALUES (1); SELECT * FROM t"
    program = f"{sys.executable} -m pykudu_sql my.db -c '{table}' <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", program], cwd=tmp_path, check=False).returncode == 1
    assert run(tmp_path, "SELECT k FROM t;", "my.db").stdout == b"k\n1\n"


@pytest.mark.parametrize(
    "call",
    [
        "{program} my.db -c 'SELECT 1'",
        "{program} my.db < script.sql",
        "{program} check my.db",
        "{program} --help",
    ],
)
@pytest.mark.parametrize("stdout", [">&-", ">/dev/full"])
def test_output_that_cannot_be_written_is_an_error(tmp_path: Path, call: str, stdout: str) -> None:
    run(tmp_path, "CREATE TABLE t (k INT PRIMARY KEY);", "my.db")
    (tmp_path / "script.sql").write_text("SELECT 1;")
    program = call.format(program=f"{sys.executable} -m pykudu_sql")

    done = subprocess.run(
        ["sh", "-c", f"{program} {stdout}"], cwd=tmp_path, check=False, capture_output=True
    )
    told = (
        b"standard output is closed" if stdout == ">&-" else b"[Errno 28] No space left on device"
    )
    assert (done.returncode, done.stderr) == (1, b"pykudu-sql: " + told + b"\n")
