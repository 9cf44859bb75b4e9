"""UPDATE and DELETE of very many rows: delta files that are written before their commit.

The changes of one statement to one rowset are one REDO file, in the staging folder and without a
time. It takes the place of `AddressedOperations` in memory: its ordinals stay true as long as the
rowset does, and where that is gone the rows are found by their keys, file by file. Rows of a
MemRowSet have no files; their changes stay in memory, as they do themselves.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.row_allowance import rows_within
from pykudu_sql.storage.common.rows.distinct_integers import distinct_integers
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.common.types.hybrid_time import UNCOMMITTED, SnapshotBound
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import (
    Deltas,
    Ordinals,
    last_of_each,
    merge_redo,
    select,
    shifted,
    uniform_deltas,
)
from pykudu_sql.storage.tablet.delta.deltafile import REDO, DeltaFile
from pykudu_sql.storage.tablet.files.staged_files import (
    StagedFiles,
    open_staged_deltas,
    write_deltas,
)
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.locator import Located
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.write.addressed_operations import AddressedOperations, AnyRowSet
from pykudu_sql.storage.tablet.write.keyed_operations import KeyedOperations


@dataclass(frozen=True, slots=True)
class StagedDeltas:
    """The changes of one statement to living rows of one rowset, each once.

    `rowset`: that has the rows; `file`: of the changes, all of one kind.
    """

    rowset: DiskRowSet
    file: DeltaFile

    @property
    def rows(self) -> int:
        """How many rows are changed."""
        return self.file.meta.stats.records

    @property
    def cell_bytes(self) -> int:
        """What the texts that they set take in memory."""
        return sum(map(self.file.cell_bytes, self.file.meta.stats.updates))

    @property
    def ordinals(self) -> Ordinals:
        """Of the rows, ascending and distinct, int64[n]."""
        return self.file.deltas(()).ordinals

    @property
    def file_numbers(self) -> Sequence[int]:
        """Of the files that hold the changes."""
        return (self.file.meta.number,)

    def in_memory(self) -> AddressedOperations:
        """The changes, in memory."""
        return _operations(self.rowset, self.file.deltas())

    def moved(self, rowset: AnyRowSet) -> "StagedDeltas":
        """The same changes of the rowset as it is now."""
        assert isinstance(rowset, DiskRowSet)
        return StagedDeltas(rowset, self.file)

    def is_changed(self, tablet: Tablet, bound: SnapshotBound) -> bool:
        """Whether some commit at or after a bound touched one of the rows, wherever it is now."""
        return _operations(self.rowset, self.file.deltas(())).is_changed(tablet, bound)


StagedPart = StagedDeltas | AddressedOperations


@dataclass(frozen=True, slots=True)
class StagedChanges:
    """The changes of one large statement to one tablet. `parts`: no two have a row in common."""

    parts: Sequence[StagedPart]


def stage(tablet: Tablet, operations: AddressedOperations, staged: StagedFiles) -> StagedPart:
    """Write operations to a file, if they are for rows on disk.

    Args:
        tablet: theirs.
        operations: at least one; they change something.
        staged: takes the file.

    Raises DiskError: the disk refused.
    """
    rowset = operations.rowset
    if isinstance(rowset, MemRowSet):
        return operations
    (meta,) = write_deltas(tablet.files, staged, REDO, _deltas(operations), tablet.types)
    return StagedDeltas(rowset, open_staged_deltas(tablet.files, meta, rowset.meta.rows))


def merge_parts(
    tablet: Tablet, parts: Sequence[StagedPart], staged: StagedFiles, most_bytes: int
) -> Sequence[StagedPart]:
    """The changes of one statement to one rowset as one, or as several of other rows each; of a row
    that is there several times the last counts.

    Args:
        tablet: the rowset's.
        parts: in the order of their making; at least one.
        staged: takes the files, where others are written.
        most_bytes: of texts in memory that are merged at once.

    Raises DiskError: the disk refused; CorruptionError: a file is not what was written.
    """
    if len(parts) == 1:
        return parts
    on_disk = [part for part in parts if isinstance(part, StagedDeltas)]
    if not on_disk:
        in_memory = [part for part in parts if isinstance(part, AddressedOperations)]
        return [_merged(tablet, list(map(_deltas, in_memory)), parts, staged)]
    rows = distinct_integers(np.concatenate([part.ordinals for part in on_disk]))
    width = sum(part.cell_bytes for part in on_disk) / len(rows)
    firsts = rows[:: rows_within(most_bytes, width, len(rows))].tolist()
    pieces = []
    for start, stop in pairwise([*firsts, int(rows[-1]) + 1]):
        ids = {i for part in on_disk for i in part.file.meta.stats.updates}
        deltas = [part.file.rows_between(start, stop, ids) for part in on_disk]
        moved = [shifted(each, start) for each in deltas if len(each)]
        pieces.append(_merged(tablet, moved, parts, staged))
    return pieces


def _merged(
    tablet: Tablet, deltas: Sequence[Deltas], parts: Sequence[StagedPart], staged: StagedFiles
) -> StagedPart:
    """Deltas of one rowset as one part, each row once; `parts`: of the rowset."""
    merged = merge_redo(deltas)
    last = last_of_each(merged.ordinals)
    distinct = merged if last.all() else select(merged, last)
    return stage(tablet, _operations(parts[0].rowset, distinct), staged)


def keyed_to_addressed(batch: KeyedOperations, located: Located) -> Iterator[AddressedOperations]:
    """Operations by key as operations on the rows that are alive, by rowset."""
    for index in np.unique(located.where[located.alive]):
        rowset = located.rowsets[index]
        assert isinstance(rowset, MemRowSet | DiskRowSet)
        indices = np.flatnonzero(located.alive & (located.where == index))
        indices = indices[np.argsort(located.ordinals[indices])]
        columns = {i: batch.operations.columns[i].take(integers(indices)) for i in batch.set_ids}
        yield AddressedOperations(batch.kind, columns, rowset, located.ordinals[indices])


def _deltas(operations: AddressedOperations) -> Deltas:
    """Operations as uncommitted REDO deltas."""
    kind, columns = operations.delta_kind, operations.columns
    return uniform_deltas(kind, operations.ordinals, columns, UNCOMMITTED)


def _operations(rowset: AnyRowSet, deltas: Deltas) -> AddressedOperations:
    """Deltas of one kind, each of which sets the same columns, as operations."""
    is_delete = int(deltas.kinds[0]) == DeltaKind.DELETE
    kind = RowOpKind.DELETE if is_delete else RowOpKind.UPDATE_IGNORE
    columns = {i: cells.values for i, cells in deltas.cells.items()}
    return AddressedOperations(kind, columns, rowset, deltas.ordinals)
