"""Costs of queries in bounded memory as figures, and what a query may use."""

import pytest

from benchmarks.bounded_queries import ENGINES, Budget
from benchmarks.scale_operations import Cost
from benchmarks.workloads.queries.bounded import figures

MIB = 1 << 20


def costs(ours: float, native: float, parquet: float) -> dict[str, list[Cost]]:
    """Of two rounds, the second of which others on the machine made twice as long."""
    seconds = zip(ENGINES, (ours, native, parquet), strict=True)
    return {
        name: [Cost(s * s, s, 4, 100.0), Cost(4 * s * s, 2 * s, 4, 90.0)] for name, s in seconds
    }


def test_ratios_are_of_the_shortest_rounds_and_their_mean_is_geometric() -> None:
    told = {f.name: f.value for f in figures({1: costs(2, 1, 4), 6: costs(8, 1, 2)})}
    assert told["Q1 / duckdb"] == 2
    assert told["Q6 / duckdb over parquet"] == 4
    assert told["pykudu / duckdb"] == pytest.approx(4)
    assert told["pykudu / duckdb over parquet"] == pytest.approx(2**0.5)
    assert told["pykudu / duckdb: wall"] == pytest.approx(16)
    assert told["highest peak"] == 100


@pytest.mark.parametrize("scale", [0.01, 1, 10, 100])
def test_a_budget_grows_with_the_data_but_the_engine_keeps_what_it_needs(scale: float) -> None:
    budget = Budget.of_scale(scale)
    assert budget.scans == 2 * budget.cache
    assert budget.engine == max(256 * MIB, 4 * budget.cache)
    assert budget.total == budget.cache + budget.scans + budget.engine


def test_a_budget_at_scale_factor_ten_is_under_two_gigabytes() -> None:
    assert Budget.of_scale(10).total == 1792 * MIB
