"""The other side: plain tables in DuckDB or SQLite, and answers that can be compared."""

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

import duckdb

import pykudu_sql

Run = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
Answer = Counter[tuple[Any, ...]] | str

_EXACT = Context(prec=100)
_LIMIT = re.compile(r" LIMIT (\d+)$")
_DUCKDB_SETTINGS = (
    "SET default_null_order = 'nulls_last_on_asc_first_on_desc'",
    "SET error_on_division_by_zero = false",
    "SET ieee_floating_point_ops = false",
    "SET TimeZone = 'UTC'",
)


@dataclass(frozen=True, slots=True)
class Oracle:
    """A database that is believed.

    Attributes:
        run: a statement and its parameters to rows.
        close: gives it up.
        types: what it calls our types where the names differ.
    """

    run: Run
    close: Callable[[], None]
    types: dict[str, str]


def duckdb_oracle() -> Oracle:
    """DuckDB over its own tables in memory."""
    connection = duckdb.connect()
    for setting in _DUCKDB_SETTINGS:
        connection.execute(setting)
    return Oracle(
        lambda sql, values: connection.execute(sql, [_exact(v) for v in values]).fetchall(),
        connection.close,
        {"STRING": "VARCHAR", "BINARY": "BLOB"},
    )


def _exact(value: Any) -> Any:
    """A value as DuckDB takes it without a detour over doubles."""
    is_wide = isinstance(value, Decimal) and max(len(f"{value:f}"), -value.adjusted()) > 18
    return f"{value:f}" if is_wide else value


def sqlite_oracle() -> Oracle:
    """SQLite in memory; LIKE tells case apart, as ours does."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("PRAGMA case_sensitive_like = ON")
    return Oracle(
        lambda sql, values: connection.execute(sql, tuple(values)).fetchall(),
        connection.close,
        {"STRING": "TEXT", "BINARY": "BLOB"},
    )


def answer(run: Run, sql: str, values: Sequence[Any]) -> Answer:
    """The rows as a bag, or the error's text."""
    try:
        return Counter(tuple(map(_plain, row)) for row in run(sql, tuple(values)))
    except (duckdb.Error, sqlite3.Error, pykudu_sql.DatabaseError) as error:
        return f"{type(error).__name__}: {error}"


def is_mistaken(sql: str, answer: Answer) -> bool:
    """Whether it is one of DuckDB's own mistakes over its own tables.

    It fails inside where it folds some functions, and forgets a LIMIT where it takes a join with a
    side that statistics show to be empty for one of few rows.
    """
    if isinstance(answer, str):
        return "BindBuiltinScalarFunction did not return" in answer
    limit = _LIMIT.search(sql)
    return limit is not None and sum(answer.values()) > int(limit.group(1))


def _plain(value: Any) -> Any:
    """A value that compares equal to the same value of the other side."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    return _EXACT.normalize(value) if isinstance(value, Decimal) else value
