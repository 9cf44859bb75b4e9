"""Streams whose row count DuckDB knows, as `pa.Table`s of which it reads four members.

Joins over streams of unknown length come out up to forty times slower, for DuckDB plans with one
row. Of a `pa.Table` it asks `len` and `__arrow_c_schema__` while it binds, and `select` and
`__arrow_c_stream__` for each mention in a query, when that runs. (`len` of a `pa.Table` is its
`num_rows`.) A subclass with these is a stream that is planned as a table, of which the columns that
matter are read.

Nothing in DuckDB's documentation promises that. So the first stream of a process asks a DuckDB of
its own whether it is so; if not, all are registered as plain streams, whose answers are the same.

Inherited members would read a table that is not there, and end the process. They raise TypeError
here, and only the engine sees such an object.
"""

import struct
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NoReturn

import pyarrow as pa

from pykudu_sql.engine.query_engine import Relation, RowStream
from pykudu_sql.engine.relations.vector_batches import (
    batches_in_vectors,
    table_in_vectors,
    vector_bytes,
)

_PROBED_ROWS = 7_654_321


class PlainStream:
    """A stream as any library reads it: all of its columns, of unknown length."""

    __slots__ = ("_columns", "_rows", "_size")

    def __init__(self, rows: RowStream, columns: Sequence[int], size: int) -> None:
        """Nothing is opened yet.

        `columns`: the places of those that are read; `size`: bytes of a vector of the engine.
        """
        self._rows = rows
        self._columns = columns
        self._size = size

    @property
    def _schema(self) -> pa.Schema:
        return pa.schema([self._rows.schema.field(index) for index in self._columns])

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        schema = self._schema
        batches = batches_in_vectors(self._rows.batches(self._columns), schema, self._size)
        reader = pa.RecordBatchReader.from_batches(schema, batches)
        return reader.__arrow_c_stream__(requested_schema)


class SizedStream(pa.Table):  # type: ignore[misc]
    """A stream that is planned as a table; see the head of this file."""

    def __init__(self, rows: RowStream, columns: Sequence[int], size: int) -> None:
        """Nothing is opened yet; see PlainStream."""
        self._rows = rows
        self._positions = columns
        self._size = size
        self._plain = PlainStream(rows, columns, size)

    @property
    def num_rows(self) -> int:
        return self._rows.row_count

    def __len__(self) -> int:
        return self.num_rows

    def select(self, columns: Sequence[int]) -> "SizedStream":
        positions = [self._positions[index] for index in columns]
        return SizedStream(self._rows, positions, self._size)

    def __arrow_c_schema__(self) -> object:
        return self._plain.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._plain.__arrow_c_stream__(requested_schema)


def _refuse(stand_in: pa.Table) -> NoReturn:
    raise TypeError("a stream has no rows of a table")


def close_inherited(stand_in: type[pa.Table]) -> None:
    """Put a refusal in place of every member of a subclass that reads the table of a `pa.Table`."""
    for name in dir(pa.Table):
        inherited = getattr(pa.Table, name)
        if name in stand_in.__dict__ or inherited is getattr(object, name, None):
            continue
        if name not in ("__new__", "__pyx_vtable__", "__init_subclass__", "__subclasshook__"):
            plain = getattr(object, name, None)
            setattr(stand_in, name, property(_refuse) if plain is None else plain)


close_inherited(SizedStream)


def registered(relation: Relation, size: int) -> "pa.Table | PlainStream":
    """What DuckDB registers as a relation. `size`: bytes of a vector of the engine."""
    if isinstance(relation, pa.Table):
        return table_in_vectors(relation, size)
    stream = SizedStream if reads_sizes() else PlainStream
    return stream(relation, range(len(relation.schema)), size)


class _Probe:
    """A stream of three rows that claims to have more, and notes what is read."""

    schema = pa.schema([("a", pa.int64()), ("b", pa.int64())])
    row_count = _PROBED_ROWS
    row_bytes = 16.0

    def __init__(self) -> None:
        self.opened: list[list[int]] = []

    def batches(self, columns: Sequence[int]) -> Iterator[pa.RecordBatch]:
        self.opened.append(list(columns))
        # Buffers, for to take Python's values Arrow loads pandas, which takes a fifth of a second.
        numbers = pa.py_buffer(struct.pack("=6q", 1, 2, 3, 10, 20, 30))
        arrays = [pa.Array.from_buffers(pa.int64(), 3, [None, numbers], offset=o) for o in (0, 3)]
        yield pa.RecordBatch.from_arrays(arrays, schema=self.schema).select(columns)


@cache
def reads_sizes() -> bool:
    """Whether the DuckDB that is installed plans a `SizedStream` as a table and reads its rows."""
    import duckdb

    probe = _Probe()
    try:
        with duckdb.connect(":memory:", config={"threads": 1}) as connection:
            connection.register("probe", SizedStream(probe, (0, 1), vector_bytes(0)))
            query = connection.sql("SELECT sum(b), count(*) FROM probe")
            plan = connection.execute("EXPLAIN (FORMAT json) SELECT b FROM probe").fetchall()
            was_opened = bool(probe.opened)
            answer = query.fetchall()
    except (duckdb.Error, TypeError, AttributeError, ValueError):
        return False
    is_planned = str(_PROBED_ROWS) in plan[0][1]
    return is_planned and not was_opened and answer == [(60, 3)] and probe.opened == [[1]]
