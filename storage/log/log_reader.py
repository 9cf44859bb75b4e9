"""The reading end of a log: what is good, where it ends, and what damage means.

A log ends where only zeros follow. A record that does not check out is one of two things:

* What a crash left of writes nobody had confirmed. Pages reach the disk in any order, so whole
  records may stand behind the damaged one. The tail is cut: nothing that was acknowledged is in it.
* Damage to a record that was durable once. Some later record says so: each carries the highest
  sequence that was known durable when it was written. That is corruption; nothing is cut.

So on a bad record the rest of the file is searched for good ones (the mark of the file makes
them easy to find), and one that confirms the bad record's sequence decides. A flipped bit in the
last record, which no other confirms, looks like a torn write; a clean close leaves a seal that
closes this gap.
"""

from collections.abc import Iterator
from typing import NamedTuple, Self

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.errors import CorruptionError, InternalError
from pykudu_sql.storage.fs.env import Env, RandomAccessFile
from pykudu_sql.storage.log.record_log import (
    ALIGNMENT,
    FILE_HEADER_BYTES,
    KEEP_A_COPY,
    MAX_PAYLOAD_BYTES,
    PADDING,
    RECORD_HEADER,
    RECORD_HEADER_BYTES,
    LogIdentity,
    LogKind,
    check_identity,
    decode_identity,
    record_checksum,
)

_WINDOW_BYTES = 1 << 20
_SEARCH_BYTES = 1 << 23
_MARK_BYTES = 4


@dataclass(frozen=True, slots=True)
class LogEnd:
    """Where the good records of a log end.

    Attributes:
        offset: end of the last good record in bytes, a multiple of 8.
        last_sequence: its sequence; one less than the first when there is none.
        confirmed: nothing needs a seal: the last record is one, or there is no record.
        cut: what follows is neither nothing nor zeros, and is to be thrown away.
    """

    offset: int
    last_sequence: int
    confirmed: bool
    cut: bool

    @classmethod
    def of_new(cls, identity: LogIdentity) -> Self:
        """The end of a log that has just its header."""
        return cls(FILE_HEADER_BYTES, identity.first_sequence - 1, True, False)


NO_RECORDS = LogEnd(0, 0, True, False)


