"""The commands of docs/operations.md do what the page says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "operations.md"
_BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
# What differs from run to run: moments, times, sizes that follow from them, and the folder.
_VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}"), "MOMENT"),
    (re.compile(r"[\d,]+ bytes? in [\d.]+ s( \([\d,]+ rows?/s\))?"), "COST"),
    (re.compile(r"\d+ (of \d+ )?files( new)?:( \d+ rows,)?"), "FILES"),
)


def plain(text: str) -> str:
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return text


def test_the_commands_of_the_page_print_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = _BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) >= 8
    program = f'pykudu-sql() {{ "{sys.executable}" -m pykudu_sql "$@"; }}'
    for number, (commands, _) in enumerate(blocks):
        (tmp_path / f"{number}.sh").write_text(f"set -e\n{program}\n{commands}")
    for number, (commands, expected) in enumerate(blocks):
        done = subprocess.run(
            ["bash", f"{number}.sh"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), commands
        if expected:
            printed = done.stdout.replace(str(tmp_path), "/data")
            assert plain(printed) == plain(expected), commands
