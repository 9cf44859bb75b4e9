"""The write-ahead log as a process reads it that does not write it.

The writer appends to the newest segment, starts the next one, and drops the oldest ones when what
they hold is on disk. A reader goes from segment to segment by their numbers; one that was dropped
before it was read is for the caller to notice by the manifest, which is told of it first.
"""

from collections.abc import Iterator

from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.layout import segment_path
from pykudu_sql.storage.log.log_tail import LogTail
from pykudu_sql.storage.log.record_log import KEEP_A_COPY, LogKind
from pykudu_sql.storage.log.segments import find_segments, is_void, needed_segments


class WalTail:
    """The segments of a log and how far they were read. Belongs to one thread at a time."""

    def __init__(self, env: Env, directory: str, database_id: bytes, after: int) -> None:
        """Find the segments that hold records behind `after`.

        Raises:
            CorruptionError: one of them is missing, or its header is damaged.
            FormatVersionError: written by a newer version.
            DiskError: refused by the file system, or dropped meanwhile.
        """
        self._env = env
        self._directory = directory
        self._database_id = database_id
        self._after = after
        segments = find_segments(env, directory, database_id) if env.exists(directory) else []
        needed = needed_segments(segments, directory, after)
        self._last_number = needed[-1].number if needed else 0
        first = needed[0].number if needed else 1
        self._tail = self._open(first) if needed else None
        self._next_number = first + 1 if needed else first

    def read(self) -> Iterator[tuple[int, bytes]]:
        """The records behind those read before, as (sequence, payload), ascending.

        Raises:
            CorruptionError: a record that was durable is damaged or missing.
            DiskError: a segment is gone.
        """
        while True:
            yield from self._read_segment()
            if not self._has_successor():
                return
            # What came between reading the segment and seeing its successor; it is whole now.
            yield from self._read_segment()
            self._go_on()

    def _read_segment(self) -> Iterator[tuple[int, bytes]]:
        for sequence, payload in () if self._tail is None else self._tail.read():
            if sequence > self._after:
                yield sequence, payload

    def has_grown(self) -> bool:
        """Whether there may be more records.

        Raises:
            DiskError: the segment read last is gone.
        """
        return self._has_successor() or (self._tail is not None and self._tail.has_grown())

    def path_of(self, sequence: int) -> str:
        """The file to name in a message about a record: the segment being read."""
        return self._directory if self._tail is None else self._tail.path

    def close(self) -> None:
        """Close the files."""
        if self._tail is not None:
            self._tail.close()

    def _open(self, number: int) -> LogTail:
        path = segment_path(self._directory, number)
        return LogTail(self._env, path, LogKind.WAL, number, self._database_id)

    def _has_successor(self) -> bool:
        path = segment_path(self._directory, self._next_number)
        if not self._env.exists(path):
            return False
        return self._next_number <= self._last_number or not is_void(self._env, path)

    def _go_on(self) -> None:
        old, new = self._tail, self._open(self._next_number)
        if old is not None:
            old.close()
            if old.end.last_sequence + 1 != new.identity.first_sequence:
                raise CorruptionError(
                    f"'{old.path}' ends with record {old.end.last_sequence}, but '{new.path}' "
                    f"goes on with record {new.identity.first_sequence}",
                    hint=KEEP_A_COPY,
                )
        self._tail = new
        self._next_number += 1
