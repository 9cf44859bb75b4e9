"""Jobs killed at some of their actions on files; `killed` tries them all."""

import subprocess
import sys
from pathlib import Path


def test_what_a_killed_job_leaves_is_whole_or_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.pykudu_sql.jobs.killed", str(tmp_path), "7", "23"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = [line for line in done.stdout.splitlines() if line.endswith(" kills")]
    assert [line.partition(":")[0] for line in told] == ["backup", "restore", "tables", "load"]
    assert sum(int(line.split()[1]) for line in told) >= 6
