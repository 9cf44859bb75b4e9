"""`.why`: where the row of a key lies, in memory and on disk, alive and deleted; and `.copy`."""

import base64
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.shell.cli import main
from pykudu_sql.shell.output import clipboard
from tests.shell.terminal import Terminal, prompts


@pytest.fixture
def why(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Callable[[str], tuple[str, str]]:
    path = str(tmp_path / "my.db")
    with pykudu_sql.connect(path, autocommit=True, maintenance=False) as conn:
        conn.execute(
            "CREATE TABLE t (id BIGINT, part STRING, v STRING, PRIMARY KEY (id, part)) "
            "PARTITION BY HASH (id) PARTITIONS 2, RANGE (id) (PARTITION VALUES < 1000000)"
        )
        conn.execute("INSERT INTO t SELECT i * 2, 'a', 'x' FROM range(1000) r(i)")
        conn.execute("FLUSH")
        conn.execute("INSERT INTO t SELECT i + 500000, 'a', 'x' FROM range(1000) r(i)")
        conn.execute("FLUSH")
        conn.execute("UPDATE t SET v = 'y' WHERE id = 10")
        conn.execute("FLUSH")
        conn.execute("UPDATE t SET v = 'z' WHERE id = 10")
        conn.execute("DELETE FROM t WHERE id = 20")
        conn.execute("INSERT INTO t VALUES (11, 'a', 'new')")

    def ask(arguments: str) -> tuple[str, str]:
        capfd.readouterr()
        main([path, "--read-only", "-c", f".why t {arguments}"])
        printed = capfd.readouterr()
        return printed.out, printed.err

    return ask


def test_a_row_on_disk_has_blocks_and_changes(why: Callable[[str], tuple[str, str]]) -> None:
    told, _ = why("10 a")
    assert re.search(r"tablet \d of 2  [0-9a-f-]{36}", told)
    assert re.search(r"DiskRowSet \d+: the row, ordinal [\d,]+, of \d+ rows\n", told)
    assert "    block 0 of 1: id, part, v\n" in told
    assert re.search(r"    \d+\.redo: 1 change of it\n    memory: 1 change of it", told)
    assert "1 rowset: the key is outside its range of keys" in told


def test_a_deleted_row_is_still_there(why: Callable[[str], tuple[str, str]]) -> None:
    assert "a deleted row" in why("part=a id=20")[0]


def test_a_row_in_memory_has_no_blocks(why: Callable[[str], tuple[str, str]]) -> None:
    told, _ = why("11 a")
    assert re.search(r"MemRowSet \d+: the row, ordinal 0, of 1 row\n", told)
    assert "block" not in told


def test_a_key_that_is_not_there_is_refused_by_filters(
    why: Callable[[str], tuple[str, str]],
) -> None:
    told, _ = why("13 nope")
    assert "its bloom filter says no" in told or "by its key index" in told
    assert "No rowset has the key." in told


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("2000000 a", ""),
        ("10", "the key of 't' is (id, part): give each a value"),
        ("ten a", "cannot"),
    ],
)
def test_what_cannot_be_a_key_is_said(
    why: Callable[[str], tuple[str, str]], arguments: str, error: str
) -> None:
    told, printed = why(arguments)
    assert error in printed and "defect" not in printed
    assert error or "No partition covers the key." in told


def test_the_terminal_gets_the_last_result(terminal: Terminal, tmp_path: Path) -> None:
    terminal.line("SELECT 1 AS a, 'x' AS b;")
    terminal.wait(prompts(2))
    terminal.line(".copy json")
    terminal.answer("Given to the terminal")
    (given,) = re.findall(r"\x1b\]52;c;([^\x07]*)\x07", terminal.raw())
    assert base64.b64decode(given).decode() == '[{"a": 1, "b": "x"}]\n'


def test_a_program_has_the_clipboard_where_its_desktop_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None if name == "pbcopy" else f"/bin/{name}")
    found = clipboard.clipboard_program
    assert found({}) is None
    assert found({"DISPLAY": ":0"}) == ("xclip", "-selection", "clipboard")
    assert found({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}) == ("wl-copy",)


def test_a_program_that_fails_took_nothing() -> None:
    assert clipboard.copy_to_program(("true",), "text")
    assert not clipboard.copy_to_program(("false",), "text")
    assert not clipboard.copy_to_program(("/no/such/program",), "text")
