"""UPDATE and DELETE of rows of one rowset that a scan has just found alive: nothing is looked up.

An ordinal stays true for as long as the rowset does, also through delta compactions, which give it
other files. Where the rowset is gone (a flush or a merging compaction took its rows elsewhere) the
rows are found by their keys, which it still has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.locator import OwnChanges, changed_keys, rowset_of
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.write.keyed_operations import KeyedOperations

AnyRowSet = MemRowSet | DiskRowSet


@dataclass(frozen=True, slots=True)
class AddressedOperations:
    """A batch of operations on living rows of one rowset.

    Attributes:
        kind: UPDATE_IGNORE or DELETE.
        columns: the cells set, by column id; none for DELETE.
        rowset: that has the rows.
        ordinals: of the rows in it, ascending and distinct, int64[n].
    """

    kind: RowOpKind
    columns: Mapping[int, pa.Array]
    rowset: AnyRowSet
    ordinals: Ordinals

    @property
    def parts(self) -> Sequence["AddressedOperations"]:
        """The operations by rowset."""
        return (self,)

    @property
    def rows(self) -> int:
        """How many rows are changed."""
        return len(self.ordinals)

    @property
    def delta_kind(self) -> DeltaKind:
        """What they do to a row."""
        return DeltaKind.DELETE if self.kind is RowOpKind.DELETE else DeltaKind.UPDATE

    @property
    def is_idle(self) -> bool:
        """Whether they change nothing."""
        return self.kind is not RowOpKind.DELETE and not self.columns

    @property
    def file_numbers(self) -> Sequence[int]:
        """Of the files that hold the operations: none."""
        return ()

    def in_memory(self) -> "AddressedOperations":
        """The operations themselves."""
        return self

    def moved(self, rowset: AnyRowSet) -> "AddressedOperations":
        """The same operations on the rowset as it is now."""
        return replace(self, rowset=rowset)

    def keys(self, tablet: Tablet) -> EncodedKeys:
        """The keys of the rows, encoded; the rowset need not be the tablet's any more."""
        rowset, ordinals = self.rowset, self.ordinals
        if isinstance(rowset, DiskRowSet):
            return rowset.base.keys().take(ordinals)
        count, indices = int(ordinals[-1]) + 1, integers(ordinals)
        columns = {c.id: rowset.column(c, count).take(indices) for c in tablet.schema.key_columns}
        return tablet.key_encoder.encode(columns)

    def by_key(self, tablet: Tablet) -> KeyedOperations:
        """The same operations on the rows that have these keys now."""
        operations = RowOperations(self.kind, self.columns, len(self.ordinals))
        return KeyedOperations(operations, self.keys(tablet), tuple(self.columns))

    def is_changed(self, tablet: Tablet, bound: SnapshotBound) -> bool:
        """Whether some commit at or after a bound touched one of the rows, wherever it is now."""
        rowsets = tablet.components.rowsets
        rowset = rowset_of(self.rowset.id, rowsets)
        if rowset is None:
            return bool(changed_keys(rowsets, self.keys(tablet), bound).any())
        since = rowset.changed_since(bound)
        return since is not None and bool(since[self.ordinals].any())


def are_alive(rowset: AnyRowSet, ordinals: Ordinals, bound: SnapshotBound, own: OwnChanges) -> bool:
    """Whether a transaction sees all of some rows.

    `ordinals`: of the rows, ascending; `bound`: of its snapshot; `own`: its changes.
    """
    count = rowset.row_count(bound)
    alive = rowset.view(bound, own.get(rowset.id)).alive(count)
    return int(ordinals[-1]) < count and (alive is None or bool(alive[ordinals].all()))
