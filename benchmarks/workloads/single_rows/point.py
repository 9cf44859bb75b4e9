"""Single rows by key through each engine's DB-API, one statement a transaction.

The table holds a million narrow rows. Reading is hot. Writing is not durable: SQLite runs with
synchronous=OFF and DuckDB, which cannot be told so, in memory.
"""

from benchmarks.harness import Goal, Race
from benchmarks.workbench import Workbench
from benchmarks.workloads.single_rows.statements import (
    Statement,
    counting,
    inserting,
    listing,
    selecting,
    updating,
    upserting,
)


def point_select(bench: Workbench) -> Race:
    """One operation: execute and fetchone of one row by its key."""
    return _race(bench, "point_select", "SELECT of 3 columns by key, hot", selecting)


def point_insert(bench: Workbench) -> Race:
    """One operation: INSERT of one row with a new key."""
    return _race(bench, "point_insert", "INSERT of one row, autocommit, not durable", inserting)


def point_update(bench: Workbench) -> Race:
    """One operation: UPDATE of two columns of one row by its key."""
    return _race(bench, "point_update", "UPDATE of 2 columns, autocommit, not durable", updating)


def point_count(bench: Workbench) -> Race:
    """One operation: UPDATE of one row by its key and by what it holds."""
    title = "UPDATE of 2 columns by what the row holds, autocommit, not durable"
    return _race(bench, "point_count", title, counting)


def point_upsert(bench: Workbench) -> Race:
    """One operation: INSERT .. ON CONFLICT DO UPDATE of one row that is there."""
    return _race(bench, "point_upsert", "ON CONFLICT DO UPDATE, autocommit, not durable", upserting)


def newest_rows(bench: Workbench) -> Race:
    """One operation: the ten rows with the greatest keys."""
    return _race(bench, "newest_rows", "ORDER BY key DESC LIMIT 10, hot", listing, 1.0)


def _race(
    bench: Workbench, name: str, title: str, statement: Statement, goal: float = 10.0
) -> Race:
    return Race(
        name=name,
        title=f"{title}; {bench.point_rows:,} rows, DB-API, duckdb in memory",
        reference="duckdb",
        contestants=[
            statement(peer, bench.with_points(peer, durable=False), bench.point_rows)
            for peer in bench.among("pykudu", "duckdb", "sqlite")
        ],
        rounds=bench.rounds or 7,
        turn_seconds=0.25,
        goals=[Goal("pykudu", "duckdb", goal)],
    )
