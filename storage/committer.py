"""The committer: the one place where commits get their time, become durable and become visible.

Under the commit lock a commit is checked against those that came since its snapshot, given a
hybrid time, logged and applied; outside it waits, together with others, for the fsync of the log,
and then is published. So commits are applied and published in the order of their times, and no
reader sees one that a power loss could take back (`durability = 'full'`).

A commit with rowsets of its own (a bulk insert) commits with one manifest edit instead. If it has
rows in the log as well, their record is conditional: it holds only if the manifest has that edit.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pykudu_sql.storage.commit_counters import CommitCounters
from pykudu_sql.storage.common.hybrid_time import (
    HybridClock,
    SnapshotBound,
    Timestamp,
    bound_at_micros,
    last_before,
    to_micros,
)
from pykudu_sql.storage.errors import (
    IntegrityError,
    InterfaceError,
    ReadOnlyError,
    SerializationError,
    SnapshotInFutureError,
)
from pykudu_sql.storage.log.read_only_log import ReadOnlyLog
from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog
from pykudu_sql.storage.moment_reserve import MomentReserve
from pykudu_sql.storage.tablet.commit_record import CommitRecord, TabletWrites, encode_commit
from pykudu_sql.storage.tablet.mvcc import MvccManager
from pykudu_sql.storage.tablet.pending_writes import PendingWrites
from pykudu_sql.storage.tablet.rowset import RowSet
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.tablet_host import TabletHost
from pykudu_sql.storage.tablet.tablet_metadata import TabletEdit
from pykudu_sql.storage.writer_batch import WriterBatch


@dataclass(frozen=True, slots=True)
class AppliedCommit:
    """A commit that is applied and not visible yet.

    Attributes:
        timestamp: its hybrid time.
        sequence: of its record in the log, 0 when it has none.
    """

    timestamp: Timestamp
    sequence: int


class Committer:
    """Serialises commits. Safe for threads.

    Attributes:
        lock: the commit lock; re-entrant.
        clock: gives commits their times.
        mvcc: what is visible.
        counters: what commits did.
    """

    def __init__(
        self,
        clock: HybridClock,
        mvcc: MvccManager,
        log: WriteAheadLog | ReadOnlyLog,
        record: Callable[[dict[str, Any]], None],
        check_manifest: Callable[[], None],
        read_only: bool,
        history_mark: Callable[[str], SnapshotBound],
        rowset_bytes: int,
    ) -> None:
        """Commit to a log and a manifest.

        Args:
            clock: gives commits their times.
            mvcc: what is visible.
            log: the write-ahead log.
            record: appends an edit to the manifest, durably, and folds it into the store's state.
            check_manifest: raises ReadOnlyError once the manifest takes no more edits.
            read_only: refuse every commit.
            history_mark, rowset_bytes: see `TabletHost`.
        """
        self.lock = threading.RLock()
        self.clock = clock
        self.mvcc = mvcc
        self.counters = CommitCounters()
        self._log = log
        self._record = record
        self._moments = MomentReserve(record)
        self._check_manifest = check_manifest
        self._read_only = read_only
        self._history_mark = history_mark
        self._rowset_bytes = rowset_bytes
        self._closed = False

    @property
    def host(self) -> TabletHost:
        """What the maintenance of tablets needs."""
        return TabletHost(
            self.lock, self.sync, self._record_edit, self._history_mark, self._rowset_bytes
        )

    def _record_edit(self, edit: TabletEdit) -> None:
        """Record a change of a tablet, with the mark below which it let history go."""
        marked = replace(edit, history_mark=self._history_mark(edit.tablet_id))
        self._record({"op": "tablets", "ts": None, "sequence": 0, "tablets": [marked.to_json()]})

    def sync(self) -> None:
        """Make every commit applied so far durable."""
        self._log.sync(self._log.last_sequence)

    def settle(self, bound: SnapshotBound) -> None:
        """Make a bound in the past readable: no commit below it is on its way any more.

        Raises:
            SnapshotInFutureError: the moment has not come yet.
        """
        clock = self.clock
        if bound > bound_at_micros(to_micros(clock.now())):
            raise SnapshotInFutureError(
                "the moment asked for lies in the future", hint="AS OF takes a moment in the past"
            )
        if bound <= self.mvcc.bound:
            return
        self._cover(last_before(bound))
        clock.update(last_before(bound))
        with self.lock:
            pass  # a commit that had its time already is now known to MVCC; later ones lie behind
        self.mvcc.wait_for(bound)

    def tell(self) -> Timestamp:
        """A moment to be told: after every commit that is visible, and before every later one."""
        moment = self.clock.now()
        self._cover(moment)
        return moment

    def _cover(self, moment: Timestamp) -> None:
        """See that a moment never comes again; a process that only reads commits nothing."""
        if not self._read_only:
            self._moments.cover(moment)

    def close(self) -> None:
        """Let the commit that is being applied end, and refuse all others from here on."""
        with self.lock:
            self._closed = True

    def check_writable(self) -> None:
        """Refuse writes to a database that is closed or read-only, or whose log or manifest failed.

        Whether the edit or the record that failed is on disk is not known before the next
        opening. A commit after it could contradict it: insert a key that it has, or change a
        MemRowSet that it calls flushed.

        Raises:
            InterfaceError: it is closed.
            ReadOnlyError: it was opened so, or a write failed.
        """
        if self._closed:
            raise InterfaceError("the database is closed")
        if self._read_only:
            raise ReadOnlyError("the database was opened read-only")
        self._check_manifest()
        self._log.check_writable()

    def apply(
        self, pending: Sequence[PendingWrites], batch: WriterBatch | None = None
    ) -> AppliedCommit:
        """Log and apply the writes of one transaction to any number of tablets, all or nothing.

        The caller holds the commit lock, and calls `finish` without it.

        Args:
            pending: the writes, one entry a tablet.
            batch: to be noted as done, with the commit or not at all.

        Raises:
            SerializationError: another commit changed one of the keys first.
            ReadOnlyError, DiskError: they could not be logged.
        """
        self.check_writable()
        settled = [self._settle(writes) for writes in pending]
        timestamp = self.clock.now()
        return AppliedCommit(timestamp, self._apply(settled, timestamp, batch))

    def apply_one(
        self,
        tablet: Tablet,
        writes: TabletWrites,
        keys: Sequence[Sequence[bytes]],
        targets: Mapping[int, RowSet],
    ) -> AppliedCommit:
        """Log and apply writes to one tablet that were decided under the commit lock.

        Args:
            tablet, writes, keys, targets: see `Tablet.apply`.

        Raises:
            ReadOnlyError, DiskError: they could not be logged.
        """
        timestamp = self.clock.now()
        sequence = self._log.append(encode_commit(CommitRecord(timestamp, False, (writes,))))
        self.mvcc.assign(timestamp)
        tablet.apply(writes, keys, timestamp, sequence, targets)
        self.counters.commits += 1
        self.counters.note(writes, keys)
        return AppliedCommit(timestamp, sequence)

    def finish(self, commit: AppliedCommit, durable: bool) -> None:
        """Make an applied commit visible.

        Args:
            commit: what `apply` returned.
            durable: wait first until it survives a power loss, together with all commits that
                wait at the same time.

        Raises:
            ReadOnlyError, DiskError: it could not be made durable, and never becomes visible.
        """
        if durable and commit.sequence:
            self._log.sync(commit.sequence)
        self.mvcc.publish(commit.timestamp)

    def _apply(
        self, pending: Sequence[PendingWrites], timestamp: Timestamp, batch: WriterBatch | None
    ) -> int:
        staged = batch is not None or any(writes.staged for writes in pending)
        edits = [writes.publish_staged(timestamp) for writes in pending if writes.staged]
        resolved = [writes.resolve() for writes in pending]
        rows = [writes for writes, _, _ in resolved if writes.inserts or writes.mutations]
        sequence = 0
        if rows:
            sequence = self._log.append(encode_commit(CommitRecord(timestamp, staged, rows)))
        if staged:
            self.sync()
            tablets = [edit.to_json() for edit in edits]
            done = {} if batch is None else {"done": batch.to_json()}
            self._record(
                {"op": "tablets", "ts": timestamp, "sequence": sequence, "tablets": tablets} | done
            )
        elif not rows:
            self._cover(timestamp)  # it changes nothing and is not written down
        self.mvcc.assign(timestamp)
        for source, (writes, keys, targets) in zip(pending, resolved, strict=True):
            source.tablet.apply(writes, keys, timestamp, sequence, targets)
            self.counters.note(writes, keys)
            if source.staged:
                self.counters.note_staged(source.staged)
                source.tablet.replace_rowsets((), source.staged)
        self.counters.commits += 1
        return sequence

    def _settle(self, pending: PendingWrites) -> PendingWrites:
        """A transaction's writes as they stand against the commits that came meanwhile."""
        try:
            if not pending.has_conflict():
                return pending.rebase()
            message = "another transaction changed one of the rows first"
        except IntegrityError as error:
            message = error.message
        self.counters.conflicts += 1
        raise SerializationError(message, hint="run the transaction again")
