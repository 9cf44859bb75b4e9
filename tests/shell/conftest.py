"""A shell at a terminal, in a folder and with settings of its own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shell.terminal import ROOT, Terminal


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "TERM": "xterm-256color",
        "PROMPT_TOOLKIT_NO_CPR": "1",
        "PYKUDU_SQL_PAGER": "cat",  # which prints all, and waits for nobody
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
