"""Random conditions on functions of times, over times at the edges of days, months and years.

A function is called on a column, or on what another one makes of it; it is compared with a literal,
a parameter or a constant that the engine computes. The oracle is DuckDB without its optimizer,
which has a rule for such conditions itself.
"""

import datetime as dt
from random import Random
from typing import Any

UNITS = (
    "microseconds", "ms", "second", "s", "minute", "m", "hour", "h", "hours", "day", "d", "days",
    "week", "w", "month", "mon", "months", "quarter", "year", "y", "years",
)  # fmt: skip
COLUMNS = "id INT PRIMARY KEY, ts TIMESTAMP, d DATE, must TIMESTAMP NOT NULL"
OPERATORS = ("=", "=", "<", "<=", ">", ">=")
_EDGES = (
    dt.datetime(2024, 1, 5), dt.datetime(2023, 12, 31, 23, 59, 59, 999_999),
    dt.datetime(2024, 2, 29), dt.datetime(1969, 12, 29), dt.datetime(1970, 1, 1), dt.datetime.min,
    dt.datetime.max, dt.datetime(2024, 4, 1), dt.datetime(1600, 3, 1),
)  # fmt: skip
_STEPS = tuple(
    dt.timedelta(days, microseconds=micros)
    for days, micros in (
        *((0, 1), (0, 1_000), (0, 1_000_000), (0, 60_000_000), (0, 3_600_000_000)),
        *((1, 0), (7, 0), (31, 0), (366, 0)),
    )
)
_BEYOND = (
    "infinity", "-infinity", "0044-03-15 (BC) 10:00:00", "12024-07-01", "0001-12-30 (BC) 23:00:00"
)  # fmt: skip


class TimeConditions:
    """Draws rows and conditions."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def rows(self, count: int) -> str:
        """The VALUES of a table of `COLUMNS`."""
        return ", ".join(
            f"({i}, {self._timestamp(0.05, 0.08)}::TIMESTAMP, {self._date()}::DATE, "
            f"{self._timestamp(0.03, 0)}::TIMESTAMP)"
            for i in range(count)
        )

    def condition(self) -> tuple[str, list[Any]]:
        """A condition, and the values of its parameters."""
        values: list[Any] = []
        text = self._simple(values)
        shape = self._random.random()
        if shape < 0.3:
            return f"{text} {'AND' if shape < 0.15 else 'OR'} {self._simple(values)}", values
        return (f"NOT ({text})" if shape < 0.4 else text), values

    def _moment(self) -> dt.datetime:
        moment = self._random.choice(_EDGES)
        for _ in range(self._random.randint(0, 2)):
            try:
                moment += self._random.choice(_STEPS) * self._random.randint(-3, 3)
            except OverflowError:
                return moment
        return moment

    def _timestamp(self, beyond: float, null: float) -> str:
        moment, share = self._moment(), self._random.random()
        if share < null:
            return "NULL"
        return f"'{self._random.choice(_BEYOND) if share < null + beyond else moment}'"

    def _date(self) -> str:
        return "NULL" if self._random.random() < 0.08 else f"'{self._moment().date()}'"

    def _simple(self, values: list[Any]) -> str:
        call, is_year = self._call(self._random.choice(("ts", "d", "must", "t.ts")), 0)
        shape = self._random.random()
        if shape < 0.55:
            op, value = self._random.choice(OPERATORS), self._value(is_year, values)
            return f"{call} {op} {value}" if shape < 0.45 else f"{value} {op} {call}"
        if shape < 0.75:
            low = self._value(is_year, values)
            return f"{call} BETWEEN {low} AND {self._value(is_year, values)}"
        count = self._random.choice((1, 2, 3, 5, 24))
        return f"{call} IN ({', '.join(self._value(is_year, values) for _ in range(count))})"

    def _call(self, argument: str, depth: int) -> tuple[str, bool]:
        """A call, and whether it gives a year."""
        pick = self._random
        if depth < 2 and pick.random() < 0.2:
            argument, is_year = self._call(argument, depth + 1)
            if is_year:
                return argument, True
        kind = pick.random()
        if kind < 0.3:
            casts = ("CAST({} AS DATE)", "({})::DATE", "date({})", "TRY_CAST({} AS DATE)")
            return pick.choice(casts).format(argument), False
        if kind < 0.65:
            name = pick.choice(("date_trunc", "datetrunc"))
            return f"{name}('{pick.choice(UNITS)}', {argument})", False
        if kind < 0.75:
            return f"CAST({argument} AS TIMESTAMP)", False
        years = ("year({})", "extract(year FROM {})", "date_part('year', {})", "extract(y FROM {})")
        return pick.choice(years).format(argument), True

    def _value(self, is_year: bool, values: list[Any]) -> str:
        text, value = self._year() if is_year else self._time()
        if value is None or self._random.random() > 0.4:
            return text
        values.append(value)
        return "?"

    def _year(self) -> tuple[str, Any]:
        pick = self._random
        near = (pick.randint(2022, 2025), pick.randint(1968, 1971), 0, 1, -43, 9999, 12_024)
        year = pick.choice((*near, 10**12))
        forms = (f"'{year}'", f"{year}.5", "NULL", f"{pick.randint(1, 9)}e3")
        computed = f"CAST({pick.randint(2022, 2025)} AS SMALLINT)"
        return (str(year), year) if pick.random() < 0.6 else (pick.choice((*forms, computed)), None)

    def _time(self) -> tuple[str, Any]:
        pick, moment = self._random, self._moment()
        if pick.random() < 0.5:
            moment = dt.datetime.combine(moment, dt.time())
        if pick.random() < 0.3:
            moment = moment.replace(day=1)
        day, text = moment.date(), moment.isoformat(sep=" ")
        unit, days = pick.choice(UNITS), pick.randint(0, 2)
        known: tuple[tuple[str, Any], ...] = (
            (f"DATE '{day}'", day), (f"TIMESTAMP '{text}'", moment),
            (f"'{day}'", day.isoformat()), (f"'{text}'", text),
        )  # fmt: skip
        computed = (
            "NULL",
            f"date_trunc('{unit}', TIMESTAMP '{text}')",
            f"DATE '{day}' + INTERVAL {days} DAY",
        )
        return pick.choice(known) if pick.random() < 0.75 else (pick.choice(computed), None)
