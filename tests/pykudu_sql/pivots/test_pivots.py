"""PIVOT and UNPIVOT are refused with a query to write instead, which gives the same rows."""

from random import Random

from tests.pykudu_sql.pivots.trying import try_some


def test_what_is_written_in_place_of_a_pivot_gives_its_rows() -> None:
    report = try_some(Random(0), 30)
    assert report.failures == []
    assert report.refused == report.compared == 30
