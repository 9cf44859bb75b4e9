"""A transaction's uncommitted writes to one tablet.

What a transaction wrote lives in stores of its own, shaped like the tablet's: a private MemRowSet
for new rows, a private DeltaMemStore for each rowset whose rows it changed, and for large inserts
DiskRowSets already written but not named by the manifest. Reading through them gives the
transaction its own writes by the same code that reads the tablet.

At commit they become `TabletWrites`. If another commit changed one of the keys since the
transaction's snapshot, the first committer has won; if the tablet was only flushed meanwhile, the
writes are done over against the new rowsets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import (
    UNCOMMITTED,
    SnapshotBound,
    Timestamp,
)
from pykudu_sql.storage.common.types.ordinal_take import take_ordinals
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import IntegrityError
from pykudu_sql.storage.tablet.commit_record import (
    BatchInsert,
    RowInsert,
    TabletWrites,
)
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.locator import (
    Located,
    OwnChanges,
    find_row,
    locate,
    rowset_of,
)
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset.rowset import KeyProbe, RowSet
from pykudu_sql.storage.tablet.rowset.tablet_metadata import TabletEdit
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.write.addressed_operations import (
    AddressedOperations,
    AnyRowSet,
    are_alive,
)
from pykudu_sql.storage.tablet.write.commit_files import CommitFiles
from pykudu_sql.storage.tablet.write.keyed_operations import (
    ChangedRow,
    KeyedOperations,
    KeyedRow,
    NewRow,
    decide,
    misfit,
    misfits,
)
from pykudu_sql.storage.tablet.write.own_mutations import OwnMutations, final_inserts
from pykudu_sql.storage.tablet.write.staged_changes import (
    StagedChanges,
    StagedDeltas,
    StagedPart,
    keyed_to_addressed,
    stage,
)
from pykudu_sql.storage.tablet.write.write_conflict import WriteEntry, has_changed_rows

_PRIVATE_ID = -1

Columns = Mapping[int, pa.Array]


class PendingWrites:
    """What a transaction wrote to one tablet so far. Used by one thread at a time."""

    def __init__(self, tablet: Tablet, table_name: str, bound: SnapshotBound) -> None:
        """No writes yet. `bound`: of the transaction's snapshot."""
        self.tablet = tablet
        self.bound = bound
        self._table = table_name
        self._components = tablet.components
        self._inserts = MemRowSet(_PRIVATE_ID, tablet.types, tablet.key_encoder)
        self._inserted: list[tuple[RowInsert | BatchInsert, Sequence[bytes]]] = []
        self._own = OwnMutations(tablet)
        self.files = CommitFiles(tablet, self._own)
        self._log: list[WriteEntry] = []

    @property
    def length(self) -> int:
        """How many writes there were; one counts its batch, its row, its files or its rowset."""
        return len(self._log)

    @property
    def memory(self) -> int:
        """Roughly the bytes of the rows and changes that are in memory."""
        return self._inserts.memory + sum(own.bytes for own in self._own.deltas.values())

    @property
    def own(self) -> OwnChanges:
        """What is changed of rows that were there before, by rowset id."""
        return self._own.deltas

    @property
    def staged(self) -> Sequence[DiskRowSet]:
        """Rowsets written for the transaction."""
        return self.files.staged

    @property
    def rowsets(self) -> tuple[AnyRowSet, ...]:
        """The rowsets that the transaction sees: its own rows first, then the tablet's."""
        return (self._inserts, *self.staged, *self._components.rowsets)

    @property
    def _reusable(self) -> tuple[RowSet, ...]:
        return (self._inserts, self._components.memrowset)

    def locate(self, keys: EncodedKeys) -> Located:
        """Where rows are, as the transaction sees them."""
        return locate(self.rowsets, self._reusable, keys, self.bound, self.own)

    def check(self, batch: KeyedOperations) -> Located:
        """Find rows by their keys and see that their operations fit them; changes nothing.

        Raises AlreadyPresentError, RowNotFoundError, ImmutableColumnError: for the first row that
        does not fit.
        """
        return self._check_among(self.rowsets, batch)

    def check_sorted(self, batch: KeyedOperations) -> Located:
        """`check` for keys that ascend: rowsets of other keys are not probed."""
        low, high = batch.keys.min_key(), batch.keys.max_key()
        staged = (s for s in self.staged if s.meta.min_key <= high and low <= s.meta.max_key)
        near = self._components.overlapping(low, high)
        return self._check_among((self._inserts, *staged, *near), batch)

    def _check_among(self, rowsets: Sequence[RowSet], batch: KeyedOperations) -> Located:
        located = locate(rowsets, self._reusable, batch.keys, self.bound, self.own)
        wrong = misfits(batch, located)
        if wrong.any():
            position = int(np.argmax(wrong))
            raise self.misfit(batch, position, bool(located.alive[position]))
        return located

    def misfit(self, batch: KeyedOperations, position: int, alive: bool) -> IntegrityError:
        """The error for a row of a batch that its operation does not fit; `alive`: it exists."""
        return misfit(self.tablet, self._table, batch, batch.keys.at(position), alive)

    def write(self, batch: KeyedOperations, located: Located) -> int:
        """Do a batch of operations on distinct keys that `check` has found to fit.

        Returns the number of rows changed.
        """
        self._log.append(batch)
        kind, alive = batch.operations.kind, located.alive
        changed = 0
        if kind in (RowOpKind.DELETE, RowOpKind.DELETE_IGNORE):
            changed += self._mutate(DeltaKind.DELETE, located, alive, {})
        elif kind not in (RowOpKind.INSERT, RowOpKind.INSERT_IGNORE):
            cells = {i: batch.operations.columns[i] for i in batch.set_ids}
            changed += self._mutate(DeltaKind.UPDATE, located, alive, cells)
            if not cells and kind is not RowOpKind.UPDATE_IGNORE:
                changed += int(np.count_nonzero(alive))
        if kind.may_insert:
            changed += self._insert(batch, located, ~alive)
        return changed

    def write_at(self, batch: AddressedOperations) -> int:
        """Do operations on rows of one of `rowsets` that a scan of them has just found alive.

        Returns the number of rows changed.
        """
        self._log.append(batch)
        if batch.is_idle:
            return 0
        self._change(batch.rowset, batch.delta_kind, batch.ordinals, batch.columns)
        return len(batch.ordinals)

    def _mutate(
        self, kind: DeltaKind, located: Located, mask: npt.NDArray[np.bool_], columns: Columns
    ) -> int:
        if kind is DeltaKind.UPDATE and not columns:
            return 0
        for index in np.unique(located.where[mask]):
            selection = np.flatnonzero(mask & (located.where == index))
            everything = len(selection) == len(mask)
            cells = {
                i: values if everything else take_ordinals(values, selection)
                for i, values in columns.items()
            }
            self._change(located.rowsets[index], kind, located.ordinals[selection], cells)
        return int(np.count_nonzero(mask))

    def _change(self, rowset: RowSet, kind: DeltaKind, ordinals: Ordinals, cells: Columns) -> None:
        if rowset is self._inserts:
            rowset.mutate(kind, ordinals, cells, UNCOMMITTED)
            return
        self._own.change(rowset, kind, ordinals, cells)

    def _insert(self, batch: KeyedOperations, located: Located, mask: npt.NDArray[np.bool_]) -> int:
        columns = batch.operations.columns
        ghosts = mask & (located.where >= 0)
        if ghosts.any():
            key_ids = self.tablet.schema.key_ids
            values = {i: v for i, v in columns.items() if i not in key_ids}
            self._mutate(DeltaKind.REINSERT, located, ghosts, values)
        fresh = np.flatnonzero(mask & ~ghosts)
        if len(fresh):
            keys = batch.keys
            if len(fresh) < len(mask):
                columns = {i: take_ordinals(values, fresh) for i, values in columns.items()}
                keys = keys.take(fresh)
            encoded = keys.to_pylist()
            self._inserts.insert(encoded, columns, UNCOMMITTED)
            self._inserted.append((BatchInsert(columns), encoded))
        return int(np.count_nonzero(mask))

    def read_row(self, probe: KeyProbe, columns: Sequence[ColumnSchema]) -> tuple[Cell, ...] | None:
        """One row's cells as the transaction sees them, or None."""
        for rowset in self._with_key(probe.encoded):
            ordinal = rowset.find_one(probe)
            if ordinal >= 0:
                own = self.own.get(rowset.id)
                row = rowset.read_row(ordinal, columns, self.bound, own)
                if row is not None:
                    return row
        return None

    def _with_key(self, key: bytes) -> Sequence[RowSet]:
        return (self._inserts, *self.staged, *self._components.with_key(key))

    def write_row(self, row: KeyedRow) -> int:
        """Do one operation on one row; as `write` for a batch of one.

        Raises AlreadyPresentError, RowNotFoundError, ImmutableColumnError: it does not fit.
        """
        candidates = self._with_key(row.probe.encoded)
        location = find_row(candidates, self._reusable, row.probe, self.bound, self.own)
        effect = decide(self.tablet, self._table, row, location)
        self._log.append(row)
        match effect:
            case NewRow(cells):
                values, ids = tuple(cells.values()), tuple(cells)
                self._inserts.insert_one(row.probe.encoded, values, ids, UNCOMMITTED)
                self._inserted.append((RowInsert(cells), (row.probe.encoded,)))
                return 1
            case ChangedRow(rowset, ordinal, kind, cells):
                self._change_one(rowset, ordinal, kind, cells)
                return 1
        return int(effect)

    def _change_one(
        self, rowset: RowSet, ordinal: int, kind: DeltaKind, cells: Mapping[int, Cell]
    ) -> None:
        if rowset is self._inserts:
            rowset.mutate_one(ordinal, kind, cells, UNCOMMITTED)
            return
        self._own.change_one(rowset, ordinal, kind, cells)

    def stage(self, rowsets: Sequence[DiskRowSet]) -> None:
        """Add rowsets that were written for this transaction; their keys are known to be new."""
        self.files.staged.extend(rowsets)
        self._log.extend(rowsets)

    def publish_ahead(self) -> None:
        """Give the files their names; see `CommitFiles.publish_ahead`."""
        self.files.publish_ahead(self._components.tree.rowsets)
        moved = {rowset.id: rowset for rowset in self.staged}
        log = self._log
        self._log = [moved.get(e.id, e) if isinstance(e, DiskRowSet) else e for e in log]

    def stage_changes(self, parts: Sequence[StagedPart], staged: Sequence[tuple[str, int]]) -> None:
        """Add changes of one statement, to rows that its scan has found alive.

        `parts`: by rowset; `staged`: their files, which go with a rollback from here on.
        """
        self.files.deltas += staged
        self._log.append(StagedChanges(parts))
        for part in parts:
            if isinstance(part, StagedDeltas):
                self._own.add_file(part.rowset, part.file)
            else:
                self._change(part.rowset, part.delta_kind, part.ordinals, part.columns)

    def publish(self, timestamp: Timestamp) -> TabletEdit:
        """Publish the files; see `CommitFiles.publish`."""
        return self.files.publish(self._components.tree.rowsets, timestamp)

    def has_conflict(self) -> bool:
        """Whether a commit since the snapshot changed a key written here."""
        if self.tablet.newest < self.bound:
            return False
        return has_changed_rows(self.tablet, self.bound, self._log, self.staged)

    def rebase(self, bound: SnapshotBound) -> "PendingWrites":
        """These writes done over against the tablet as it is now, as seen at a bound.

        Raises IntegrityError: they do not fit any more.
        """
        now = self.tablet.components
        if self._components.rowset_ids != now.rowset_ids:
            renewed = self._again(bound, self._log)
            self.files.discard_from_memory()
            return renewed
        # Delta flushes and compactions leave every row at its address.
        self._components = now
        return self

    def rolled_back(self, length: int) -> "PendingWrites":
        """The first so many of these writes alone; files staged behind them are removed."""
        renewed = self._again(self.bound, self._log[:length])
        for entry in self._log[length:]:
            if isinstance(entry, DiskRowSet):
                self.files.discard(entry)
            elif isinstance(entry, StagedChanges):
                self.files.discard_changes(entry.parts)
        return renewed

    def _again(self, bound: SnapshotBound, log: Sequence[WriteEntry]) -> "PendingWrites":
        """Writes done over against the tablet as it is now, as seen at a bound."""
        renewed = PendingWrites(self.tablet, self._table, bound)
        renewed.files.deltas = self.files.deltas  # what is written anew goes with a rollback
        # In the order they were made: a key may have been deleted before it was staged anew.
        for entry in log:
            match entry:
                case KeyedRow():
                    renewed.write_row(entry)
                case KeyedOperations():
                    renewed.write(entry, renewed.check(entry))
                case AddressedOperations():
                    renewed._write_again(entry)
                case StagedChanges():
                    renewed._stage_again(entry)
                case DiskRowSet():
                    renewed.stage((entry,))
        return renewed

    def _write_again(self, batch: AddressedOperations) -> None:
        """Do operations whose addresses are of an earlier state of the tablet."""
        rowset = self._with_rows(batch)
        if rowset is None:
            keyed = batch.by_key(self.tablet)
            self.write(keyed, self.check(keyed))
        else:
            self.write_at(replace(batch, rowset=rowset))

    def _with_rows(self, part: StagedPart) -> AnyRowSet | None:
        """The rowset that has some rows, as it is now, if they are alive there."""
        rowset = rowset_of(part.rowset.id, (*self.staged, *self._components.rowsets))
        # A rowset that still stands may have no more than a ghost: of a row that was inserted
        # again there, and now is inserted elsewhere.
        if rowset is None or not are_alive(rowset, part.ordinals, self.bound, self.own):
            return None
        return rowset

    def _stage_again(self, changes: StagedChanges) -> None:
        """Take over changes in files; where their rowset is gone, they are written anew.

        Those that were in memory stay there, also where their rows are on disk by now: the commit
        has kept maintenance away only from rowsets that get files.
        """
        parts: list[StagedPart] = []
        for part in changes.parts:
            rowset = self._with_rows(part)
            if rowset is not None:
                parts.append(part.moved(rowset))
                continue
            keyed = part.in_memory().by_key(self.tablet)
            was_filed = isinstance(part, StagedDeltas)
            for batch in keyed_to_addressed(keyed, self.check(keyed)):
                parts.append(stage(self.tablet, batch, self.files.deltas) if was_filed else batch)
            self.files.discard_changes((part,))
        self.stage_changes(parts, ())

    def resolve(self) -> tuple[TabletWrites, Sequence[Sequence[bytes]], Mapping[int, RowSet]]:
        """What the commit does, the keys of its inserts, and the rowsets it names by id.

        The caller holds the commit lock, so that the delta stores named are those that take the
        changes.
        """
        inserted = self._inserted
        if len(self._inserts.deltas):
            inserted = final_inserts(self.tablet, self._inserts, self.bound)
        stand = (*self.staged, *self._components.rowsets, *self.files.changed)
        targets = {rowset.id: rowset for rowset in stand}
        writes = TabletWrites(
            self.tablet.id,
            self._components.memrowset.id,
            [insert for insert, _ in inserted],
            self._own.mutations(targets),
        )
        return writes, [keys for _, keys in inserted], targets
