"""Bounds of integers that large relations are joined by.

DuckDB finds the rows of a join in an array instead of a hash table where it knows the bounds of
both columns and those of the smaller side lie close together: three times as fast. Of its own
tables it has statistics; of rows that come as Arrow it has none. So the columns of such a join are
told what their integers lie below (`query_engine.with_limits`).

That pays where one side has many rows and the other few keys. It changes no answer.
"""

from collections import Counter
from collections.abc import Mapping

import pyarrow as pa

from pykudu_sql.engine.query_engine import Relation, with_limits
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.plan.query_plans import RuntimeFilter
from pykudu_sql.storage.common.types import compute as pc

LEAST_ROWS = 100_000  # of the larger side
_MOST_KEYS = 500_000  # DuckDB's array has a place for each number between the bounds, a million
_ROUNDED = 1 << 18  # up to here limits are powers of two, which stay as rows come
_MOST_LIMIT = 1 << 62


def bounded_relations(query: Query, relations: Mapping[str, Relation]) -> Mapping[str, Relation]:
    """Relations of a query, of which columns that it joins by have limits."""
    limits: dict[str, dict[str, int]] = {}
    for join in _joins(query):
        sides = _sides(query, join, relations)
        if sides is None:
            continue
        (small, small_name, small_column), (large, large_name, large_column) = sides
        below = _limit(small.column(small_column))
        if below is None or below > _MOST_KEYS:
            continue
        other = _limit(large.column(large_column))
        if other is not None:
            limits.setdefault(small_name, {})[small_column] = below
            limits.setdefault(large_name, {})[large_column] = other
    if not limits:
        return relations
    return {
        name: with_limits(relation, limits[name]) if name in limits else relation
        for name, relation in relations.items()
    }


def _joins(query: Query) -> list[RuntimeFilter]:
    """The equalities that filter both sides, as those of inner joins do, each once; one alone
    between two scans, since DuckDB's array is for one."""
    filters = query.runtime_filters
    every = set(filters)
    both_ways = [
        each
        for each in filters
        if each.source < each.target
        and RuntimeFilter(each.target, each.target_id, each.source, each.source_id) in every
    ]
    count = Counter((each.source, each.target) for each in both_ways)
    return [each for each in both_ways if count[each.source, each.target] == 1]


_Side = tuple[pa.Table, str, str]


def _sides(
    query: Query, join: RuntimeFilter, relations: Mapping[str, Relation]
) -> tuple[_Side, _Side] | None:
    """The tables of a join, their names and its columns, that with fewer rows first."""
    sides: list[_Side] = []
    for name, column_id in ((join.source, join.source_id), (join.target, join.target_id)):
        scan = next(each for each in query.scans if each.name == name)
        column, rows = scan.table.schema.by_id[column_id], relations[name]
        if not isinstance(rows, pa.Table) or not pa.types.is_integer(
            rows.schema.field(column.name).type
        ):
            return None
        sides.append((rows, name, column.name))
    one, other = sorted(sides, key=lambda side: side[0].num_rows)
    return (one, other) if other[0].num_rows >= LEAST_ROWS else None


def _limit(column: pa.ChunkedArray) -> int | None:
    """A number that is greater than the absolute value of all others; None if there is none."""
    ends = pc.min_max(column)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low is None:
        return 1
    greatest = max(-low, high)
    rounded = 1 << greatest.bit_length()
    if greatest < _MOST_KEYS and rounded > _ROUNDED:
        return int(greatest) + 1
    return rounded if rounded <= _MOST_LIMIT else None
