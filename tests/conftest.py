"""Hypothesis profiles: `default` for every run, `thorough` for the long campaigns.

Choose with `pytest --hypothesis-profile=thorough`. Deadlines are off: a shared machine makes a
timed failure out of a slow neighbour.

`make test` gives the tests to as many processes as there are processors; `tests.scheduling` says
how. Their files are in memory then, unless TMPDIR names a place.

`pytest --clock 2042-06-01` runs everything, what tests start included, with the wall clock at that
day: hybrid times do not fit a signed integer from 2041 on.
"""

import datetime as dt
import gc
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.clock.sitecustomize import SHIFT, shift_clock
from tests.properties.examples import IN_THE_SUITE, THOROUGH
from tests.scheduling import Pieces, rank

# Most JVMs of the tests end before thorough compilation pays.
SHORT_LIVED_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# Where files are kept in memory, and how much must be free for those of a run.
MEMORY = "/dev/shm"
LEAST_MEMORY = 4 << 30
settings.register_profile(
    "default",
    max_examples=IN_THE_SUITE,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=THOROUGH)
settings.load_profile("default")

# Run by itself, with a conftest that holds for SQLAlchemy's suite alone.
collect_ignore = ["pykudu_sql/sqlalchemy/compliance"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """The day of the wall clock."""
    parser.addoption("--clock", type=dt.date.fromisoformat, help="day of the wall clock")


def pytest_configure(config: pytest.Config) -> None:
    """Set the clock, and what JVMs are started with. Let Ctrl-C work here and in what tests start.

    Ctrl-C is ignored where a shell's `&` began the run.
    """
    day: dt.date | None = config.getoption("clock")
    if day is not None and SHIFT not in os.environ:
        _set_clock(day)
    os.environ.setdefault("SPARK_SUBMIT_OPTS", SHORT_LIVED_JVM)
    if config.getoption("numprocesses", None) and "TMPDIR" not in os.environ:
        _keep_files_in_memory(config)
    if sys.dont_write_bytecode:
        _write_bytecode_elsewhere(config)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _keep_files_in_memory(config: pytest.Config) -> None:
    """Let all processes of this run make their files in memory, in a folder that goes with it.

    Thousands of tests make a database, and most of what that takes is waiting for the disk. What
    the disk is asked to keep, and what a loss of power leaves, is tested with environments that say
    so (`tests.storage.faults`). Where TMPDIR names a place, that is taken.
    """
    with suppress(OSError):
        space = os.statvfs(MEMORY)
        runs_programs = not space.f_flag & os.ST_NOEXEC
        if runs_programs and space.f_bavail * space.f_frsize >= LEAST_MEMORY:
            folder = tempfile.TemporaryDirectory(
                prefix="kudu-", dir=MEMORY, ignore_cleanup_errors=True
            )
            config.add_cleanup(folder.cleanup)
            tempfile.tempdir = os.environ["TMPDIR"] = folder.name


def _write_bytecode_elsewhere(config: pytest.Config) -> None:
    """Compile each module once for all runs, in a folder of pytest's cache.

    Hundreds of tests start a program, and compiling is half of what its start costs. Where Python
    may write bytecode beside the source, that is done already. What is compiled of a run's own
    files goes with it; all does where pytest has no cache.
    """
    cache = getattr(config, "cache", None)
    if cache is None:
        folder = tempfile.mkdtemp(prefix="kudu-bytecode-")
        of_this_run = folder
    else:
        folder = str(cache.mkdir("bytecode"))
        of_this_run = folder + tempfile.gettempdir()
    config.add_cleanup(lambda: shutil.rmtree(of_this_run, ignore_errors=True))
    sys.dont_write_bytecode = False
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = folder
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def _set_clock(day: dt.date) -> None:
    """Set the wall clock of this process and of all that it starts, which inherit both names."""
    noon = dt.datetime.combine(day, dt.time(12), dt.UTC)
    shift = int(noon.timestamp()) * 1_000_000_000 - time.time_ns()
    os.environ[SHIFT] = str(shift)
    folders = [str(Path(__file__).parent / "clock"), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
    shift_clock(shift)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long tests first, so that no processor is left with one at the end."""
    items.sort(key=lambda item: rank(item.nodeid))


def pytest_collection_finish() -> None:
    """Leave the collected tests out of garbage collection, which takes 0.3 s for all of them."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Share the tests as `tests.scheduling` says."""
    config.option.loadscopereorder = False
    return Pieces(config, log)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where a database may be made."""
    return str(tmp_path / "my.db")
