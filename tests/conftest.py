"""Hypothesis profiles: `default` for every run, `thorough` for the long campaigns.

Choose with `pytest --hypothesis-profile=thorough`. Deadlines are off: a shared machine makes a
timed failure out of a slow neighbour.

`make test` gives the tests to as many processes as there are processors. Those on Spark stay
together in one, with their one session, and begin first because they take longest.
"""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=1000)
settings.load_profile("default")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests on Spark together and put them first, where several processes share them."""
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            if "spark" in item.path.parts:
                item.add_marker(pytest.mark.xdist_group("spark"))
        items.sort(key=lambda item: "spark" not in item.path.parts)
