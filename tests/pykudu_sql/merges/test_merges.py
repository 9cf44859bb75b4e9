"""Random MERGE and other changes do to rows in every physical state what a model says."""

import pytest

from tests.pykudu_sql.merges.world import explore


@pytest.mark.parametrize("seed", range(3))
def test_changes_do_what_plain_python_does(seed: int) -> None:
    report = explore(seed, steps=25)
    assert report.differences == []
    assert report.statements["MERGE"] > 0