class LogReader:
    """Iterates over one log file from its first record to its end. Changes nothing."""

    def __init__(self, file: RandomAccessFile, identity: LogIdentity) -> None:
        self._file = file
        self._mark = identity.mark
        self._window = _Window(file)
        self._end: LogEnd | None = None
        self.identity = identity

    @classmethod
    def open(
        cls, env: Env, path: str, kind: LogKind, number: int, database_id: bytes | None = None
    ) -> Self:
        """Open a log and check that it is the one that belongs there.

        Args:
            kind, number: what it must be.
            database_id: the database it must belong to; None takes it from the header.

        Raises CorruptionError: the header is damaged or is that of another log; FormatVersionError:
        written by a newer version; DiskError: refused by the file system.
        """
        file = env.open_random(path)
        try:
            header = file.read(0, min(FILE_HEADER_BYTES, file.size))
            identity = decode_identity(header, path)
            check_identity(identity, path, kind, number, database_id)
        except BaseException:
            file.close()
            raise
        return cls(file, identity)

    def records(
        self, behind: LogEnd | None = None, until: int | None = None
    ) -> Iterator[tuple[int, bytes]]:
        """Every (sequence, payload), ascending; seals are passed over. Sets `end` when done.

        Args:
            behind: the end that an earlier reading of the file found, to go on there.
            until: the last sequence that counts; what stands behind it is not looked at.

        Raises CorruptionError: a record that was durable is damaged or missing.
        """
        start = LogEnd.of_new(self.identity) if behind is None else behind
        offset, sequence, confirmed = start.offset, start.last_sequence, start.confirmed
        while until is None or sequence < until:
            record = self._record_at(offset)
            if record is None and self._is_confirmed(offset, sequence + 1):
                # A reader beside a live writer may have met a record half written; by the time
                # a later one confirms it, it is whole.
                self._window.forget()
                record = self._record_at(offset)
                if record is None:
                    raise self._corruption(offset, sequence + 1)
            if record is None:
                break
            if record.sequence != sequence + 1:
                raise self._gap(offset, record.sequence, sequence + 1)
            if record.payload:
                yield record.sequence, record.payload
            offset, sequence, confirmed = record.end, record.sequence, not record.payload
        cut = until is None and not self._only_zeros_from(offset)
        self._end = LogEnd(offset, sequence, confirmed, cut)

    @property
    def end(self) -> LogEnd:
        """Where the log ends; known once `records` is exhausted."""
        if self._end is None:
            raise InternalError(f"'{self._file.path}' was not read to its end")
        return self._end

    def confirmed_behind(self, end: LogEnd) -> int:
        """The highest sequence that intact records after an end note as durable; 0 without any."""
        confirmed, offset = 0, end.offset
        while (record := self._record_at(offset)) is not None:
            confirmed, offset = max(confirmed, record.sequence - record.lag), record.end
        return confirmed

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _record_at(self, offset: int) -> "_Record | None":
        """The record at `offset`, or None when no intact one is there."""
        header = self._window.fetch(offset, RECORD_HEADER_BYTES)
        if header is None:
            return None
        length, checksum, sequence, lag, mark = RECORD_HEADER.unpack(header)
        if mark != self._mark or length > MAX_PAYLOAD_BYTES:
            return None
        padding = PADDING[length % ALIGNMENT]
        body = self._window.fetch(offset + RECORD_HEADER_BYTES, length + len(padding))
        if body is None or not body.endswith(padding):
            return None
        payload = body[:length]
        if record_checksum(mark, offset, lag, sequence, payload) != checksum:
            return None
        return _Record(sequence, lag, payload, offset + RECORD_HEADER_BYTES + len(body))

    def _is_confirmed(self, offset: int, sequence: int) -> bool:
        """Whether an intact record after `offset` notes that `sequence` was durable."""
        for candidate in self._mark_offsets(offset):
            record = self._record_at(candidate)
            if record is not None and record.sequence - record.lag >= sequence:
                return True
        return False

    def _mark_offsets(self, offset: int) -> Iterator[int]:
        """Aligned offsets from `offset` on where a record header may stand."""
        mark = self._mark.to_bytes(_MARK_BYTES, "little")
        before = RECORD_HEADER_BYTES - _MARK_BYTES
        for start in range(offset, self._file.size, _SEARCH_BYTES):
            reach = min(_SEARCH_BYTES + RECORD_HEADER_BYTES - ALIGNMENT, self._file.size - start)
            data = self._file.read(start, reach)
            place = data.find(mark, before)
            while place >= 0:
                if (place - before) % ALIGNMENT == 0:
                    yield start + place - before
                place = data.find(mark, place + 1)

    def _only_zeros_from(self, offset: int) -> bool:
        """Whether nothing was ever written from `offset` on."""
        for start in range(offset, self._file.size, _SEARCH_BYTES):
            data = self._file.read(start, min(_SEARCH_BYTES, self._file.size - start))
            if data.count(0) != len(data):
                return False
        return True

    def _corruption(self, offset: int, sequence: int) -> CorruptionError:
        return CorruptionError(
            f"'{self._file.path}' is damaged at offset {offset}: record {sequence} does not match "
            "its checksum, though later records show that it was safely on disk",
            hint=KEEP_A_COPY,
        )

    def _gap(self, offset: int, sequence: int, expected: int) -> CorruptionError:
        return CorruptionError(
            f"'{self._file.path}' is damaged at offset {offset}: record {sequence} stands where "
            f"record {expected} belongs",
            hint=KEEP_A_COPY,
        )


class _Record(NamedTuple):
    """An intact record; `end` is the offset behind it."""

    sequence: int
    lag: int
    payload: bytes
    end: int


class _Window:
    """A stretch of the file in memory, moved forward as reading goes on."""

    def __init__(self, file: RandomAccessFile) -> None:
        self._file = file
        self._start = 0
        self._data = b""

    def fetch(self, offset: int, length: int) -> bytes | None:
        """The bytes there, or None when the file ends before them."""
        begin = offset - self._start
        if begin < 0 or begin + length > len(self._data):
            left = self._file.size - offset
            if length > left:
                return None
            self._start = offset
            self._data = self._file.read(offset, min(max(length, _WINDOW_BYTES), left))
            begin = 0
        return self._data[begin : begin + length]

    def forget(self) -> None:
        """Drop the buffer, so that the next read is from the file."""
        self._data = b""
