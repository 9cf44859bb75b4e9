"""The RowSet: what scanner and writer need of a set of rows, in memory or on disk.

The small protocol behind `MemRowSet` and `DiskRowSet` (Kudu's `tablet/rowset.h` has thirty methods
there; the flush here knows the two classes by name instead). A row is addressed by its
ordinal, which stays the same for the rowset's life.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.keys.murmur import hash64_one
from pykudu_sql.storage.common.predicate.row_filter import RowFilter
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, Timestamp
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.delta.delta_view import DeltaView
from pykudu_sql.storage.tablet.delta.own_deltas import OwnDeltas
from pykudu_sql.storage.tablet.delta.row_change import RowChange


class KeyProbe:
    """One key in the forms that a look-up needs.

    Attributes:
        encoded: its order-preserving bytes.
        cells: its cells, in key order.
        was_sought: whether a rowset on disk was asked for it before.
    """

    __slots__ = ("_hash", "cells", "encoded", "was_sought")

    def __init__(self, encoded: bytes, cells: tuple[Cell, ...]) -> None:
        """See the attributes."""
        self.encoded = encoded
        self.cells = cells
        self.was_sought = False
        self._hash: int | None = None

    @property
    def hash(self) -> int:
        """The hash of the encoded bytes, for bloom filters: computed for the first that asks."""
        if self._hash is None:
            self._hash = hash64_one(self.encoded)
        return self._hash


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Some rows of a rowset, as a scan delivers them.

    `columns`: in the order of the scan's columns, `length` cells each; `length`: rows.
    """

    columns: Sequence[pa.Array]
    length: int


class TextForm(Enum):
    """How texts of a result come that are not in codes of a dictionary."""

    STRINGS = "strings"
    VIEWS = "views"  # Arrow's `string_view` where they are at hand as such, strings elsewhere


class RowSet(Protocol):
    """Rows of one tablet, distinct by key."""

    @property
    def id(self) -> int:
        """Distinguishes the rowset within its tablet, for ever."""

    def row_count(self, bound: SnapshotBound) -> int:
        """Rows that a snapshot may see; they are the ordinals below this number."""

    def find_one(self, probe: KeyProbe) -> int:
        """The ordinal of a key, alive or not, or -1."""

    def find(self, keys: EncodedKeys) -> Ordinals:
        """The ordinals of keys, alive or not, or -1, int64[n]."""

    def read_row(
        self,
        ordinal: int,
        columns: Sequence[ColumnSchema],
        bound: SnapshotBound,
        own: OwnDeltas | None,
    ) -> tuple[Cell, ...] | None:
        """A row's cells as a snapshot sees them, or None when it sees no such row."""

    def read_rows(
        self,
        ordinals: Ordinals,
        columns: Sequence[ColumnSchema],
        bound: SnapshotBound,
        own: OwnDeltas | None,
    ) -> list[pa.Array]:
        """Cells of some rows that a snapshot sees, a column each, without dictionaries.

        `ordinals`: of the rows, ascending, at least one; `own`: as for `scan`.
        """

    def scan(
        self,
        columns: Sequence[ColumnSchema],
        row_filter: RowFilter | None,
        bound: SnapshotBound,
        own: OwnDeltas | None,
        *,
        stretch: int | None = None,
        stats: ScanStats | None = None,
        cache_blocks: bool = True,
    ) -> Iterator[RowBlock]:
        """The rows that a snapshot sees and that match a filter; see `RowFilter.dense`.

        Args:
            columns: wanted, in order.
            row_filter: which rows matter; all when None.
            own: a transaction's uncommitted changes.
            stretch: so many rows are looked at in one go, and are in memory at once; as many as
                there are when None.
            stats: counts what is read and what is not.
            cache_blocks: whether the block cache keeps what is decoded (Kudu's `SetCacheBlocks`);
                a scan of more than it holds would only empty it.
        """

    def view(self, bound: SnapshotBound, own: OwnDeltas | None) -> DeltaView:
        """The combined effect of the rowset's deltas at a snapshot."""

    def changed_since(self, bound: SnapshotBound) -> npt.NDArray[np.bool_] | None:
        """Rows with a commit at or after a bound; None when there are none."""

    def mutate_one(
        self, ordinal: int, kind: DeltaKind, cells: Mapping[int, Cell], timestamp: Timestamp
    ) -> None:
        """Change one row."""

    def mutate(
        self,
        kind: DeltaKind,
        ordinals: Ordinals,
        columns: Mapping[int, pa.Array],
        timestamp: Timestamp,
    ) -> None:
        """Change many rows alike."""


def replay_changes(
    cells: Sequence[Cell] | None, columns: Sequence[ColumnSchema], changes: Sequence[RowChange]
) -> list[Cell] | None:
    """One row's cells after changes, oldest first; None stands for a row that is not there.

    Args:
        cells: the row before, in the order of `columns`.
        columns: whose cells are wanted.
        changes: what happened to it.
    """
    current = list(cells) if cells is not None else [c.read_default for c in columns]
    alive = cells is not None
    for change in changes:
        if change.kind is DeltaKind.DELETE:
            alive = False
            continue
        if change.kind is DeltaKind.REINSERT:
            alive = True
        if change.cells:
            for index, column in enumerate(columns):
                if column.id in change.cells:
                    current[index] = change.cells[column.id]
    return current if alive else None
