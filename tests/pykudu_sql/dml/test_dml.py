"""Random changes leave the rows that SQLite has, and earlier snapshots as they were."""

import pytest

from tests.pykudu_sql.dml.world import explore


@pytest.mark.parametrize("seed", range(2))
def test_rows_now_and_as_of_earlier_are_those_of_sqlite(seed: int) -> None:
    report = explore(seed, steps=50)
    assert report.differences == []
    assert report.statements > 0
    assert report.snapshots > 0
