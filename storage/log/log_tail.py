"""Following a log that another process writes.

A reader beside a writer reads a log to its end, and later what came behind that end. Whether
anything did is one read of a few bytes, so it can be checked before every statement. Nothing on
disk is changed: a record that is half written is simply not there yet.
"""

from collections.abc import Iterator

from pykudu_sql.storage.fs.env import Env, RandomAccessFile
from pykudu_sql.storage.log.log_reader import LogEnd, LogReader
from pykudu_sql.storage.log.record_log import (
    RECORD_HEADER,
    RECORD_HEADER_BYTES,
    LogIdentity,
    LogKind,
)


class LogTail:
    """One log file and how far it was read. Belongs to one thread at a time.

    `identity`: as its header says; `end`: behind the last record read.
    """

    def __init__(
        self, env: Env, path: str, kind: LogKind, number: int, database_id: bytes | None
    ) -> None:
        """Open a log; nothing of it is read yet but its header.

        `path`, `kind`, `number`, `database_id`: see `LogReader.open`. Raises CorruptionError: the
        header is damaged or is that of another log; FormatVersionError: written by a newer version;
        DiskError: refused by the file system.
        """
        self.path = path
        self._env = env
        self._kind = kind
        self._number = number
        reader = LogReader.open(env, path, kind, number, database_id)
        reader.close()
        self.identity: LogIdentity = reader.identity
        self.end = LogEnd.of_new(self.identity)
        self._file: RandomAccessFile | None = None

    def read(self, until: int | None = None) -> Iterator[tuple[int, bytes]]:
        """The records behind those read before, as (sequence, payload), ascending.

        `until`: the last sequence that counts. Raises CorruptionError: a record that was durable is
        damaged or missing; DiskError: the file is gone.
        """
        reader = LogReader.open(
            self._env, self.path, self._kind, self._number, self.identity.database_id
        )
        try:
            yield from reader.records(self.end, until)
            self.end = reader.end
        finally:
            reader.close()

    def read_durable(self, limit: int | None) -> Iterator[tuple[int, bytes]]:
        """The same up to a limit, and beyond it what later records note as durable.

        `limit`: the last record that is known to be durable; None for no limit. Raises
        CorruptionError, DiskError: see `read`.
        """
        yield from self.read(limit)
        if limit is not None and self.has_more_than_seal():
            yield from self.read(max(limit, self._confirmed()))

    def _confirmed(self) -> int:
        """The highest sequence that the records after those read note as durable."""
        reader = LogReader.open(
            self._env, self.path, self._kind, self._number, self.identity.database_id
        )
        try:
            return reader.confirmed_behind(self.end)
        finally:
            reader.close()

    def has_grown(self) -> bool:
        """Whether anything stands behind the last record read.

        Raises DiskError: the file is gone.
        """
        return any(self._header_at(self.end.offset))

    def has_more_than_seal(self) -> bool:
        """Whether anything but one seal stands behind the last record read.

        Raises DiskError: the file is gone.
        """
        header = self._header_at(self.end.offset)
        if not any(header):
            return False
        is_seal = RECORD_HEADER.unpack(header)[0] == 0
        return not is_seal or any(self._header_at(self.end.offset + RECORD_HEADER_BYTES))

    def _header_at(self, place: int) -> bytes:
        """The header of a record, empty where the file ends before."""
        length = RECORD_HEADER_BYTES
        file = self._file
        if file is None or place + length > file.size:
            if place + length > self._env.size_of(self.path):
                return b""
            self.close()
            file = self._file = self._env.open_random(self.path)
            if place + length > file.size:
                return b""
        return file.read(place, length)

    def close(self) -> None:
        """Close the file; it is opened again when needed."""
        if self._file is not None:
            self._file.close()
            self._file = None
