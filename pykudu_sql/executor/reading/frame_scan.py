"""A frame of the program as a relation of the engine: its rows, or a stream that reads them."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from pykudu_sql.engine.query_engine import Relation
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.plan.frame_table import FrameRows, FrameTable
from pykudu_sql.storage.errors import InvalidSchemaError

_BYTES_OF_A_TEXT = 64.0


class FrameScan:
    """Some columns of a frame that is read anew whenever the engine reads it.

    `is_read_once`: see `FrameRows`; `failure`: the error that ended a reading early; the engine's
    own error hides it.
    """

    def __init__(self, rows: FrameRows, places: Sequence[int], state: SessionState) -> None:
        """Nothing is read yet. `places`: of the columns; `state`: whose statement reads."""
        self.schema = pa.schema([rows.schema.field(place) for place in places])
        self.row_count = rows.row_count
        self.row_bytes = float(sum(_cell_bytes(field.type) for field in self.schema))
        self.is_read_once = rows.is_read_once
        self.failure: Exception | None = None
        self._rows = rows
        self._places = places
        self._error_boundary = state.error_boundary

    def batches(self, columns: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """A new reading; see `RowStream`. What the frame's own code raises leaves as it is."""
        try:
            with self._error_boundary.program_code():
                yield from self._rows.batches([self._places[column] for column in columns])
        except Exception as error:
            self.failure = error
            raise


def _cell_bytes(kind: pa.DataType) -> float:
    """What a cell of a type takes in memory, about."""
    return kind.bit_width / 8 if pa.types.is_primitive(kind) else _BYTES_OF_A_TEXT


def frame_relation(state: SessionState, table: FrameTable, column_ids: Sequence[int]) -> Relation:
    """The rows of a frame.

    `column_ids`: of those wanted, in order. Raises InvalidSchemaError: one is of a type that no
    table has.
    """
    for column_id in column_ids:
        if column_id in table.unreadable:
            raise InvalidSchemaError(
                f"column '{table.schema.by_id[column_id].name:.80}' of '{table.name:.80}' is "
                f"{table.unreadable[column_id]:.80}, which no table takes",
                hint="name the other columns in place of *, or cast it in the program",
            )
    rows = table.rows
    if isinstance(rows, pa.Table):
        selected: Relation = rows.select(list(column_ids))
        return selected
    return FrameScan(rows, column_ids, state)
