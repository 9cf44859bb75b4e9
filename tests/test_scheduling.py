"""A run of the tests comes to its end, whatever a test does to its process."""

import subprocess
import sys
from pathlib import Path

_CONFTEST = """
from tests.scheduling import Pieces

def pytest_xdist_make_scheduler(config, log):
    config.option.loadscopereorder = False
    return Pieces(config, log)
"""
_DEADLY = """
import os, signal

def test_before(): pass
def test_deadly(): os.kill(os.getpid(), signal.SIGKILL)
def test_after(): pass
"""
_HANGING = """
import time

def test_hanging(): time.sleep(3600)
def test_after(): pass
"""
_HARMLESS = "def test_one(): pass\ndef test_two(): pass\n"


def test_a_process_that_dies_or_hangs_fails_one_test_and_the_others_are_run_once(
    tmp_path: Path,
) -> None:
    (tmp_path / "conftest.py").write_text(_CONFTEST)
    for number in range(5):
        (tmp_path / f"test_{number}_harmless.py").write_text(_HARMLESS)
    (tmp_path / "test_3_deadly.py").write_text(_DEADLY)
    (tmp_path / "test_4_hanging.py").write_text(_HANGING)
    options = ["-q", "-p", "no:cacheprovider", "--timeout", "3", "--timeout-method", "thread"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--numprocesses", "2", *options, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(__file__).parents[1],
    )
    assert "2 failed, 13 passed" in run.stdout, run.stdout
    assert "test_3_deadly.py::test_deadly" in run.stdout
    assert "test_4_hanging.py::test_hanging" in run.stdout
