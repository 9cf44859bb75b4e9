"""The interface of an engine: one query over the relations it gets, as Arrow."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.engine.operators import Operator
from pykudu_sql.storage.common.progress import Counter


class RowStream(Protocol):
    """Rows that are read anew for each mention in a query, while it runs.

    Attributes:
        schema: of all its columns.
        row_count: how many they are about, for the engine's plan; nothing is wrong if it differs.
        row_bytes: what one takes in memory, about.
    """

    schema: pa.Schema
    row_count: int
    row_bytes: float

    def batches(self, columns: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """The rows from the first on; `columns`: the places of those wanted, in their order."""


Relation = pa.Table | RowStream

_LIMIT = b"pykudu_sql:limit"


def with_limits(table: pa.Table, limits: Mapping[str, int]) -> pa.Table:
    """A table that says of integer columns what their absolute values lie below, by their names.

    The engine may make use of it; it must be so.
    """
    schema = table.schema
    for name, limit in limits.items():
        index = schema.get_field_index(name)
        field = schema.field(index)
        schema = schema.set(index, field.with_metadata({_LIMIT: b"%d" % limit}))
    return pa.Table.from_arrays(table.columns, schema=schema)


def limits_of(schema: pa.Schema) -> dict[str, int]:
    """What the columns of a table say of themselves by `with_limits`."""
    return {
        field.name: int(field.metadata[_LIMIT])
        for field in schema
        if field.metadata is not None and _LIMIT in field.metadata
    }


@dataclass(frozen=True, slots=True)
class EngineResult:
    """The rows of a query.

    Attributes:
        table: its columns; names may repeat.
        types: their SQL types by our names. HUGEINT travels as decimal128(38, 0).
    """

    table: pa.Table
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EngineStream:
    """The rows of a query while they are computed.

    Attributes:
        schema: of the batches; names may repeat.
        types: SQL types of the columns, as in `EngineResult`.
        batches: the first ones.
        is_all: whether there are no others; the stream has closed itself then.
        read: the batch behind those and each later one, None at the end, when the stream closes
            itself; raises as `execute`.
        close: gives it up; closing twice is allowed.
    """

    schema: pa.Schema
    types: tuple[str, ...]
    batches: Sequence[pa.RecordBatch]
    is_all: bool
    read: Callable[[], pa.RecordBatch | None]
    close: Callable[[], None]


R = TypeVar("R", contravariant=True)


class QueryEngine(Protocol[R]):
    """Computes queries for one session, by one thread at a time.

    What it is handed as a relation is its own affair: the embedded engine takes rows (`Relation`),
    Spark takes the name of a table and a moment, for it reads the files itself.
    """

    def execute(
        self, sql: str, relations: Mapping[str, R], parameters: Sequence[Any]
    ) -> EngineResult:
        """Run one SELECT that the planner generated.

        Args:
            sql: in the engine's dialect, over the relations' names; parameters are `$1`, `$2`, ...
            relations: what it reads, by name.
            parameters: Python values of `$1`, `$2`, ...

        Raises DataError, ProgrammingError: a value or an expression does not fit;
        QueryCancelledError: `interrupt` was called; OperationalError: memory or disk ran out.
        """

    def interrupt(self) -> None:
        """Stop the query that runs, if one does. Called from another thread."""

    def close(self) -> None:
        """Give up what it holds for the session. Closing twice is allowed."""


class StreamingEngine(QueryEngine[R], Protocol[R]):
    """One that gives rows while it computes the others.

    Attributes:
        vector_bytes: of wide rows that it takes from a relation at once.
        state_bytes: that states of aggregates may take which it does not count.
    """

    @property
    def vector_bytes(self) -> int: ...

    @property
    def state_bytes(self) -> int: ...

    def stream(
        self,
        sql: str,
        relations: Mapping[str, R],
        parameters: Sequence[Any],
        most: float,
        counter: Counter,
    ) -> EngineStream:
        """Begin a SELECT as of `execute`; it goes on beside other queries of the session.

        Args:
            sql, relations, parameters: as of `execute`.
            most: bytes of its first batches; it pauses once they have more.
            counter: counts the rows as they come.
        """

    def signatures(self) -> Sequence[tuple[str, tuple[str, ...]]]:
        """The functions it has and the names of their arguments, a line for each form."""

    def planned(
        self, sql: str, relations: Mapping[str, R], parameters: Sequence[Any]
    ) -> Operator | None:
        """The operators that `execute` would run; of the relations no row is read.

        Returns None if they are no single tree. Raises as `execute`.
        """

    def profiled(
        self, sql: str, relations: Mapping[str, R], parameters: Sequence[Any]
    ) -> Operator | None:
        """The operators of a run whose rows nobody gets, with rows and times; see `planned`."""
