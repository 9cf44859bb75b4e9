"""Bootstrap: replaying the write-ahead log onto tablets opened from the manifest.

Kudu's `tablet/tablet_bootstrap.cc`. The log holds every commit since the oldest store in memory
began. Each of its writes names the store it went to; if that store has reached the disk since, the
write is there already and is passed over, else it is applied again. Because stores are named and
not searched for, replay gives the same ordinals as the first time, and may be interrupted and
begun again any number of times.
"""

from collections.abc import Container, Iterable, Mapping, Sequence

from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.tablet.commit_record import (
    BatchInsert,
    BatchMutation,
    RowInsert,
    RowMutation,
    TabletWrites,
    decode_commit,
)
from pykudu_sql.storage.tablet.locator import TabletComponents
from pykudu_sql.storage.tablet.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset import RowSet
from pykudu_sql.storage.tablet.tablet import Tablet


def replay(
    tablets: Mapping[str, Tablet],
    log: Iterable[tuple[int, bytes]],
    manifest_commits: Container[int],
) -> int:
    """Apply what the log holds beyond the tablets' files.

    Args:
        tablets: all that the manifest knows, by UUID, those of dropped tables included.
        log: sequence numbers and commit records, ascending.
        manifest_commits: hybrid times of the commits that the manifest knows; a conditional record
            of another commit never happened.

    Returns:
        The newest hybrid time in the log, 0 when it is empty.

    Raises:
        CorruptionError: a record is not what was written, or names a tablet or a column that the
            manifest does not know: it was told of each before the log.
    """
    newest = 0
    memrowsets: dict[str, dict[int, MemRowSet]] = {tablet_id: {} for tablet_id in tablets}
    for sequence, payload in log:
        record = decode_commit(payload)
        newest = max(newest, record.timestamp)
        if record.conditional and record.timestamp not in manifest_commits:
            continue
        for writes in record.tablets:
            tablet = tablets.get(writes.tablet_id)
            if tablet is None:
                raise _unknown(sequence, f"tablet {writes.tablet_id}")
            _check_columns(tablet, writes, sequence)
            known = memrowsets[writes.tablet_id]
            _replay_writes(tablet, known, writes, record.timestamp, sequence)
    for tablet_id, known in memrowsets.items():
        if known:
            _adopt(tablets[tablet_id], known)
    return newest


def _check_columns(tablet: Tablet, writes: TabletWrites, sequence: int) -> None:
    for write in (*writes.inserts, *writes.mutations):
        by_column = write.cells if isinstance(write, RowInsert | RowMutation) else write.columns
        for column_id in by_column:
            if column_id not in tablet.types:
                raise _unknown(sequence, f"column {column_id} of tablet {writes.tablet_id}")


def _unknown(sequence: int, what: str) -> CorruptionError:
    return CorruptionError(
        f"record {sequence} of the write-ahead log is for {what}, which the manifest does not "
        "know: the manifest has lost its newest edits",
        hint="Restore the database directory from a backup.",
    )


def _replay_writes(
    tablet: Tablet,
    memrowsets: dict[int, MemRowSet],
    writes: TabletWrites,
    timestamp: int,
    sequence: int,
) -> None:
    disk = {rowset.id: rowset for rowset in tablet.components.tree.rowsets}
    inserts: Sequence[RowInsert | BatchInsert] = ()
    if writes.inserts and writes.memrowset_id > tablet.durable_memrowset:
        inserts = writes.inserts
        if writes.memrowset_id not in memrowsets:
            memrowsets[writes.memrowset_id] = MemRowSet(writes.memrowset_id, tablet.types)
    mutations: list[RowMutation | BatchMutation] = []
    for mutation in writes.mutations:
        rowset = disk.get(mutation.rowset_id)
        if rowset is None:
            if mutation.rowset_id in memrowsets:
                mutations.append(mutation)
        elif mutation.store_id > rowset.meta.durable_delta_store:
            # The one store rebuilt here stands for all that were in memory.
            memory = rowset.tracker.memory
            memory.id = max(memory.id, mutation.store_id)
            mutations.append(mutation)
    targets: dict[int, RowSet] = {**memrowsets, **disk}
    remaining = TabletWrites(writes.tablet_id, writes.memrowset_id, inserts, mutations)
    keys = [_keys_of(tablet, insert) for insert in inserts]
    tablet.apply(remaining, keys, timestamp, sequence, targets)


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
