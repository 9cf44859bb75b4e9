"""Sets the wall clock of a test run, in every Python process that it starts.

Python imports a module of this name when it starts and finds one on its path; `pytest --clock`
puts this folder there. The code under test reads the wall clock in one place only, by
`time.time_ns`, so the clock that measures durations and those of files stay as they are.
"""

import os
import time

SHIFT = "PYKUDU_SQL_TEST_CLOCK_SHIFT"


def shift_clock(nanoseconds: int) -> None:
    """Set this process's wall clock forward."""
    system = time.time_ns
    time.time_ns = lambda: system() + nanoseconds


# Not again where `tests/conftest.py` imports this file by its place in the tests.
if __name__ == "sitecustomize" and SHIFT in os.environ:
    shift_clock(int(os.environ[SHIFT]))
