"""The write-ahead log as a process reads it that does not write it.

The writer appends to the newest segment, starts the next one, and drops the oldest ones when what
they hold is on disk. A reader goes from segment to segment by their numbers; one that was dropped
before it was read is for the caller to notice by the manifest, which records it first.
"""

from collections.abc import Iterable, Iterator

from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.layout import segment_path
from pykudu_sql.storage.log.durable_mark import NOWHERE, DurableEnd
from pykudu_sql.storage.log.log_reader import NO_RECORDS
from pykudu_sql.storage.log.log_tail import LogTail
from pykudu_sql.storage.log.read_limits import ReadLimits
from pykudu_sql.storage.log.record_log import KEEP_A_COPY, LogKind
from pykudu_sql.storage.log.segments import (
    check_present,
    check_reaches,
    find_segments,
    is_void,
    segments_after,
)


class WalTail:
    """The segments of a log and how far they were read. Belongs to one thread at a time."""

    def __init__(
        self,
        env: Env,
        directory: str,
        database_id: bytes,
        after: int,
        limits: ReadLimits | None = None,
        reaches: DurableEnd = NOWHERE,
    ) -> None:
        """Find the segments that hold records behind `after`.

        Args:
            after: the highest sequence that is no longer needed.
            limits: up to which record may be read; None for all.
            reaches: a record that the log has, or it is damaged.

        Raises CorruptionError: one of them is missing, or its header is damaged;
        FormatVersionError: written by a newer version; DiskError: refused by the file system, or
        dropped meanwhile.
        """
        self._env = env
        self._directory = directory
        self._database_id = database_id
        self._limits = limits
        self._reaches = reaches
        # The last record that was read or is not needed.
        self._passed = after
        check_present(env, directory, reaches)
        segments = find_segments(env, directory, database_id) if env.exists(directory) else []
        live = segments_after(segments, directory, after)
        self._last_number = live[-1].number if live else 0
        first = live[0].number if live else 1
        self._tail = self._open(first) if live else None
        self._next_number = first + 1 if live else first

    def read(self) -> Iterator[tuple[int, bytes]]:
        """The records behind those read before, as (sequence, payload), ascending.

        Raises CorruptionError: a record that was durable is damaged or missing; DiskError: a
        segment is gone.
        """
        while True:
            # In this order: notes only grow, and after a repair they are of the new segment.
            reaches = self._reaches if self._limits is None else self._limits.log_reaches()
            limit = self._limit()
            if not self._has_successor():
                break
            successor = self._open(self._next_number)
            if self._tail is not None:
                yield from self._pass(self._tail.read(successor.identity.first_sequence - 1))
            self._go_on_in(successor)
        if self._tail is not None:
            yield from self._pass(self._tail.read_durable(limit))
        end = NO_RECORDS if self._tail is None else self._tail.end
        path = self._directory if self._tail is None else self._tail.path
        for reach in (self._reaches, reaches):
            check_reaches(path, end, reach)

    def _limit(self) -> int | None:
        end = None if self._limits is None else self._limits.log()
        return None if end is None else max(end.sequence, self._reaches.sequence)

    def _pass(self, records: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        for sequence, payload in records:
            if sequence > self._passed:
                self._passed = sequence
                yield sequence, payload

    def has_grown(self) -> bool:
        """Whether there may be more records. Raises DiskError: the segment read last is gone."""
        limit = self._limit()
        tail, limits = self._tail, self._limits
        if limit is None or limits is None:
            return self._has_successor() or (tail is not None and tail.has_grown())
        if limit > (0 if tail is None else tail.end.last_sequence):
            return True
        more = self._has_successor() or (tail is not None and tail.has_more_than_seal())
        return more and limits.drop_if_writer_gone()

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

    def _go_on_in(self, new: LogTail) -> None:
        old = self._tail
        if old is not None:
            old.close()
            if old.end.last_sequence + 1 < new.identity.first_sequence:
                raise CorruptionError(
                    f"'{old.path}' ends with record {old.end.last_sequence}, but '{new.path}' "
                    f"goes on with record {new.identity.first_sequence}",
                    hint=KEEP_A_COPY,
                )
        self._tail = new
        self._next_number += 1
