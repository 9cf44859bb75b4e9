"""Comparisons of functions of a time that never decrease, as ranges of the time itself.

`CAST(ts AS DATE) = DATE '2024-01-05'` holds for the times of one day and no others, so a scan can
find them by zone maps, keys and partitions. All that has to be known of a function is its steps:
the first argument for which its value is at least so great. They are computed in whole stored
units of any size, in the calendar of the engine, which has years before the first one too; a step
beyond what the column can hold is folded as a constant beyond it is.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.comparison import (
    ANY_ROW,
    DAY_MICROS,
    NO_ROW,
    Approximation,
    compare_exact,
    conjunction,
    disjunction,
    is_of_the_engine,
    stored_fraction,
)
from pykudu_sql.storage.common.predicate.column_predicate import (
    ALWAYS,
    NEVER,
    Comparison,
    Op,
    Predicate,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind

FirstArgument = Callable[[int], int]
# Of the days or microseconds: from one included to one excluded; None where there is no end.
_Range = tuple[int | None, int | None]

_MOST_RANGES = 16
_INFINITY = (1 << 63) - 1  # the engine's time of that name; the other one is -_INFINITY
_MONDAY = -3  # the day of one


@dataclass(frozen=True, slots=True)
class TimeStep:
    """A function of one argument that never decreases.

    Attributes:
        text: a call of it, `{}` for the argument.
        result: the kind of its values.
        first: the smallest argument for which its value is at least a number, both in stored units.
        is_null_at_infinity: whether it has no value for the engine's infinite times.
    """

    text: str
    result: Kind
    first: FirstArgument
    is_null_at_infinity: bool = False


@dataclass(frozen=True, slots=True)
class SteppedColumn:
    """What steps make of a column of dates or timestamps.

    Attributes:
        column: of the scan's table.
        steps: the innermost call first.
    """

    column: ColumnSchema
    steps: tuple[TimeStep, ...]

    @property
    def type(self) -> DataType:
        """The type of the values."""
        return DataType(self.steps[-1].result) if self.steps else self.column.type

    @property
    def text(self) -> str:
        """The expression, as SQL."""
        text = self.column.name
        for step in self.steps:
            text = step.text.format(text)
        return text

    def first(self, value: int) -> int:
        """The smallest cell, of any size, for which the value is at least `value`."""
        for step in reversed(self.steps):
            value = step.first(value)
        return value


def compare_stepped(operand: SteppedColumn, op: Op, value: object) -> Approximation:
    """The condition `operand op value`, with a value as `comparison.compare` takes it."""
    if value is None:
        return NO_ROW
    exact = stored_fraction(operand.type, value)
    if exact is None:
        return ANY_ROW
    cells = _cells(operand, op, exact, Fraction(0))
    return Approximation(_within(operand, cells), is_of_the_engine(value))


def compare_stepped_near(operand: SteppedColumn, op: Op, value: object) -> Predicate:
    """What holds wherever `operand op value` does, if the engine has the time in nanoseconds."""
    if operand.type.kind is Kind.INT64:
        return ALWAYS
    middle = stored_fraction(operand.type, value)
    if middle is None:
        return ALWAYS
    margin = Fraction(1, DAY_MICROS if operand.type.kind is Kind.DATE else 1)
    return _within(operand, _cells(operand, op, middle, margin))


def among_stepped(operand: SteppedColumn, values: Iterable[object]) -> Approximation:
    """The condition `operand IN (values)`; wider where it is many ranges."""
    ranges: list[tuple[int, int]] = []
    is_exact = True
    for value in values:
        if value is None:
            continue
        exact = stored_fraction(operand.type, value)
        if exact is None:
            return ANY_ROW
        is_exact = is_exact and is_of_the_engine(value)
        low, high = _cells(operand, Op.EQ, exact, Fraction(0))
        if low is not None and high is not None and low < high:
            ranges.append((low, high))
    united = _united(ranges)
    if len(united) > _MOST_RANGES:
        united, is_exact = [(united[0][0], united[-1][1])], False
    predicate = disjunction([_within(operand, cells) for cells in united])
    return Approximation(predicate, is_exact)


def _united(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, those that touch as one."""
    united: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if united and low <= united[-1][1]:
            low, end = united.pop()
            high = max(end, high)
        united.append((low, high))
    return united


def _cells(operand: SteppedColumn, op: Op, middle: Fraction, margin: Fraction) -> _Range:
    """The cells for which `operand op value` may hold, for a value off by `margin` at most."""
    bottom, top = middle - margin, middle + margin
    match op:
        case Op.GE:
            return operand.first(math.ceil(bottom)), None
        case Op.GT:
            # Off by a margin, a value may be the very one.
            return operand.first(math.ceil(bottom) if margin else math.floor(bottom) + 1), None
        case Op.LT:
            return None, operand.first(math.floor(top) + 1 if margin else math.ceil(top))
        case Op.LE:
            return None, operand.first(math.floor(top) + 1)
    return operand.first(math.ceil(bottom)), operand.first(math.floor(top) + 1)


