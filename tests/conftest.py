"""Hypothesis profiles: `default` for every run, `thorough` for the long campaigns.

Choose with `pytest --hypothesis-profile=thorough`. Deadlines are off: a shared machine makes a
timed failure out of a slow neighbour.

`make test` gives the tests to as many processes as there are processors. Those on Spark stay
together in one, with their one session, and begin first because they take longest.
"""

import signal
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=1000)
settings.load_profile("default")


def pytest_configure() -> None:
    """Let Ctrl-C work here and in what the tests start, also where a shell's `&` began the run."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """How processes share the tests: one by one, those on Spark as one piece and first."""
    from xdist.scheduler import LoadScopeScheduling

    class Pieces(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "spark" if nodeid.startswith("tests/spark/") else nodeid

    return Pieces(config, log)
