"""The writing end of a log: framed appends, preallocated space, and no second sync of a failed one.

An append is one positioned write. Space ahead is filled with zeros 64 KiB at a time, because a
sync of bytes inside a file is cheaper than one that also grows it: 60 against 83 microseconds for
128 bytes on the ext4 disk this was tuned on. Chunks from 16 KiB to 4 MiB gave the same median;
the sync that first covers a fresh chunk takes 0.4 ms at 64 KiB, 2 to 4 ms at 1 MiB and 10 ms at
4 MiB, and small databases stay small.

After a failed sync nothing is known about the bytes on disk: Linux may have dropped the dirty pages
and reports that once, so a second sync of the same file may claim what is not so. The writer
refuses all further work and keeps in memory what no sync has confirmed, for a new file to take
over. After a failed write `undo_append` may take the record back: the pages of the others are as
good as before.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Self

from pykudu_sql.storage.errors import (
    DiskError,
    TransactionResolutionUnknownError,
    ValueTooLargeError,
)
from pykudu_sql.storage.fs.env import Env, WritableFile
from pykudu_sql.storage.log.log_reader import LogEnd
from pykudu_sql.storage.log.record_log import (
    MAX_PAYLOAD_BYTES,
    PADDING,
    RECORD_HEADER,
    LogIdentity,
    record_checksum,
)

_ALLOCATION_BYTES = 1 << 16
_LARGE_BYTES = 1 << 20


class LogWriter:
    """Appends records to one file.

    Appends come from one thread at a time; `sync` may run in another beside them.

    Attributes:
        identity: which log it is.
        last_sequence: sequence of the last record; one less than the first before any.
        durable_sequence: all records up to this one survive a power loss.
        size: bytes in use, header included.
        failure: the error after which nothing more is accepted, or None; only a `undo_append` that
            succeeds ends it.
    """

    def __init__(self, file: WritableFile, identity: LogIdentity, end: LogEnd) -> None:
        self._file = file
        self._mark = identity.mark
        self._closed = False
        self._confirmed = end.confirmed
        self._allocate_point = f"{identity.kind}.allocate"
        self._append_point = f"{identity.kind}.append"
        self._sync_point = f"{identity.kind}.sync"
        self._unconfirmed: deque[bytes] = deque()
        self._can_cut_back = True
        self.identity = identity
        self.size = end.offset
        self.last_sequence = end.last_sequence
        self.durable_sequence = end.last_sequence
        self.failure: DiskError | None = None

    @classmethod
    def create(cls, env: Env, path: str, identity: LogIdentity) -> Self:
        """Start a log; its header is synced, its name is for the caller to sync.

        Raises DiskError: refused by the file system.
        """
        file = env.create(path, point=f"{identity.kind}.create")
        try:
            file.append(identity.encode(), point=f"{identity.kind}.header")
            file.sync(point=f"{identity.kind}.header_sync")
        except DiskError:
            file.close()
            raise
        return cls(file, identity, LogEnd.of_new(identity))

    @classmethod
    def resume(cls, env: Env, path: str, identity: LogIdentity, end: LogEnd) -> Self:
        """Go on at the end that a `LogReader` found.

        A torn tail is cut off on disk first: left there, a stale record of it could line up with
        new ones. What was read is synced, since a killed process leaves records that only the page
        cache knows. Raises DiskError: refused by the file system.
        """
        file = env.open_writable(path)
        try:
            if end.cut:
                file.truncate(end.offset, point=f"{identity.kind}.cut")
            file.sync(point=f"{identity.kind}.resume_sync")
        except DiskError:
            file.close()
            raise
        return cls(file, identity, end)

    def append(self, payload: bytes) -> int:
        """Add a record, not yet durable, and return its sequence.

        `payload`: 1 byte to 1 GiB. Raises ValueTooLargeError: over 1 GiB; the log stays usable;
        DiskError: the write failed, or an earlier write or sync; what is on disk is not known.
        """
        if not payload:
            raise ValueError("a log record needs a payload")
        return self._append(payload)

    def take_over(self, payloads: Iterable[bytes]) -> None:
        """Add the unconfirmed records of another file, seals among them; see `append`."""
        for payload in payloads:
            self._append(payload)

    def _append(self, payload: bytes) -> int:
        if self.failure is not None:
            self.check_writable()
        length = len(payload)
        if length > MAX_PAYLOAD_BYTES:
            raise ValueTooLargeError(
                f"a record of {length} bytes is over the limit of {MAX_PAYLOAD_BYTES} bytes for "
                f"'{self._file.path}'",
                hint="Write fewer rows in one transaction.",
            )
        sequence = self.last_sequence + 1
        lag = sequence - self.durable_sequence
        offset = self.size
        checksum = record_checksum(self._mark, offset, lag, sequence, payload)
        header = RECORD_HEADER.pack(length, checksum, sequence, lag, self._mark)
        padding = PADDING[length % 8]
        end = offset + len(header) + length + len(padding)
        try:
            if end > self._file.size and end - offset < _ALLOCATION_BYTES:
                self._allocate(end)
            if length < _LARGE_BYTES:
                record = b"".join((header, payload, padding))
                self._file.write_at(offset, record, point=self._append_point)
            else:
                self._write(offset, (header, payload, padding))
        except DiskError as error:
            self.failure = error
            raise
        self.size = end
        self._unconfirmed.append(payload)  # before a sync beside this can count it
        self.last_sequence = sequence
        self._confirmed = False
        return sequence

    def _write(self, offset: int, pieces: Iterable[bytes]) -> None:
        """Write what comes after each other, each by itself: a large payload is not copied then.

        A crash between two pieces leaves what one within a write does.
        """
        for piece in filter(None, pieces):
            self._file.write_at(offset, piece, point=self._append_point)
            offset += len(piece)

    def _allocate(self, end: int) -> None:
        """Fill up to the next chunk behind `end`. Records longer than a chunk grow the file
        themselves: writing them twice would cost more than it saves."""
        chunks = -(-end // _ALLOCATION_BYTES)
        self._file.allocate(chunks * _ALLOCATION_BYTES, point=self._allocate_point)

    def sync(self) -> int:
        """Make all records appended before this call durable; return the last one's sequence.

        Raises DiskError: the sync failed, or an earlier write or sync; nothing more is accepted.
        """
        self.check_writable()
        target = self.last_sequence
        try:
            self._file.sync(point=self._sync_point)
        except DiskError as error:
            self.fail(error)
            raise
        self._confirm(target)
        return target

    def _confirm(self, sequence: int) -> None:
        for _ in range(sequence - self.durable_sequence):
            self._unconfirmed.popleft()
        self.durable_sequence = sequence

    def undo_append(self) -> None:
        """Take an append that failed back, durably, and accept others again.

        All records before it are durable on return as well. Raises DiskError: refused, or a sync
        has failed; what is on disk is not known.
        """
        if self.failure is not None and not self._can_cut_back:
            raise self.failure
        try:
            self._file.truncate(self.size, point=f"{self.identity.kind}.cut_back")
            self._file.sync(point=f"{self.identity.kind}.cut_back_sync")
        except DiskError as error:
            self.fail(error)
            raise
        self._confirm(self.last_sequence)
        self.failure = None

    def fail(self, error: DiskError) -> None:
        """Accept nothing more, for good."""
        self.failure = error
        self._can_cut_back = False

    @property
    def unconfirmed(self) -> Sequence[bytes]:
        """The payloads of the records that no sync has confirmed, in order."""
        return tuple(self._unconfirmed)

    def seal(self) -> None:
        """Make all records durable, then write a record that confirms it.

        The seal itself is not synced: it protects against damage, not against a crash. Raises
        DiskError: write or sync failed, now or earlier; what is on disk is not known.
        """
        if self.durable_sequence < self.last_sequence:
            self.sync()
        if not self._confirmed:
            self._append(b"")
            self._confirmed = True

    def trim(self) -> None:
        """Give back the space allocated ahead.

        Raises DiskError: refused; nothing is lost by that.
        """
        self._file.truncate(self.size, point=f"{self.identity.kind}.trim")

    def close(self) -> None:
        """Seal, trim, make all of it durable and close. After a failure, only close.

        Closing twice is allowed. Raises DiskError: the last sync failed; the file is closed all the
        same.
        """
        if self._closed:
            return
        self._closed = True
        try:
            if self.failure is None:
                self.seal()
                self.trim()
                self.sync()
        finally:
            self._file.close()

    def abandon(self) -> None:
        """Close without a word on disk: for a file that no longer counts."""
        self._file.close()

    def check_writable(self) -> None:
        """See that records are accepted. Raises DiskError: an earlier write or sync failed."""
        failure = self.failure
        if failure is not None:
            raise type(failure)(failure.message, hint=failure.hint) from failure


def undone(error: DiskError) -> DiskError:
    """The error for a change that the disk refused and of which nothing is left."""
    return type(error)(f"{error.message}; nothing was changed", hint=error.hint)


def barred(error: DiskError) -> DiskError:
    """The error of reads and writes while the outcome of an earlier commit is unknown."""
    return type(error)(
        "nothing can be read or written now: it is not known whether an earlier commit is on disk: "
        + error.message,
        hint="Fix the cause and run the statement again; the next one, or opening the database "
        "again, resolves the earlier commit.",
    )


def in_doubt(error: DiskError) -> TransactionResolutionUnknownError:
    """The error for a change that the disk refused, and then refused to take back."""
    return TransactionResolutionUnknownError(
        f"it is not known whether the change is on disk: {error.message}",
        hint="Fix the cause; the next statement, or opening the database again, resolves it. Then "
        "see whether the change is there.",
    )
