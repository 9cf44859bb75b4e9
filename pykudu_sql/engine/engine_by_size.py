"""A session's queries in two DuckDBs: one that works in the caller's thread, one with threads.

A DuckDB with several threads hands the parts of every query to them, whatever its size: a thread
is woken, and waited for. Of a query over few rows that is a fifth of the time, and to compute them
is too little to be shared: DuckDB itself cuts tables into row groups of 122,880 rows, each for one
thread. So what is small is computed by a DuckDB that has no threads.

Each of the two is opened by the first query that it gets.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pykudu_sql.engine.operators import Operator
from pykudu_sql.engine.query_engine import EngineResult, EngineStream, Relation

if TYPE_CHECKING:
    from pykudu_sql.engine.duckdb_engine import DuckDBEngine
    from pykudu_sql.storage.common.progress import Counter

SMALL_ROWS = 50_000  # of all relations of a query
_SMALL_BYTES = 16 << 20
_ROW_MAKERS = re.compile(r"\b(?:range|generate_series|unnest|recursive)\b", re.IGNORECASE)


class EngineBySize:
    """Two engines as one; a `StreamingEngine`.

    Attributes:
        vector_bytes, state_bytes: see StreamingEngine.
    """

    def __init__(self, small: "DuckDBEngine", large: "DuckDBEngine") -> None:
        """`small`: for what one thread computes; the other may use what `small` may, and more."""
        self._small = small
        self._large = large

    @property
    def vector_bytes(self) -> int:
        """See StreamingEngine."""
        return self._large.vector_bytes

    @property
    def state_bytes(self) -> int:
        """See StreamingEngine."""
        return self._large.state_bytes

    def _engine(self, sql: str, relations: Mapping[str, Relation]) -> "DuckDBEngine":
        return self._small if is_small(sql, relations) else self._large

    def execute(
        self, sql: str, relations: Mapping[str, Relation], parameters: Sequence[Any]
    ) -> EngineResult:
        """See QueryEngine."""
        return self._engine(sql, relations).execute(sql, relations, parameters)

    def stream(
        self,
        sql: str,
        relations: Mapping[str, Relation],
        parameters: Sequence[Any],
        most: float,
        counter: "Counter",
    ) -> EngineStream:
        """See StreamingEngine."""
        return self._engine(sql, relations).stream(sql, relations, parameters, most, counter)

    def signatures(self) -> Sequence[tuple[str, tuple[str, ...]]]:
        """See StreamingEngine."""
        return self._small.signatures()

    def planned(
        self, sql: str, relations: Mapping[str, Relation], parameters: Sequence[Any]
    ) -> Operator | None:
        """See StreamingEngine."""
        return self._engine(sql, relations).planned(sql, relations, parameters)

    def profiled(
        self, sql: str, relations: Mapping[str, Relation], parameters: Sequence[Any]
    ) -> Operator | None:
        """See StreamingEngine."""
        return self._engine(sql, relations).profiled(sql, relations, parameters)

    def interrupt(self) -> None:
        """See QueryEngine."""
        self._small.interrupt()
        self._large.interrupt()

    def close(self) -> None:
        """See QueryEngine."""
        self._small.close()
        self._large.close()


def is_small(sql: str, relations: Mapping[str, Relation]) -> bool:
    """Whether one thread computes a query as fast as several, as far as its rows tell.

    A stream is not small, nor is what makes rows of nothing.
    """
    rows = size = 0
    for relation in relations.values():
        if not isinstance(relation, pa.Table):
            return False
        rows += relation.num_rows
        if rows > SMALL_ROWS:
            return False
        size += relation.nbytes
    return size <= _SMALL_BYTES and not _makes_rows(sql)


@lru_cache(maxsize=256)
def _makes_rows(sql: str) -> bool:
    return _ROW_MAKERS.search(sql) is not None
