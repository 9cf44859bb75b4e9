"""Children made by fork: what they inherit they refuse, what they open is theirs."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.pykudu_sql.processes.fork_stories import STORIES


@pytest.mark.parametrize("story", STORIES)
def test_a_forked_child_can_harm_neither_its_parent_nor_itself(tmp_path: Path, story: str) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.pykudu_sql.processes.fork_stories",
        story,
        str(tmp_path / "db"),
    ]
    told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (told.returncode, told.stderr) == (0, ""), told.stderr
