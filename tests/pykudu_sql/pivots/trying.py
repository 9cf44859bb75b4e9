"""Random PIVOT and UNPIVOT, which are refused with what to write, and what is written instead.

Every form that DuckDB takes is refused with 0A000 whatever stands in it; the query that the hint
tells to write gives the rows that DuckDB's PIVOT or UNPIVOT gives over the same table.
"""

from collections import Counter
from dataclasses import dataclass, field
from random import Random

import duckdb

import pykudu_sql

_TABLE = (
    "CREATE TABLE sale (k INT PRIMARY KEY, place {0}, year INT, kind {0}, amount INT, other INT)"
)
_PLACES, _KINDS, _YEARS = ("oslo", "rome", "it's"), ("a", "b", "c"), (2023, 2024)
_AGGREGATES = ("sum", "max", "min", "count")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A PIVOT or UNPIVOT, and the query that says the same without."""

    text: str
    instead: str


@dataclass
class Report:
    """What was tried.

    Attributes:
        refused: with 0A000.
        compared: queries in their place whose rows were compared.
        failures: what to look at.
    """

    refused: int = 0
    compared: int = 0
    failures: list[str] = field(default_factory=list)


def draw(pick: Random) -> Attempt:
    """One of them."""
    return _pivot(pick) if pick.random() < 0.6 else _unpivot(pick)


def _pivot(pick: Random) -> Attempt:
    name, values = pick.choice((("kind", _KINDS), ("place", _PLACES), ("year", _YEARS)))
    chosen = pick.sample(values, pick.randint(1, len(values)))
    by = pick.choice([column for column in ("place", "kind", "year") if column != name])
    aggregates = [(pick.choice(_AGGREGATES), pick.choice(("amount", "other")), "x")]
    if pick.random() < 0.4:
        aggregates.append((pick.choice(_AGGREGATES), pick.choice(("amount", "other")), "y"))
    source = f"(SELECT {by}, {name}, amount, other FROM sale{_where(pick)})"
    listed = ", ".join(_written(value) for value in chosen)
    calls = ", ".join(f"{call}({column}) AS {alias}" for call, column, alias in aggregates)
    text = pick.choice((
        f"SELECT * FROM {source} PIVOT ({calls} FOR {name} IN ({listed}) GROUP BY {by})",
        f"PIVOT {source} ON {name} IN ({listed}) USING {calls} GROUP BY {by}",
        f"SELECT * FROM (PIVOT {source} ON {name} IN ({listed}) USING {calls} GROUP BY {by})",
        f"WITH p AS (PIVOT {source} ON {name} IN ({listed}) USING {calls} GROUP BY {by})"
        " SELECT * FROM p",
    ))  # fmt: skip
    items = ", ".join(
        f"{call}(CASE WHEN {name} = {_written(value)} THEN {column} END)"
        for value in chosen
        for call, column, _ in aggregates
    )
    return Attempt(text, f"SELECT {by}, {items} FROM {source} AS s GROUP BY {by}")


def _unpivot(pick: Random) -> Attempt:
    columns = pick.choice((("amount",), ("amount", "other"), ("year", "amount", "other")))
    source, listed = f"(SELECT k, year, amount, other FROM sale{_where(pick)})", ", ".join(columns)
    kept = [column for column in ("k", "year") if column not in columns]
    selected = f"SELECT {', '.join(kept)}, n, v"
    text = pick.choice((
        f"{selected} FROM {source} UNPIVOT (v FOR n IN ({listed}))",
        f"{selected} FROM (UNPIVOT {source} ON {listed} INTO NAME n VALUE v)",
        f"WITH p AS (UNPIVOT {source} ON {listed} INTO NAME n VALUE v) {selected} FROM p",
    ))  # fmt: skip
    parts = (
        f"SELECT {', '.join(kept)}, '{column}' AS n, {column} AS v FROM {source} AS s"
        f" WHERE {column} IS NOT NULL"
        for column in columns
    )
    return Attempt(text, " UNION ALL ".join(parts))


def _where(pick: Random) -> str:
    return pick.choice(("", " WHERE amount > 2", " WHERE other IS NOT NULL", " WHERE k < 0"))


def _written(value: str | int) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def try_some(random: Random, count: int) -> Report:
    """Try so many of them over one random table."""
    report = Report()
    rows = [
        (
            k,
            random.choice((None, *_PLACES)),
            random.choice((None, *_YEARS)),
            random.choice((None, *_KINDS)),
            random.choice((None, 1, 2, 3, 40)),
            random.choice((None, 5, 6)),
        )
        for k in range(60)
    ]
    with pykudu_sql.connect(":memory:", autocommit=True) as ours, duckdb.connect() as theirs:
        ours.execute(_TABLE.format("STRING"))
        theirs.execute(_TABLE.format("VARCHAR"))
        ours.executemany("INSERT INTO sale VALUES (?, ?, ?, ?, ?, ?)", rows)
        theirs.executemany("INSERT INTO sale VALUES (?, ?, ?, ?, ?, ?)", rows)
        ours.execute("FLUSH sale")
        for _ in range(count):
            _judge(draw(random), ours, theirs, report)
    return report


def _judge(
    attempt: Attempt,
    ours: pykudu_sql.Connection,
    theirs: duckdb.DuckDBPyConnection,
    report: Report,
) -> None:
    try:
        ours.execute(attempt.text)
        report.failures.append(f"not refused: {attempt.text}")
    except pykudu_sql.Error as error:
        if error.sqlstate == "0A000" and "PIVOT" in error.message and error.hint:
            report.refused += 1
        else:
            report.failures.append(f"refused with {error.sqlstate} {error}: {attempt.text}")
    expected = Counter(theirs.execute(attempt.text).fetchall())
    found = Counter(ours.execute(attempt.instead).fetchall())
    report.compared += 1
    if found != expected:
        report.failures.append(f"{attempt.instead}\n  {found}\n  not {expected} of {attempt.text}")
