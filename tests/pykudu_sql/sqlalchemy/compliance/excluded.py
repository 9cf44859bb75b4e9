"""Skips what the dialect cannot do and no requirement speaks of, with the reason."""

import pytest
from requirements import EXCLUDED


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose class, name or whole name is on the list."""
    test_class = item.nodeid.split("::")[1].split("_pykudu")[0]
    name = item.name.split("[")[0]
    for key in (test_class, name, item.name):
        if key in EXCLUDED:
            pytest.skip(EXCLUDED[key])
