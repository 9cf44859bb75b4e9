"""Random queries give the answers that SQLite and DuckDB give over plain tables."""

import pytest

from tests.pykudu_sql.differential.world import explore


@pytest.mark.parametrize("seed", range(4))
def test_answers_now_and_as_of_earlier_are_those_of_duckdb(seed: int) -> None:
    report = explore(seed, queries=5, portable=False)
    assert report.differences == []
    assert report.compared > 0


@pytest.mark.parametrize("seed", range(2))
def test_answers_now_and_as_of_earlier_are_those_of_sqlite(seed: int) -> None:
    report = explore(seed, queries=5, portable=True)
    assert report.differences == []
    assert report.compared > 0
