"""A qualifier of a column works where it is right and is refused where it is wrong."""

from random import Random

from tests.pykudu_sql.qualifiers.trying import try_all


def test_right_qualifiers_work_and_wrong_ones_are_refused_in_every_place() -> None:
    report = try_all(Random(1), 150)
    assert report.failures == []
    assert report.accepted > 0
    assert report.refused > 0
