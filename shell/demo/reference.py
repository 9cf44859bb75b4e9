"""The reference of the demo: DuckDB runs the same queries over the source data.

This is the one module outside `pykudu_sql/engine` that imports DuckDB: a check of our answers must
not use our own engine.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa


class Reference:
    """DuckDB over the source tables, to which the demo's changes are applied by its own SQL."""

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        """Copy the source data in."""
        self._connection = duckdb.connect()
        for name, table in tables.items():
            self._connection.register(f"source_{name}", table)
            self._connection.execute(f"CREATE TABLE {name} AS SELECT * FROM source_{name}")
            self._connection.unregister(f"source_{name}")

    def change(self, sql: str) -> None:
        """Apply the change that a statement of the demo made."""
        self._connection.execute(sql)

    def answer(self, sql: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a query."""
        return self._connection.execute(sql).fetchall()

    def close(self) -> None:
        """Close DuckDB."""
        self._connection.close()


def same(ours: Sequence[tuple[Any, ...]], theirs: Sequence[tuple[Any, ...]]) -> bool:
    """Whether two results agree: equal rows in order, floating point to nine digits."""
    return len(ours) == len(theirs) and all(
        len(a) == len(b) and all(map(_equal, a, b)) for a, b in zip(ours, theirs, strict=True)
    )


def _equal(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float):
        return abs(ours - theirs) <= 1e-9 * max(1.0, abs(ours), abs(theirs))
    return bool(ours == theirs)
