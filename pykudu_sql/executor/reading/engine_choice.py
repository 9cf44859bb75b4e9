"""Which engine answers a query, as a value: the executor follows it, EXPLAIN prints it."""

from collections.abc import Mapping

from pykudu_sql.dataclass import dataclass
from pykudu_sql.engine.query_engine import EngineResult, QueryEngine
from pykudu_sql.engine.relations.stored_relation import StoredRelation


@dataclass(frozen=True, slots=True)
class OnSpark:
    """A query that Spark is to run.

    Attributes:
        sql: in Spark's dialect.
        relations: what it reads, by the names in the text.
        shape: no rows of the result, with its types.
    """

    engine: QueryEngine[StoredRelation]
    sql: str
    relations: Mapping[str, StoredRelation]
    shape: EngineResult


@dataclass(frozen=True, slots=True)
class Embedded:
    """A query that stays with the embedded engine, and why."""

    reason: str


EngineChoice = OnSpark | Embedded