def _within(operand: SteppedColumn, cells: _Range) -> Predicate:
    """That a column's cell lies in a range, for which the steps have a value."""
    low, high = cells
    column = operand.column
    is_finite = column.type.kind is Kind.UNIXTIME_MICROS and any(
        step.is_null_at_infinity for step in operand.steps
    )
    if is_finite:
        low = 1 - _INFINITY if low is None else max(low, 1 - _INFINITY)
        high = _INFINITY if high is None else min(high, _INFINITY)
    if low is not None and high is not None and low >= high:
        return NEVER
    if low is not None and high == low + 1:
        return compare_exact(column, Op.EQ, Fraction(low))
    bounds = ((Op.GE, low), (Op.LT, high))
    parts = [compare_exact(column, op, Fraction(cell)) for op, cell in bounds if cell is not None]
    limits = [part for part in parts if isinstance(part, Comparison)]
    return conjunction(limits if limits and NEVER not in parts else parts)


def _next_multiple(size: int, origin: int, value: int) -> int:
    """The first of the numbers `origin + n * size` that is not below a value."""
    return value + (origin - value) % size


def _next_month(size: int, micros: int) -> int:
    """The first moment not before another at which a period of so many months begins."""
    day = -(-micros // DAY_MICROS)
    year, month, day_of_month = _calendar(day)
    months = year * 12 + month - 1
    if day_of_month > 1:
        months += 1
    year, month = divmod(_next_multiple(size, 0, months), 12)
    return _day(year, month + 1) * DAY_MICROS


def _day(year: int, month: int) -> int:
    """The day, counted from 1970, that is the first of a month; the year 0 is before the first."""
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)  # that begins in March
    leap_days = year // 4 - year // 100 + year // 400
    return 365 * year + leap_days + (153 * month + 2) // 5 - 719_468


def _calendar(day: int) -> tuple[int, int, int]:
    """Year, month and day of the month of a day, counted from 1970."""
    cycle, within = divmod(day + 719_468, 146_097)  # days of 400 years that begin in March
    year = (within - within // 1_460 + within // 36_524 - within // 146_096) // 365
    day_of_year = within - (365 * year + year // 4 - year // 100)
    month = (5 * day_of_year + 2) // 153
    day_of_month = day_of_year - (153 * month + 2) // 5 + 1
    year += cycle * 400
    return (year, month + 3, day_of_month) if month < 10 else (year + 1, month - 9, day_of_month)


def _first_moment(day: int) -> int:
    return day * DAY_MICROS


def _first_day(micros: int) -> int:
    return -(-micros // DAY_MICROS)


def _first_day_of_year(year: int) -> int:
    return _day(year, 1)


def _first_moment_of_year(year: int) -> int:
    return _day(year, 1) * DAY_MICROS


DATE_OF_TIMESTAMP = TimeStep("CAST({} AS DATE)", Kind.DATE, _first_moment)
TIMESTAMP_OF_DATE = TimeStep("CAST({} AS TIMESTAMP)", Kind.UNIXTIME_MICROS, _first_day)
DATE_AS_TIMESTAMP = TimeStep("{}", Kind.UNIXTIME_MICROS, _first_day)  # without a cast
YEAR_OF_DATE = TimeStep("year({})", Kind.INT64, _first_day_of_year, is_null_at_infinity=True)
YEAR_OF_TIMESTAMP = TimeStep("year({})", Kind.INT64, _first_moment_of_year, True)


def _truncation(unit: str, first: FirstArgument) -> TimeStep:
    return TimeStep(f"date_trunc('{unit.lower()}', {{}})", Kind.UNIXTIME_MICROS, first)


# What date_trunc() does with a timestamp, by the unit.
TRUNCATIONS: Mapping[str, TimeStep] = {
    **{
        unit: _truncation(unit, partial(_next_multiple, micros, 0))
        for unit, micros in (
            ("MICROSECOND", 1),
            ("MILLISECOND", 1_000),
            ("SECOND", 1_000_000),
            ("MINUTE", 60_000_000),
            ("HOUR", 3_600_000_000),
            ("DAY", DAY_MICROS),
        )
    },
    "WEEK": _truncation("WEEK", partial(_next_multiple, 7 * DAY_MICROS, _MONDAY * DAY_MICROS)),
    **{
        unit: _truncation(unit, partial(_next_month, months))
        for unit, months in (("MONTH", 1), ("QUARTER", 3), ("YEAR", 12))
    },
}
