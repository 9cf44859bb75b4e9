"""What a statement makes of wide texts stays near the memory limit, in a process of its own."""

import sys

import pytest

from tests.pykudu_sql.limits.peaks import FETCHED, LIMIT, measure

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
SPARE = 200
SPARE_OF_CALLS = 80


@pytest.mark.parametrize(
    "statement",
    ["SELECT a.x, b.x FROM w a, w b", "SELECT x FROM w, range(4) UNION ALL SELECT x FROM w"],
)
def test_wide_rows_of_a_product_are_fetched_a_few_at_a_time(statement: str) -> None:
    result = measure(statement)
    assert (result["sqlstate"], result["fetched"]) == ("", FETCHED)
    assert int(str(result["peak"])) <= LIMIT + SPARE


@pytest.mark.parametrize(
    ("statement", "fetched"),
    [
        ("SELECT max(length(x || x || k)) FROM w, range(10)", 1),
        ("SELECT sum(length(a.x || b.x || a.k)) FROM w a, w b WHERE a.k < 40", 1),
        ("SELECT upper(lower(a.x || b.x)) FROM w a, w b", FETCHED),
    ],
)
def test_calls_over_gathered_wide_rows_answer_near_the_limit(statement: str, fetched: int) -> None:
    result = measure(statement)
    assert (result["sqlstate"], result["fetched"]) == ("", fetched)
    assert int(str(result["peak"])) <= LIMIT + SPARE_OF_CALLS
