"""Rows with their history, wherever they were stored: what flush and compaction hand on.

    columns      each row's latest image
    undo         the way back from it, to the ancient history mark and no further
    inserted_at  when the row was inserted, where the way back does not end with that
    deleted_at   when the row died, if it is a ghost

Most rows were inserted and never changed. An array of their times is carried through a merge at a
fraction of what a record of the way back for each of them would cost.

Rows are gathered as late as possible: a slice names the pieces of columns that its rows lie in, and
their indices there, so that merging many rowsets copies each cell once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import combine, plain
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import (
    Deltas,
    Ordinals,
    Timestamps,
    between,
    merge_undo,
    select,
)


class ColumnPiece(Protocol):
    """Columns of neighbouring rows, by column id."""

    @property
    def rows(self) -> int:
        """How many there are."""

    def __getitem__(self, column_id: int, /) -> pa.Array: ...

    def __iter__(self) -> Iterator[int]: ...

    def __len__(self) -> int: ...

    def slice(self, start: int, stop: int) -> "ColumnPiece":
        """The rows start <= place < stop; of columns that lie elsewhere no more is read."""


class ColumnsInMemory(Mapping[int, pa.Array]):
    """A piece whose columns are in memory. `rows`: how many it has."""

    def __init__(self, columns: Mapping[int, pa.Array]) -> None:
        """A piece of at least one column."""
        self.rows = len(next(iter(columns.values())))
        self._columns = columns

    def __getitem__(self, column_id: int, /) -> pa.Array:
        return self._columns[column_id]

    def __iter__(self) -> Iterator[int]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def slice(self, start: int, stop: int) -> "ColumnsInMemory":
        return ColumnsInMemory({i: a.slice(start, stop - start) for i, a in self._columns.items()})


class ColumnGather(Mapping[int, pa.Array]):
    """Selected rows of columns that consist of pieces; each read of a column gathers it."""

    def __init__(self, pieces: Sequence[ColumnPiece], indices: Ordinals | None) -> None:
        """Describe the rows; nothing is copied yet.

        Args:
            pieces: at least one, each with the same columns.
            indices: of the rows in the concatenated pieces; None for all of them in order.
        """
        self.pieces = pieces
        self.indices = indices
        self._arrow_indices = None if indices is None else integers(indices.astype(np.uint32))

    def __getitem__(self, column_id: int) -> pa.Array:
        joined = join([piece[column_id] for piece in self.pieces])
        return joined if self._arrow_indices is None else pc.pick(joined, self._arrow_indices)

    def __iter__(self) -> Iterator[int]:
        return iter(self.pieces[0])

    def __len__(self) -> int:
        return len(self.pieces[0])

    @property
    def rows(self) -> int:
        """In all pieces together, gathered or not."""
        return sum(piece.rows for piece in self.pieces)

    def part(self, start: int, stop: int) -> "ColumnGather":
        """The rows from start to before stop, at least one, out of no more of each piece."""
        if self.indices is None:
            return self._stretch(start, stop)
        positions = self.indices[start:stop]
        indices = np.empty(len(positions), np.int64)
        pieces: list[ColumnPiece] = []
        before = length = 0
        for piece in self.pieces:
            mine = np.flatnonzero((positions >= before) & (positions < before + piece.rows))
            if len(mine):
                local = positions[mine] - before
                first, end = int(local.min()), int(local.max()) + 1
                indices[mine] = local + (length - first)
                pieces.append(piece.slice(first, end))
                length += end - first
            before += piece.rows
        return ColumnGather(pieces, indices)

    def _stretch(self, start: int, stop: int) -> "ColumnGather":
        pieces: list[ColumnPiece] = []
        before = 0
        for piece in self.pieces:
            first, end = max(start - before, 0), min(stop - before, piece.rows)
            if first < end:
                pieces.append(piece.slice(first, end))
            before += piece.rows
        return ColumnGather(pieces, None)


def gather(batches: Sequence[ColumnGather], indices: Ordinals | None = None) -> ColumnGather:
    """The rows of some batches one behind another, or some of them.

    `batches`: at least one; `indices`: into the rows of all batches; None for all.
    """
    pieces = [piece for batch in batches for piece in batch.pieces]
    if all(batch.indices is None for batch in batches):
        return ColumnGather(pieces, indices)
    starts = np.cumsum([0, *(batch.rows for batch in batches)])
    everything = np.concatenate(
        [
            start + (np.arange(batch.rows) if batch.indices is None else batch.indices)
            for start, batch in zip(starts, batches, strict=False)
        ]
    )
    return ColumnGather(pieces, everything if indices is None else everything[indices])


@dataclass(frozen=True, slots=True)
class RowSlice:
    """Rows with their history.

    Attributes:
        keys: encoded, ascending.
        columns: the latest image, by column id.
        undo: in UNDO order, by ordinals within the slice; nothing below the mark.
        deleted_at: hybrid time of each row's death, 0 for one alive, uint64[n].
        inserted_at: hybrid time of each row's insertion; 0 where `undo` has it, or where it was
            before the mark, uint64[n].
    """

    keys: EncodedKeys
    columns: ColumnGather
    undo: Deltas
    deleted_at: Timestamps
    inserted_at: Timestamps


def way_back(undo: Deltas, inserted_at: Timestamps) -> Deltas:
    """The way back from some rows with a record for every insertion, in UNDO order.

    `undo`, `inserted_at`: see `RowSlice`.
    """
    rows = np.flatnonzero(inserted_at)
    kinds = np.full(len(rows), int(DeltaKind.DELETE), np.uint8)
    return merge_undo([undo, Deltas(rows, inserted_at[rows], kinds, {})])


def with_insertions(rows: RowSlice) -> RowSlice:
    """The same rows, whose way back has every insertion."""
    undo = way_back(rows.undo, rows.inserted_at)
    return replace(rows, undo=undo, inserted_at=np.zeros_like(rows.inserted_at))


def part_of(rows: RowSlice, start: int, stop: int) -> RowSlice:
    """The rows start <= ordinal < stop of a slice."""
    return RowSlice(
        rows.keys.slice(start, stop),
        rows.columns.part(start, stop),
        between(rows.undo, start, stop),
        rows.deleted_at[start:stop],
        rows.inserted_at[start:stop],
    )


def choose_rows(rows: RowSlice, selection: Ordinals) -> RowSlice:
    """Some rows of a slice, by ascending indices."""
    if len(selection) == len(rows.keys):
        return rows
    new_ordinals = np.full(len(rows.keys), -1, np.int64)
    new_ordinals[selection] = np.arange(len(selection), dtype=np.int64)
    ordinals = new_ordinals[rows.undo.ordinals]
    undo = Deltas(ordinals, rows.undo.timestamps, rows.undo.kinds, rows.undo.cells)
    return RowSlice(
        rows.keys.take(selection),
        gather([rows.columns], selection),
        select(undo, ordinals >= 0),
        rows.deleted_at[selection],
        rows.inserted_at[selection],
    )


def join(arrays: Sequence[pa.Array]) -> pa.Array:
    """Arrays of one column as one; a dictionary array where all of them are."""
    if len(arrays) == 1:
        return arrays[0]
    if all(pa.types.is_dictionary(array.type) for array in arrays):
        # Codes are as narrow as each file's dictionary permits; together they may need more.
        wide = [
            pa.DictionaryArray.from_arrays(array.indices.cast(pa.int32()), array.dictionary)
            for array in arrays
        ]
        return combine(pa.chunked_array(wide).unify_dictionaries())
    return combine(pa.chunked_array([plain(array) for array in arrays]))
