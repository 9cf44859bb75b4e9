"""The time of a statement is read once."""

from pykudu_sql.storage.common.defaults.statement_time import StatementTime
from pykudu_sql.storage.common.types.hybrid_time import from_micros, wall_micros


def test_the_time_stays_until_the_next_statement() -> None:
    readings = iter([from_micros(5), from_micros(9)])
    time = StatementTime(lambda: next(readings))
    assert (time.micros, time.timestamp, time.micros) == (5, from_micros(5), 5)
    time.restart()
    assert time.micros == 9


def test_without_a_clock_it_is_that_of_the_system() -> None:
    before = wall_micros()
    assert before <= StatementTime().micros <= wall_micros()
