"""A `pa.Table` whose rows are replaced while DuckDB has it registered.

To register a relation makes a view in DuckDB's catalog, and to drop it is another change there:
together as dear as to compute a small query. A view that reads a `ReplaceableTable` stays, and each
query puts its own rows behind it.

DuckDB reads the four members that `sized_stream` names, at each statement anew. Nothing promises
that; so a process asks its DuckDB once, `reads_replaced`, and registers relations one by one where
it is otherwise.
"""

import struct
from typing import TYPE_CHECKING

import pyarrow as pa

from pykudu_sql.engine.relations.sized_stream import close_inherited

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection

_PROBE = "__replaceable_probe"


class ReplaceableTable(pa.Table):  # type: ignore[misc]
    """The rows of a table, or of a `SizedStream`, that can be replaced by others of one schema.

    Attributes:
        row_schema: of all of them.
    """

    def __init__(self, schema: pa.Schema) -> None:
        """It has no rows yet."""
        self.row_schema = schema
        self._rows: pa.Table | None = None

    def put(self, rows: pa.Table) -> None:
        """Replace the rows."""
        self._rows = rows

    def clear(self) -> None:
        """Let go of the rows; until there are others it must not be read."""
        self._rows = None

    def _current(self) -> pa.Table:
        if self._rows is None:
            raise TypeError("a relation is read outside of its query")
        return self._rows

    @property
    def num_rows(self) -> int:
        return len(self._current())

    def __len__(self) -> int:
        return len(self._current())

    def select(self, columns: "Sequence[int]") -> pa.Table:
        return self._current().select(columns)

    def __arrow_c_schema__(self) -> object:
        return self.row_schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._current().__arrow_c_stream__(requested_schema)


close_inherited(ReplaceableTable)


def reads_replaced(connection: "DuckDBPyConnection") -> bool:
    """Whether a DuckDB reads the rows and the row count that a registered table has by then."""
    import duckdb

    schema = pa.schema([("a", pa.int64()), ("b", pa.int64())])
    table = ReplaceableTable(schema)
    answers: list[object] = []
    try:
        for rows in (3, 2):
            numbers = pa.py_buffer(struct.pack(f"={rows}q", *range(rows)))
            array = pa.Array.from_buffers(pa.int64(), rows, [None, numbers])
            table.put(pa.Table.from_arrays([array, array], schema=schema))
            if not answers:
                connection.register(_PROBE, table)
            answers += connection.execute(f"SELECT sum(b), count(*) FROM {_PROBE}").fetchall()
        connection.unregister(_PROBE)
    except (duckdb.Error, TypeError, AttributeError, ValueError):
        return False
    return answers == [(3, 3), (1, 2)]
