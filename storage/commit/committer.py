"""The committer: the one place where commits get their time, become durable and become visible.

Under the commit lock a commit is checked against those that came since its snapshot, given a
hybrid time, logged and applied; outside it waits, together with others, for the fsync of the log,
and then is published. So commits are applied and published in the order of their times, and no
reader sees one that a power loss could take back (`durability = 'full'`).

A commit with files of its own (a bulk insert, a very large UPDATE or DELETE) commits with one
manifest edit instead; the files are durable and have their names before the lock is taken. If it
has rows in the log as well, their record is conditional: it holds only if the manifest has that
edit.

What the disk refuses is either undone, durably, and the error says that nothing was changed; or the
outcome of a commit is in doubt, and the error says so (SQLSTATE 08007). A commit that was applied
and could not be made durable stays in memory, unpublished; from then on no new snapshot is given
out and nothing is written, for either would depend on the outcome. Each attempt to do so first
tries `recover` again. When that succeeds, what was applied is durable and becomes visible, and what
was not applied never happened.

Ctrl-C breaks no commit: `finish` and what is done under the commit lock come to their ends, and so
memory is never behind the disk.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pykudu_sql.storage.commit.commit_counters import CommitCounters
from pykudu_sql.storage.commit.commit_edit import commit_edit
from pykudu_sql.storage.commit.publication import publish_files, rebased
from pykudu_sql.storage.commit.read_timestamps import ReadTimestamps
from pykudu_sql.storage.commit.timestamp_reserve import TimestampReserve
from pykudu_sql.storage.common.ctrl_c import CommitLock
from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING
from pykudu_sql.storage.errors import (
    DiskError,
    Error,
    InterfaceError,
    ReadOnlyError,
    TransactionResolutionUnknownError,
)
from pykudu_sql.storage.log.log_writer import barred, in_doubt, undone
from pykudu_sql.storage.log.read_only_log import OPEN_TO_WRITE
from pykudu_sql.storage.tablet.commit_record import CommitRecord, TabletWrites, encode_commit
from pykudu_sql.storage.tablet.tablet_services import TabletServices

if TYPE_CHECKING:
    from pykudu_sql.storage.catalog.table_info import TableInfo
    from pykudu_sql.storage.catalog.writer_batch import WriterBatch
    from pykudu_sql.storage.common.types.hybrid_time import (
        HybridClock,
        SnapshotBound,
        Timestamp,
    )
    from pykudu_sql.storage.log.read_only_log import ReadOnlyLog
    from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog
    from pykudu_sql.storage.recovery.manifest_log import ManifestLog
    from pykudu_sql.storage.tablet.rowset.mvcc import MvccManager
    from pykudu_sql.storage.tablet.rowset.rowset import RowSet
    from pykudu_sql.storage.tablet.rowset.tablet_metadata import TabletEdit
    from pykudu_sql.storage.tablet.tablet import Tablet
    from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites


class AppliedCommit(NamedTuple):
    """A commit that is applied and not visible yet.

    `timestamp`: its hybrid time; `sequence`: of its record in the log, 0 when it has none.
    """

    timestamp: "Timestamp"
    sequence: int


class Committer:
    """Serialises commits. Safe for threads.

    `lock`: the commit lock; re-entrant, and Ctrl-C waits for its end; `counters`: what commits did;
    `timestamps`: that are read at.
    """

    def __init__(
        self,
        clock: "HybridClock",
        mvcc: "MvccManager",
        log: "WriteAheadLog | ReadOnlyLog",
        manifest: "ManifestLog | None",
        history_mark: Callable[[str], "SnapshotBound"],
        rowset_bytes: int,
        piece_bytes: int,
    ) -> None:
        """Commit to a log and a manifest.

        Args:
            manifest: takes edits; None refuses every commit.
            history_mark, rowset_bytes, piece_bytes: see `TabletServices`.
        """
        self.lock = CommitLock()
        self.clock = clock
        self.mvcc = mvcc
        self.counters = CommitCounters()
        self._log = log
        self._manifest = manifest
        self._doubt: TransactionResolutionUnknownError | None = None
        reserve = TimestampReserve(self.note) if manifest is not None else None
        self.timestamps = ReadTimestamps(
            clock, mvcc, reserve, self.lock, self.check_readable, lambda: self._doubt is not None
        )
        self._history_mark = history_mark
        self._rowset_bytes = rowset_bytes
        self._piece_bytes = piece_bytes
        self._closed = False
        self._publishing = threading.Lock()
        self._shows_appended = False

    @property
    def tablet_services(self) -> TabletServices:
        """What the maintenance of tablets needs."""
        callbacks = (self.lock, self.check_writable, self.sync, self._record_edit)
        sizes = (self._rowset_bytes, self._piece_bytes)
        return TabletServices(*callbacks, self._history_mark, *sizes)

    def _record_edit(self, edit: "TabletEdit") -> None:
        """Record a change of a tablet, with the mark below which it let history go."""
        marked = replace(edit, history_mark=self._history_mark(edit.tablet_id))
        self.note({"op": "tablets", "ts": None, "sequence": 0, "tablets": [marked.to_json()]})

    def record(self, edit: dict[str, Any]) -> None:
        """Append an edit to the manifest and fold it into the store's state.

        Raises InterfaceError, ReadOnlyError: see `check_writable`; DiskError: the disk refused;
        nothing was changed; TransactionResolutionUnknownError: nor could the edit be taken back.
        """
        with self.lock, self._doubting():
            self._append_edit(edit)

    def note(self, edit: dict[str, Any]) -> None:
        """The same for an edit that changes no answer, so that none depends on its outcome.

        Raises InterfaceError, ReadOnlyError: see `check_writable`; DiskError: the disk refused.
        """
        with self.lock:
            try:
                self._append_edit(edit)
            except TransactionResolutionUnknownError as error:
                raise DiskError(error.message, hint=error.hint) from error

    def _append_edit(self, edit: dict[str, Any]) -> None:
        self.check_writable()
        self._append_noted(edit)

    def _append_noted(self, edit: dict[str, Any]) -> None:
        """Append an edit that names what is durable of the log, so that losing it shows."""
        if self._manifest is not None:
            end = self._log.durable_end
            self._manifest.append({**edit, "durable": [end.number, end.sequence]})

    def renew_mark(self) -> None:
        """Note again how far the logs are durable, if the disk refused that before."""
        self._log.renew_mark()

    def sync(self) -> None:
        """Make every commit applied so far durable. Raises DiskError: the disk refused."""
        self._sync(self._log.last_sequence)

    def _sync(self, sequence: int) -> None:
        """Make the log durable up to a record, by way of a repair if need be."""
        self._log.renew_mark()
        try:
            self._log.sync(sequence)
        except DiskError:
            with self.lock:
                self._log.repair()

    @contextmanager
    def _doubting(self) -> Iterator[None]:
        """A block whose outcome, when it is unknown, bars snapshots and writes."""
        try:
            yield
        except TransactionResolutionUnknownError as error:
            self._enter_doubt(error)
            raise

    def _enter_doubt(self, error: TransactionResolutionUnknownError) -> None:
        """Bar snapshots and writes until `recover` succeeds."""
        self._doubt = error
        self.mvcc.wake()

    def check_readable(self) -> None:
        """Check that no commit of unknown outcome is missing from what is visible.

        Raises DiskError: the outcome of a commit is not known.
        """
        self._log.renew_mark()
        if self._doubt is not None:
            self.recover()

    def recover(self) -> None:
        """Retry a failed write or sync, and take up commits again if it succeeds.

        Raises DiskError: it does not; says so where the outcome of an earlier commit is unknown.
        """
        with self.lock:
            try:
                self._log.repair()
                if self._manifest is not None:
                    self._manifest.repair()
                if self._doubt is not None:
                    self._sync(self._log.last_sequence)
            except DiskError as error:
                raise (undone if self._doubt is None else barred)(error) from error
            if self._doubt is not None:
                self._doubt = None
                self.mvcc.publish_assigned()

    def close(self) -> None:
        """Let the commit that is published or applied end, and refuse all others from here on."""
        with self._publishing, self.lock:
            self._closed = True

    def note_end(self) -> None:
        """Note the time, so that the clock never goes back behind a timestamp that was given out,
        and where the log ends, which was closed before. Nothing comes after that.
        """
        with self.lock, suppress(Error):  # the disk may refuse
            self._append_noted({"op": "clock", "ts": self.clock.now()})

    def check_writable(self) -> None:
        """Refuse writes to a database that is closed or read-only, or whose disk refuses them.

        Whether an edit or a record that failed and could not be taken back is on disk is not known.
        A commit after it could contradict it: insert a key that it has, or change a MemRowSet that
        it calls flushed. So first it is seen to. Raises InterfaceError: it is closed;
        ReadOnlyError: it was opened so; DiskError: see `recover`.
        """
        if self._closed:
            raise InterfaceError("the database is closed")
        if self._manifest is None:
            raise ReadOnlyError("the database was opened read-only", hint=OPEN_TO_WRITE)
        if self._log.is_broken or self._manifest.is_broken or self._doubt is not None:
            self.recover()

    def publish(self, pending: Sequence["PendingWrites"]) -> Sequence["PendingWrites"]:
        """Make durable what a commit brings in files, and the log so far, before `apply`.

        Not under the commit lock, so that other commits need not wait for it.

        Returns the writes to apply. Raises InterfaceError, ReadOnlyError: see `check_writable`;
        SerializationError, DiskError: see `publish_files`.
        """
        if not any(writes.files for writes in pending):
            return pending
        with self._publishing:
            self.check_writable()
            published = publish_files(pending, self.tablet_services, self.counters)
            self.sync()
        return published

    def apply(
        self,
        pending: Sequence["PendingWrites"],
        batch: "WriterBatch | None" = None,
        new_tables: Sequence["TableInfo"] = (),
        replaced: Sequence[str] = (),
    ) -> AppliedCommit:
        """Log and apply the writes of one transaction to any number of tablets, all or nothing.

        The caller has called `publish` before, holds the commit lock, and calls `finish` without.

        Args:
            pending: the writes, one entry a tablet.
            batch: to be noted as done, with the commit or not at all.
            new_tables: that are there from the commit on.
            replaced: ids of tables that these take the place of.

        Raises SerializationError: another commit changed one of the keys first; ReadOnlyError: the
        database was opened so; DiskError: they could not be logged; nothing was changed;
        TransactionResolutionUnknownError: nor could what was written be taken back.
        """
        self.check_writable()
        moved = [rebased(writes, EVERYTHING, self.counters) for writes in pending]
        timestamp = self.clock.now()
        edit = partial(
            commit_edit, timestamp, batch=batch, new_tables=new_tables, replaced=replaced
        )
        noted = batch is not None or bool(new_tables)
        return AppliedCommit(timestamp, self._apply(moved, timestamp, noted, edit))

    def apply_one(
        self,
        tablet: "Tablet",
        writes: TabletWrites,
        keys: Sequence[Sequence[bytes]],
        targets: Mapping[int, "RowSet"],
    ) -> AppliedCommit:
        """Log and apply writes to one tablet that were decided under the commit lock.

        `tablet`, `writes`, `keys`, `targets`: see `Tablet.apply`. Raises ReadOnlyError, DiskError,
        TransactionResolutionUnknownError: see `apply`.
        """
        timestamp = self.clock.now()
        try:
            sequence = self._log.append(encode_commit(CommitRecord(timestamp, False, (writes,))))
        except TransactionResolutionUnknownError as error:
            self._enter_doubt(error)
            raise
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

        Raises TransactionResolutionUnknownError: it could not be made durable. It becomes visible
        when `recover` succeeds, or when an opening finds it.
        """
        if durable and commit.sequence:
            try:
                self._sync(commit.sequence)
            except DiskError as error:
                unknown = in_doubt(error)
                self._enter_doubt(unknown)
                raise unknown from error
        elif not durable and not self._shows_appended:
            self._shows_appended = True
            self._log.show_appended()
        self.mvcc.publish(commit.timestamp)

    def _apply(
        self,
        pending: Sequence["PendingWrites"],
        timestamp: "Timestamp",
        noted: bool,
        edit: Callable[[int, Sequence["TabletEdit"]], dict[str, Any]],
    ) -> int:
        """Log and apply writes.

        Args:
            noted: whether the manifest is to name the commit even if it brings no files.
            edit: of the manifest, for the number of the record in the log and what tablets get.
        """
        staged = noted or any(writes.files for writes in pending)
        edits = [writes.publish(timestamp) for writes in pending if writes.files]
        resolved = [writes.resolve() for writes in pending]
        rows = [writes for writes, _, _ in resolved if writes.inserts or writes.mutations]
        sequence = 0
        if rows:
            with self._doubting():
                sequence = self._log.append(encode_commit(CommitRecord(timestamp, staged, rows)))
        if staged:
            self.sync()
            self.record(edit(sequence, edits))
        elif not rows:
            self.timestamps.reserve_through(timestamp)  # it changes nothing and is not written down
        self.mvcc.assign(timestamp)
        for source, (writes, keys, targets) in zip(pending, resolved, strict=True):
            source.tablet.apply(writes, keys, timestamp, sequence, targets)
            self.counters.note(writes, keys)
            if source.files:
                self.counters.note_files(source.files)
                source.files.swap_in()
        self.counters.commits += 1
        return sequence
