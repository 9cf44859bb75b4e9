"""Steps of functions of times, and comparisons with their results as ranges."""

import datetime as dt
from decimal import Decimal

import pytest

from pykudu_sql.planner.operands.comparison import ALWAYS, NEVER
from pykudu_sql.planner.operands.time_steps import (
    DATE_OF_TIMESTAMP,
    TIMESTAMP_OF_DATE,
    TRUNCATIONS,
    YEAR_OF_DATE,
    YEAR_OF_TIMESTAMP,
    SteppedColumn,
    TimeStep,
    among_stepped,
    compare_stepped,
    compare_stepped_near,
)
from pykudu_sql.storage.common.predicate.column_predicate import (
    And,
    Comparison,
    IsNotNull,
    Op,
    Or,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import EPOCH, EPOCH_DAY, DataType, Kind

DAY = 86_400_000_000
INFINITY = (1 << 63) - 1


def stepped(kind: Kind, *steps: TimeStep, nullable: bool = True) -> SteppedColumn:
    return SteppedColumn(ColumnSchema(7, "x", DataType(kind), nullable), steps)


MOMENT, DATE = Kind.UNIXTIME_MICROS, Kind.DATE
DAY_OF = stepped(MOMENT, DATE_OF_TIMESTAMP)
YEAR_OF = stepped(MOMENT, YEAR_OF_TIMESTAMP)


def micros(*parts: int) -> int:
    return (dt.datetime(*parts) - EPOCH) // dt.timedelta(microseconds=1)  # type: ignore[arg-type]


def truncated(unit: str, at: dt.datetime) -> dt.datetime:
    """What date_trunc() makes of a time."""
    if unit == "WEEK":
        return dt.datetime(at.year, at.month, at.day) - dt.timedelta(days=at.weekday())
    if unit == "QUARTER":
        return dt.datetime(at.year, (at.month - 1) // 3 * 3 + 1, 1)
    if unit in ("MILLISECOND", "MICROSECOND"):
        return at.replace(microsecond=at.microsecond // 1000 * 1000) if unit[2] == "L" else at
    names = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
    fields = (at.year, at.month, at.day, at.hour, at.minute, at.second)
    kept = fields[: names.index(unit) + 1]
    return dt.datetime(*kept, *(1, 1)[: max(0, 3 - len(kept))])  # type: ignore[arg-type]


@pytest.mark.parametrize("unit", TRUNCATIONS)
def test_the_first_argument_of_a_value_is_where_the_value_begins(unit: str) -> None:
    first = TRUNCATIONS[unit].first
    for day in (
        dt.date(1969, 12, 28),
        dt.date(2024, 2, 28),
        dt.date(1900, 3, 31),
        dt.date(2, 1, 1),
    ):
        for hours, odd in ((0, 0), (13, 61_000_001), (24, 0), (-1, 999), (24 * 40, 5)):
            value = dt.datetime(day.year, day.month, day.day) + dt.timedelta(
                hours=hours, microseconds=odd
            )
            cell = (value - EPOCH) // dt.timedelta(microseconds=1)
            begins = first(cell)
            at = EPOCH + dt.timedelta(microseconds=begins)
            assert truncated(unit, at) >= value
            assert truncated(unit, at - dt.timedelta(microseconds=1)) < value


def test_years_begin_on_the_days_of_the_calendar() -> None:
    for year in range(1, 10_000):
        assert YEAR_OF_DATE.first(year) == dt.date(year, 1, 1).toordinal() - EPOCH_DAY
    assert YEAR_OF_DATE.first(0) == YEAR_OF_DATE.first(1) - 366
    assert YEAR_OF_DATE.first(-399) == YEAR_OF_DATE.first(1) - 146_097
    assert YEAR_OF_TIMESTAMP.first(12_024) == YEAR_OF_DATE.first(12_024) * DAY


def test_calls_within_calls_are_undone_from_outside() -> None:
    month_of_day = stepped(MOMENT, DATE_OF_TIMESTAMP, TIMESTAMP_OF_DATE, TRUNCATIONS["MONTH"])
    assert month_of_day.first(micros(2024, 1, 2)) == micros(2024, 2, 1)
    assert month_of_day.text == "date_trunc('month', CAST(CAST(x AS DATE) AS TIMESTAMP))"
    assert month_of_day.type.kind is MOMENT


@pytest.mark.parametrize(
    ("op", "value", "low", "high"),
    [
        (Op.EQ, dt.date(2024, 1, 5), micros(2024, 1, 5), micros(2024, 1, 6) - 1),
        (Op.EQ, "2024-01-05", micros(2024, 1, 5), micros(2024, 1, 6) - 1),
        (Op.EQ, dt.datetime(2024, 1, 5), micros(2024, 1, 5), micros(2024, 1, 6) - 1),
        (Op.GE, dt.date(2024, 1, 5), micros(2024, 1, 5), None),
        (Op.GE, dt.datetime(2024, 1, 5, 12), micros(2024, 1, 6), None),
        (Op.GT, dt.date(2024, 1, 5), micros(2024, 1, 6), None),
        (Op.GT, dt.datetime(2024, 1, 5, 12), micros(2024, 1, 6), None),
        (Op.LT, dt.date(2024, 1, 5), None, micros(2024, 1, 5) - 1),
        (Op.LT, dt.datetime(2024, 1, 5, 12), None, micros(2024, 1, 6) - 1),
        (Op.LE, dt.date(2024, 1, 5), None, micros(2024, 1, 6) - 1),
        (Op.LE, dt.date.max, None, micros(9999, 12, 31) + DAY - 1),
    ],
)
def test_a_comparison_of_a_day_is_a_range_of_times(
    op: Op, value: object, low: int | None, high: int | None
) -> None:
    ends = [(Op.GE, low), (Op.LE, high)]
    parts = tuple(Comparison(7, end, cell) for end, cell in ends if cell is not None)
    expected = parts[0] if len(parts) == 1 else And(parts)
    assert compare_stepped(DAY_OF, op, value) == (expected, True)


@pytest.mark.parametrize(
    ("operand", "op", "value", "predicate", "is_exact"),
    [
        (DAY_OF, Op.EQ, None, NEVER, True),
        (DAY_OF, Op.EQ, dt.datetime(2024, 1, 5, 1), NEVER, True),
        (DAY_OF, Op.EQ, "2024-01-05 10:00", ALWAYS, False),
        (DAY_OF, Op.EQ, 5, ALWAYS, False),
        (DAY_OF, Op.EQ, dt.datetime(2024, 1, 5, tzinfo=dt.UTC), ALWAYS, False),
        (stepped(MOMENT, TRUNCATIONS["MONTH"]), Op.EQ, dt.date(2024, 1, 15), NEVER, True),
        (YEAR_OF, Op.EQ, Decimal("2024.5"), NEVER, True),
        (YEAR_OF, Op.EQ, "MMXXIV", ALWAYS, False),
        (YEAR_OF, Op.LT, 1 << 128, And((Comparison(7, Op.GE, 1 - INFINITY),
                                        Comparison(7, Op.LE, INFINITY - 1))), False),
        (YEAR_OF, Op.GT, 300_000, NEVER, True),
        (stepped(DATE, YEAR_OF_DATE), Op.GT, 9999, NEVER, True),
        (stepped(DATE, YEAR_OF_DATE), Op.LE, 9999, IsNotNull(7), True),
        (stepped(DATE, YEAR_OF_DATE, nullable=False), Op.GE, -5, ALWAYS, True),
        (stepped(DATE, TIMESTAMP_OF_DATE, TRUNCATIONS["DAY"]), Op.EQ, dt.date(1970, 1, 2),
         Comparison(7, Op.EQ, 1), True),
    ],
)  # fmt: skip
def test_what_no_cell_or_every_cell_meets_is_folded(
    operand: SteppedColumn, op: Op, value: object, predicate: object, is_exact: bool
) -> None:
    assert compare_stepped(operand, op, value) == (predicate, is_exact)


def test_infinite_times_have_no_year() -> None:
    assert compare_stepped(YEAR_OF, Op.GE, 2024).predicate == And(
        (Comparison(7, Op.GE, micros(2024, 1, 1)), Comparison(7, Op.LE, INFINITY - 1))
    )
    assert compare_stepped(DAY_OF, Op.GE, dt.date(2024, 1, 1)).predicate == Comparison(
        7, Op.GE, micros(2024, 1, 1)
    )


def test_ranges_of_a_list_that_touch_are_one() -> None:
    days = [dt.date(2024, 1, day) for day in (3, 1, 2, 2, 9)]
    lone = compare_stepped(DAY_OF, Op.EQ, days[-1]).predicate
    among = among_stepped(DAY_OF, [*days, None])
    assert among.is_exact
    assert isinstance(among.predicate, Or)
    assert among.predicate.parts == (
        And(
            (Comparison(7, Op.GE, micros(2024, 1, 1)), Comparison(7, Op.LE, micros(2024, 1, 4) - 1))
        ),
        lone,
    )
    assert among_stepped(DAY_OF, [None]) == (NEVER, True)
    assert among_stepped(DAY_OF, [days[0], "soon"]) == (ALWAYS, False)


def test_many_ranges_of_a_list_are_one_from_the_first_to_the_last() -> None:
    many = [dt.date(2024, month, day) for month in range(1, 10) for day in (1, 20)]
    low, high = micros(2024, 1, 1), micros(2024, 9, 21) - 1
    hull = And((Comparison(7, Op.GE, low), Comparison(7, Op.LE, high)))
    assert among_stepped(DAY_OF, many) == (hull, False)


@pytest.mark.parametrize("op", Op)
def test_of_a_time_in_nanoseconds_the_neighbours_are_kept(op: Op) -> None:
    second = stepped(MOMENT, TRUNCATIONS["SECOND"])
    near = compare_stepped_near(second, op, dt.datetime(2024, 1, 1))
    bounds = near.parts if isinstance(near, And) else (near,)
    cells = {bound.value for bound in bounds if isinstance(bound, Comparison)}
    start, second_long = micros(2024, 1, 1), 1_000_000
    assert cells <= {start, start + second_long - 1}
    assert cells
    assert compare_stepped_near(YEAR_OF, op, 2024.0) == ALWAYS
    assert compare_stepped_near(second, op, "soon") == ALWAYS
