"""The write-ahead log: one for the whole database, in segments, with group commit.

Kudu's `Log`. Every commit is one record. `append` puts it into the operating system's hands,
`sync` makes it durable; who calls `sync` when is the caller's durability mode.

Group commit: the first thread that wants to be durable syncs for everyone whose record was
appended by then; threads that come meanwhile wait, and one of them leads the next round. Under load
one fdatasync thus serves many commits, and a lone thread pays no more than its own.

A segment that has grown past its size is trimmed and synced, then the next one is written in
`tmp/`, synced, renamed, and its name synced. Whole segments are dropped once nothing in them is
needed.

A write that fails is taken back: the segment is cut to what it was, and that is synced. A sync that
fails is not tried again, since the second one may report success for bytes that the kernel has
thrown away. Instead the next segment begins behind the last record that is known to be durable, and
takes over, from memory, those that are not; so nothing that was appended is lost, and the old
segment ends where the new one begins. While the disk refuses that too, the log accepts nothing, and
`repair` may be tried again at any time.
"""

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Self

from pykudu_sql.storage.errors import DiskError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.layout import segment_path
from pykudu_sql.storage.log.durable_mark import NOWHERE, DurableEnd, DurableMark
from pykudu_sql.storage.log.log_reader import NO_RECORDS
from pykudu_sql.storage.log.log_writer import LogWriter, in_doubt, undone
from pykudu_sql.storage.log.new_segment import create_segment, end_of, segment_of
from pykudu_sql.storage.log.record_log import LogIdentity, LogKind
from pykudu_sql.storage.log.segments import (
    Segment,
    check_present,
    check_reaches,
    find_segments,
    replay_segments,
    segment_numbers,
    segments_after,
)

# Recovery reads a segment in well under a second and log GC frees at least this much at a time;
# rolling costs two syncs, which 16 MiB of records dwarf.
SEGMENT_BYTES = 16 << 20


