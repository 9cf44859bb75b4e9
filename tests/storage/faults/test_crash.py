"""SIGKILL at random moments: what was acknowledged is there, what was not is not half there."""

import json
import subprocess
import sys
from pathlib import Path

ROUNDS = 30
REPOSITORY = Path(__file__).parents[3]


def test_every_acknowledged_commit_survives_sigkill_at_random_moments(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.storage.faults.crash_rounds",
        str(tmp_path),
        str(ROUNDS),
        "7",
    ]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    counts = json.loads(done.stdout)
    print(counts)
    assert counts["rounds"] == ROUNDS
    assert counts["acknowledged"] > ROUNDS // 2


def test_bulk_inserts_ddl_and_flushes_side_by_side_survive_sigkill_also_of_recoveries(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "tests.storage.faults.crash_mixed", str(tmp_path), "6", "3"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout)["rounds"] == 6


def test_commits_beside_compactions_of_every_kind_survive_sigkill(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.storage.faults.crash_churn", str(tmp_path), "10", "5"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    counts = json.loads(done.stdout)
    assert counts["rounds"] == 10
    assert counts["acknowledged"] > 5
