"""SIGKILL in the midst of large statements: a short run of `crash_scale`."""

import json
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]


def test_large_statements_that_are_killed_leave_nothing_behind(tmp_path: Path) -> None:
    arguments = [str(tmp_path), "4", "1", "40000"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.pykudu_sql.processes.crash_scale", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout)["rounds"] == 4
