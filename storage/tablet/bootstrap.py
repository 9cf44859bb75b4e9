"""Bootstrap: replaying the write-ahead log onto tablets opened from the manifest.

Kudu's `tablet/tablet_bootstrap.cc`. The log holds every commit since the oldest store in memory
began. Each of its writes names the store it went to; if that store has reached the disk since, the
write is there already and is passed over, else it is applied again. Because stores are named and
not searched for, replay gives the same ordinals as the first time, and may be interrupted and
begun again any number of times.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.hybrid_time import (
    END_OF_TIME,
    EVERYTHING,
    UNCOMMITTED,
    Timestamp,
)
from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.tablet.commit_check import check_insert, check_mutation, row_count
from pykudu_sql.storage.tablet.commit_record import (
    BatchInsert,
    BatchMutation,
    RowInsert,
    RowMutation,
    TabletWrites,
    decode_commit,
)
from pykudu_sql.storage.tablet.rowset.locator import TabletComponents
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset.rowset import RowSet
from pykudu_sql.storage.tablet.tablet import Tablet

T = TypeVar("T")

_MALFORMED = (ValueError, TypeError, KeyError, OverflowError, OSError, pa.ArrowException)


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A commit that changes rows of a rowset that the manifest read does not name: the tablets lack
    these changes.

    `timestamp`: of the commit; `error`: what it is if no later edit of the manifest names the
    rowset. A rowset is named before its rows can be changed.
    """

    timestamp: Timestamp
    error: CorruptionError


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a replay of the log.

    `newest`: the newest hybrid time in the log, 0 when it is empty; `unplaced`: the first of such
    commits, or None; `records`: how many the log has.
    """

    newest: Timestamp
    unplaced: Unplaced | None
    records: int


def replay(
    tablets: Mapping[str, Tablet],
    log: Iterable[tuple[int, bytes]],
    manifest_commits: Container[int],
    path_of: Callable[[int], str],
    purged: Container[str] = (),
) -> Replayed:
    """Apply what the log holds beyond the tablets' files.

    May be called again, with the records that came behind those replayed before.

    Args:
        tablets: all that the manifest knows, by UUID, those of dropped tables included.
        log: sequence numbers and commit records, ascending.
        manifest_commits: hybrid times of the commits that the manifest knows; a conditional record
            of another commit never happened.
        path_of: the file that holds a record, for messages.
        purged: tablets that are gone; what the log holds of them is passed over.

    Raises CorruptionError: a record is not what was written, or names a tablet or a column that
    the manifest does not know: it has each before the log.
    """
    newest, unplaced, records = UNCOMMITTED, None, 0
    memrowsets = {tablet_id: _replayed(tablet) for tablet_id, tablet in tablets.items()}
    for sequence, payload in log:
        records += 1
        try:
            record = decode_commit(payload)
            if not newest <= record.timestamp < END_OF_TIME:
                raise ValueError(f"its time {record.timestamp} is before that of another")
            newest = record.timestamp
            if record.conditional and record.timestamp not in manifest_commits:
                continue
            for writes in record.tablets:
                if writes.tablet_id in purged:
                    continue
                unnamed = _replay_writes(tablets, memrowsets, writes, newest, sequence)
                if unnamed is not None and unplaced is None:
                    reason = _unknown(f"rowset {unnamed} of tablet {writes.tablet_id}").message
                    unplaced = Unplaced(newest, _senseless(path_of(sequence), sequence, reason))
        except CorruptionError as error:
            raise _senseless(path_of(sequence), sequence, error.message) from error
        except _MALFORMED as error:
            raise _senseless(path_of(sequence), sequence, str(error)) from error
    for tablet_id, replayed in memrowsets.items():
        if replayed:
            _adopt(tablets[tablet_id], replayed)
    return Replayed(newest, unplaced, records)


def _replayed(tablet: Tablet) -> dict[int, MemRowSet]:
    """The MemRowSets that an earlier replay filled, by id."""
    components = tablet.components
    return {m.id: m for m in (*components.flushing, components.memrowset) if len(m)}


def _senseless(path: str, sequence: int, reason: str) -> CorruptionError:
    return CorruptionError(
        f"record {sequence} of '{path}' cannot be replayed: {reason}",
        hint="Restore the database directory from a backup.",
    )


def _tablet_of(tablets: Mapping[str, Tablet], writes: TabletWrites) -> Tablet:
    """The tablet that writes are for. Raises CorruptionError: it is not there."""
    tablet = tablets.get(writes.tablet_id)
    if tablet is None:
        raise _unknown(f"tablet {writes.tablet_id}")
    return tablet


def _retained_cells(tablet: Tablet, by_column: Mapping[int, T]) -> Mapping[int, T]:
    """Cells without those of columns that no readable state of the table has any more.

    Raises CorruptionError: one is for a column that was never there.
    """
    if by_column.keys() <= tablet.types.keys():
        return by_column
    beyond = [i for i in by_column if i >= tablet.schema.next_column_id]
    if beyond:
        raise _unknown(f"column {beyond[0]} of tablet {tablet.id}")
    return {i: cells for i, cells in by_column.items() if i in tablet.types}


def _retained_insert(tablet: Tablet, insert: RowInsert | BatchInsert) -> RowInsert | BatchInsert:
    if isinstance(insert, RowInsert):
        return replace(insert, cells=_retained_cells(tablet, insert.cells))
    return replace(insert, columns=_retained_cells(tablet, insert.columns))


def _retained_mutations(
    tablet: Tablet, mutations: Iterable[RowMutation | BatchMutation]
) -> Iterator[RowMutation | BatchMutation]:
    """Mutations of columns that some readable schema has; the others are left out."""
    for mutation in mutations:
        if isinstance(mutation, RowMutation):
            cells = _retained_cells(tablet, mutation.cells)
            if cells or not mutation.cells:
                yield replace(mutation, cells=cells)
        else:
            columns = _retained_cells(tablet, mutation.columns)
            if columns or not mutation.columns:
                yield replace(mutation, columns=columns)


def _unknown(what: str) -> CorruptionError:
    return CorruptionError(
        f"it is for {what}, which the manifest does not know, neither as there nor as gone: the "
        "manifest has lost edits"
    )


def _replay_writes(
    tablets: Mapping[str, Tablet],
    replayed: Mapping[str, dict[int, MemRowSet]],
    writes: TabletWrites,
    timestamp: Timestamp,
    sequence: int,
) -> int | None:
    """Apply a commit's writes to a tablet; the id of a rowset that they change and that was not
    named yet, or None.

    A rowset that the manifest knows to be gone has left its rows, with these changes, to others,
    and so has a MemRowSet that was flushed. Any other was named after the manifest was read, or is
    lost.
    """
    tablet, unnamed = _tablet_of(tablets, writes), None
    memrowsets = replayed[writes.tablet_id]
    disk = {rowset.id: rowset for rowset in tablet.components.tree.rowsets}
    inserts: list[RowInsert | BatchInsert] = []
    written = [_retained_insert(tablet, insert) for insert in writes.inserts]
    if writes.inserts and writes.memrowset_id > tablet.durable_memrowset:
        inserts = written
        if writes.memrowset_id not in memrowsets:
            memrowsets[writes.memrowset_id] = MemRowSet(
                writes.memrowset_id, tablet.types, tablet.key_encoder
            )
    mutations: list[RowMutation | BatchMutation] = []
    for mutation in _retained_mutations(tablet, writes.mutations):
        rowset = disk.get(mutation.rowset_id)
        if rowset is None:
            if mutation.rowset_id in memrowsets:
                mutations.append(mutation)
            elif _is_lacking(tablet, mutation):
                unnamed = mutation.rowset_id
        elif mutation.store_id > rowset.meta.durable_delta_store:
            # The one store rebuilt here stands for all that were in memory.
            memory = rowset.tracker.memory
            memory.id = max(memory.id, mutation.store_id)
            mutations.append(mutation)
    targets: dict[int, RowSet] = {**memrowsets, **disk}
    _check_writes(tablet, writes.memrowset_id, inserts, mutations, targets)
    remaining = TabletWrites(writes.tablet_id, writes.memrowset_id, inserts, mutations)
    keys = [_keys_of(tablet, insert) for insert in inserts]
    tablet.apply(remaining, keys, timestamp, sequence, targets)
    return unnamed


def _is_lacking(tablet: Tablet, mutation: RowMutation | BatchMutation) -> bool:
    """Whether a rowset that is not there should be. Only MemRowSets have a store of id 0."""
    if mutation.store_id == 0:
        return mutation.rowset_id > tablet.durable_memrowset
    return tablet.lacks_rowset(mutation.rowset_id)


def _check_writes(
    tablet: Tablet,
    memrowset_id: int,
    inserts: Sequence[RowInsert | BatchInsert],
    mutations: Sequence[RowMutation | BatchMutation],
    targets: Mapping[int, RowSet],
) -> None:
    """See that all writes of a commit to a tablet can be applied, before any is.

    Raises ValueError: one cannot.
    """
    added = 0
    if inserts and not isinstance(targets[memrowset_id], MemRowSet):
        raise ValueError(f"it inserts into rowset {memrowset_id}, which is on disk")
    for insert in inserts:
        check_insert(insert, tablet.types, tablet.schema.key_ids)
        added += row_count(insert)
    for mutation in mutations:
        rows = targets[mutation.rowset_id].row_count(EVERYTHING)
        rows += added if mutation.rowset_id == memrowset_id else 0
        check_mutation(mutation, tablet.types, rows)


def _keys_of(tablet: Tablet, insert: RowInsert | BatchInsert) -> Sequence[bytes]:
    if isinstance(insert, RowInsert):
        cells = tuple(insert.cells[i] for i in tablet.schema.key_ids)
        return (tablet.key_encoder.encode_one(cells),)
    return tablet.key_encoder.encode(insert.columns).to_pylist()


def _adopt(tablet: Tablet, memrowsets: Mapping[int, MemRowSet]) -> None:
    """Make the newest replayed MemRowSet the tablet's, the others waiting for their flush."""
    *older, newest = (memrowsets[i] for i in sorted(memrowsets))
    tablet.components = TabletComponents(newest, tuple(older), tablet.components.tree)
    tablet.reserve_rowset_id(newest.id)
