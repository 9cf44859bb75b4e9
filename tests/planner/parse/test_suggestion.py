"""A hint names what is alike, and nothing where nothing is."""

import pytest

from pykudu_sql.planner.parse.suggestion import near


@pytest.mark.parametrize(
    ("name", "hint"),
    [("carier", "did you mean 'carrier'?"), ("xyz", None), ("delay", "did you mean 'delay'?")],
)
def test_the_nearest_name_is_suggested_if_it_is_near(name: str, hint: str | None) -> None:
    assert near(name, ["delay", "carrier", "carrier"]) == hint


def test_a_higher_cutoff_suggests_less() -> None:
    assert near("dela", ["delta"], cutoff=0.95) is None
