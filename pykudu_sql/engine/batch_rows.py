"""How many rows of a result the engine hands over at once: by bytes, never by rows alone.

The engine makes a batch before anybody can look at it, so its rows are judged beforehand: a row of
the result is taken for as wide as a row of each relation that the query names, as often as it
names it, and the longest text that the query itself has; for a multiple where it has more columns
of texts and the like than they have. Functions that make more of a text than that are guarded
(`value_guard`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pykudu_sql.engine.relations.vector_batches import Width
from pykudu_sql.planner.parse.lexer import quote_name
from pykudu_sql.storage.common.row_allowance import rows_within

_LEAST_ROWS = 16
_MOST_BYTES = 16 << 20
_ENGINE_SHARE = 16
_LONG_QUERY = 4096
_SIZED = frozenset({"varchar", "blob", "list", "struct", "map", "union", "array", "variant"})


def rows_of_batch(
    types: Iterable[Any],
    widths: Mapping[str, Width],
    sql: str,
    parameters: Sequence[Any],
    memory_limit: int,
    most: int,
) -> int:
    """Rows of a batch.

    Args:
        types: DuckDB's, of the result's columns.
        widths: of a row of each relation that the query reads.
        sql, parameters: of the query.
        memory_limit: bytes that the engine may use, 0 for its own default.
        most: rows of a batch that is narrow.
    """
    sized = sum(kind.id in _SIZED for kind in types)
    if not sized:
        return most
    read = [(_mentions(sql, name), each) for name, each in widths.items()]
    row_bytes = sum(mentions * each.row_bytes for mentions, each in read)
    columns = sum(mentions * each.sized_columns for mentions, each in read)
    width = _longest(sql, parameters) + row_bytes * max(1.0, sized / max(1, columns))
    size = min(_MOST_BYTES, memory_limit // _ENGINE_SHARE) if memory_limit else _MOST_BYTES
    return max(_LEAST_ROWS, rows_within(size, width, most))


def _mentions(sql: str, name: str) -> int:
    """How often a query reads a relation: joined with itself, its rows have a multiple."""
    quoted = quote_name(name)
    return max(1, sql.count(quoted) - sql.count(f"{quoted}."))


def _longest(sql: str, parameters: Sequence[Any]) -> int:
    """Characters of the longest text of a query."""
    longest = max((len(p) for p in parameters if isinstance(p, str | bytes)), default=0)
    return longest if len(sql) < _LONG_QUERY else max(longest, *map(len, sql.split("'")))