class WriteAheadLog:
    """An open write-ahead log. `append` needs the caller's commit lock; all else is thread-safe."""

    def __init__(
        self,
        env: Env,
        directory: str,
        segments: list[Segment],
        writer: LogWriter,
        segment_bytes: int,
        mark: DurableMark | None,
    ) -> None:
        """Use `open`."""
        self._mark = mark
        self._env = env
        self._directory = directory
        self._database_id = writer.identity.database_id
        self._segment_bytes = segment_bytes
        self._segments = segments
        self._writer = writer
        self._durable = writer.last_sequence
        self._syncing = False
        self._sync_lock = threading.RLock()
        self._sync_condition = threading.Condition(self._sync_lock)
        self._waiting = 0

    @classmethod
    def open(
        cls,
        env: Env,
        directory: str,
        database_id: bytes,
        *,
        segment_bytes: int = SEGMENT_BYTES,
        after: int = 0,
        reaches: DurableEnd = NOWHERE,
        mark: DurableMark | None = None,
    ) -> Self:
        """Open for writing; make the log when there is none.

        The torn tail of a crash is cut. The next record's sequence is higher than any on disk and
        than `after`; the first ever is 1. Not every number is handed out: each clean close uses
        one for the seal.

        Args:
            directory: where the segments lie; created when missing.
            segment_bytes: a segment as long as that is followed by a new one.
            after: the highest sequence that is no longer needed.
            reaches: a record that the log has, or it is damaged.
            mark: notes what is durable from here on.

        Raises CorruptionError: a needed segment is missing or damaged, as far as opening reads, or
        the log ends too early. Nothing was cut off then; FormatVersionError: written by a newer
        version; DiskError: refused by the file system.
        """
        env.make_dir(directory)
        check_present(env, directory, reaches)
        segments = find_segments(env, directory, database_id)
        live = segments_after(segments, directory, after)
        last = segments[-1].path if live else directory
        end = end_of(env, segments[-1], database_id) if live else NO_RECORDS
        check_reaches(last, end, reaches)
        for number in segment_numbers(env, directory):
            if number not in {segment.number for segment in segments}:
                env.unlink(segment_path(directory, number), point="wal.drop_void")
        if not live:
            writer = create_segment(env, directory, LogIdentity(LogKind.WAL, 1, 1, database_id))
            first = [segment_of(writer, directory)]
            return cls(env, directory, first, writer, segment_bytes, mark)
        newest = segments[-1]
        identity = LogIdentity(LogKind.WAL, newest.number, newest.first_sequence, database_id)
        writer = LogWriter.resume(env, newest.path, identity, end)
        log = cls(env, directory, segments, writer, segment_bytes, mark)
        if writer.last_sequence < after:
            # Records that were never synced got lost, but what they did was flushed: their
            # numbers count as used.
            log._start_segment(after + 1)
            log._durable = after
        return log

    @staticmethod
    def read(
        env: Env, directory: str, database_id: bytes, *, after: int = 0
    ) -> Iterator[tuple[int, bytes]]:
        """The records behind `after`, changing nothing on disk; a writer may be at work.

        Raises CorruptionError: a needed record is damaged or missing; FormatVersionError: written
        by a newer version.
        """
        segments = find_segments(env, directory, database_id)
        live = segments_after(segments, directory, after)
        return replay_segments(env, live, database_id, after)

    @property
    def last_sequence(self) -> int:
        """Sequence of the last record appended."""
        return self._writer.last_sequence

    @property
    def durable_sequence(self) -> int:
        """All records up to this one survive a power loss."""
        return self._durable

    @property
    def durable_end(self) -> DurableEnd:
        """The last record that survives a power loss."""
        writer = self._writer
        return DurableEnd(writer.identity.number, writer.durable_sequence)

    def show_appended(self) -> None:
        """Let other processes read records that are not durable yet, from here on."""
        if self._mark is not None:
            self._mark.exceed()

    def renew_mark(self) -> None:
        """Tell readers again of what is durable, if the disk refused to take that down before."""
        mark = self._mark
        if mark is not None and mark.is_behind:
            mark.renew()

    def bytes_from(self, sequence: int) -> int:
        """Bytes of the segments from that of a record on; full ones count as their limit."""
        behind = sum(1 for segment in self._segments if segment.first_sequence > sequence)
        in_use = min(behind + 1, len(self._segments))
        return (in_use - 1) * self._segment_bytes + self._writer.size

    def bytes_since(self, sequence: int) -> int:
        """About the bytes of the records from one on: in its segment all count alike."""
        ends = [segment.first_sequence for segment in self._segments[1:]]
        for place, (segment, end) in enumerate(
            zip(self._segments, [*ends, self.last_sequence + 1], strict=False)
        ):
            first = segment.first_sequence
            if sequence < end:
                size = self._segment_bytes if place < len(ends) else self._writer.size
                before = max(0, sequence - first) / max(1, end - first)
                return self.bytes_from(sequence) - int(before * size)
        return 0

    @property
    def size(self) -> int:
        """Bytes of records in the segment now written, header included."""
        return self._writer.size

    @property
    def is_broken(self) -> bool:
        """Whether a write or sync has failed that only `repair` gets over."""
        return self._writer.failure is not None

    def replay(self, after: int) -> Iterator[tuple[int, bytes]]:
        """The records behind `after` as (sequence, payload), ascending, up to the present end.

        Raises CorruptionError: a needed record is damaged or missing.
        """
        live = segments_after(self._segments, self._directory, after)
        return replay_segments(self._env, live, self._database_id, after)

    def path_of(self, sequence: int) -> str:
        """The segment that holds a record, or would."""
        paths = [s.path for s in self._segments if s.first_sequence <= sequence]
        return paths[-1] if paths else self._directory

    def append(self, payload: bytes) -> int:
        """Hand a record to the operating system and return its sequence; not yet durable.

        Raises ValueTooLargeError: over 1 GiB; nothing was written; DiskError: the disk refused;
        nothing of the record is there, or ever will be; TransactionResolutionUnknownError: it
        refused to take the record back as well. Until `repair` has succeeded, an opening may find
        it.
        """
        self._env.check_guard()
        try:
            if self._writer.failure is not None:
                self.repair()
            if self._writer.size >= self._segment_bytes:
                self._roll()
        except DiskError as error:
            raise undone(error) from error
        try:
            return self._writer.append(payload)
        except DiskError as error:
            self._take_back(error)
            raise undone(error) from error

    def sync(self, sequence: int) -> None:
        """Return when every record up to `sequence` is durable.

        Raises DiskError: the sync failed, or an earlier write or sync; `repair` makes it durable in
        another way.
        """
        if sequence <= self._durable:
            return
        if sequence > self._writer.last_sequence:
            raise ValueError(f"record {sequence} was never appended")
        if self._lead(sequence):
            self._sync_as_leader()

    def drop_before(self, sequence: int) -> None:
        """Remove the segments that hold only records below `sequence`; never the one in use.

        Raises DiskError: refused by the file system; what is left will be dropped another time.
        """
        with self._sync_lock:
            segments = self._segments
            first_live = max(
                i for i, s in enumerate(segments) if i == 0 or s.first_sequence <= sequence
            )
            self._segments = segments[first_live:]
        # Not synced: names that a power loss brings back are dropped another time.
        for segment in segments[:first_live]:
            self._env.unlink(segment.path, point="wal.drop")

    def repair(self) -> None:
        """Get over a failed write or sync: make every record that was appended durable in a new
        segment, and accept others again. The caller holds the commit lock.

        Does nothing where nothing failed, or another thread was faster. Raises DiskError: the disk
        still refuses; may be tried again.
        """
        self._lead(None)
        durable = 0
        try:
            if self._writer.failure is not None:
                self._start_segment()
                durable = self._writer.durable_sequence
        finally:
            self._yield_lead(durable)

    def close(self) -> None:
        """Make all records durable, mark the log as cleanly closed, and close it.

        Raises DiskError: the disk refused; the log is closed all the same.
        """
        self._lead(None)
        try:
            if self._writer.failure is not None:
                self._start_segment()
            self._writer.close()
        finally:
            self._writer.abandon()
            self._yield_lead(self._writer.durable_sequence)

    def _lead(self, sequence: int | None) -> bool:
        """Wait for one's turn at the file.

        `sequence`: the record that shall be durable, or None to get the turn in any case. Returns
        True when the turn is the caller's, False when another thread made it durable.
        """
        with self._sync_lock:  # as the condition does, with two calls less
            while self._syncing:
                self._wait()
                if sequence is not None and sequence <= self._durable:
                    return False
            if sequence is not None and sequence <= self._durable:
                return False
            self._syncing = True
            return True

    def _wait(self) -> None:
        """Wait until a turn ends. The caller holds the lock."""
        self._waiting += 1
        try:
            self._sync_condition.wait()
        finally:
            self._waiting -= 1

    def _yield_lead(self, durable: int) -> None:
        """End one's turn, however it went, and wake those who wait."""
        try:
            if durable > self._durable and self._mark is not None:
                self._mark.note_log(self.durable_end)
        finally:  # also when the thread is interrupted
            with self._sync_lock:
                self._durable = max(self._durable, durable)
                self._syncing = False
                if self._waiting:
                    self._sync_condition.notify_all()

    def _sync_as_leader(self) -> None:
        durable = 0
        try:
            durable = self._writer.sync()
        finally:
            self._yield_lead(durable)

    def _take_back(self, error: DiskError) -> None:
        """Undo an append that failed, or raise that its outcome is unknown."""
        self._lead(None)
        durable = 0
        try:
            try:
                self._writer.undo_append()
            except DiskError:
                self._start_segment()
            durable = self._writer.durable_sequence
        except DiskError as refusal:
            raise in_doubt(error) from refusal
        finally:
            self._yield_lead(durable)

    def _roll(self) -> None:
        """Make the segment in use durable and start the next one."""
        self._lead(None)
        try:
            # What cannot be synced there, the next segment takes over.
            with suppress(DiskError):
                self._writer.trim()
                self._writer.sync()
            self._start_segment()
        finally:
            self._yield_lead(self._writer.durable_sequence)

    def _start_segment(self, first_sequence: int | None = None) -> None:
        """Go on in a new segment, which takes over what is not durable. The caller leads.

        `first_sequence`: of its first record; None goes on behind what is durable. Raises
        DiskError: refused; the log accepts nothing until this has succeeded.
        """
        old = self._writer
        first = old.durable_sequence + 1 if first_sequence is None else first_sequence
        identity = LogIdentity(LogKind.WAL, old.identity.number + 1, first, self._database_id)
        try:
            writer = create_segment(self._env, self._directory, identity, old.unconfirmed)
        except DiskError as error:
            # The name may be there all the same, and then nothing behind `first` counts here.
            old.fail(error)
            raise
        self._writer = writer
        old.abandon()
        with self._sync_lock:
            self._segments = [*self._segments, segment_of(writer, self._directory)]
