"""SQLAlchemy's own compliance suite, in a process of its own: it sets up pytest in its own way."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="pip install 'pykudu-sql[sqlalchemy]'")

FOLDER = Path(__file__).parent / "compliance"
ROOT = FOLDER.parents[3]
PASSED = 1100


def test_the_suite_passes(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-c", "setup.cfg", "--rootdir", "."),
            *("-p", "no:cacheprovider", "-p", "no:xdist", "-q", "--tb=short", "--color=no"),
            *("--dburi", f"pykudu:///{tmp_path}/suite.db?durability=off", "test_suite.py"),
        ],
        cwd=FOLDER,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1])}
    assert done.returncode == 0, done.stdout[-4000:]
    assert counts["passed"] >= PASSED and not counts.keys() & {"failed", "errors"}
