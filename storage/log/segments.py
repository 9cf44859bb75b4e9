"""The segments of a write-ahead log as they lie in their directory.

Segment `N.log` is followed by `N+1.log`, whose header says with which sequence it goes on. There
the old one ends: what may stand in it behind is what a failed write or sync left, and the new one
has it again or it never happened. What the old one has before that was synced before the new one
was made, so only the newest may have a torn tail.

A segment gets its name when it is whole. In databases that were written before that rule, a newest
one without a valid header and with nothing behind it is void: nothing was ever in it.
"""

from collections.abc import Iterator
from itertools import pairwise

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.layout import parse_log_name, segment_path
from pykudu_sql.storage.log.durable_mark import DurableEnd
from pykudu_sql.storage.log.log_reader import LogEnd, LogReader
from pykudu_sql.storage.log.record_log import FILE_HEADER_BYTES, KEEP_A_COPY, LogKind, is_intact


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment. `number`: the N of `N.log`; `first_sequence`: sequence of its first record."""

    number: int
    path: str
    first_sequence: int


def segment_numbers(env: Env, directory: str) -> list[int]:
    """Numbers of the segments in a directory, ascending; other names are not ours."""
    numbers = (parse_log_name(name) for name in env.list_dir(directory))
    return sorted(number for number in numbers if number is not None)


def find_segments(env: Env, directory: str, database_id: bytes) -> list[Segment]:
    """All segments but a void last one, ascending.

    Raises CorruptionError: a header is damaged, or is that of another log or database;
    FormatVersionError: a segment was written by a newer version.
    """
    numbers = segment_numbers(env, directory)
    if numbers and is_void(env, segment_path(directory, numbers[-1])):
        numbers.pop()
    segments = []
    for number in numbers:
        path = segment_path(directory, number)
        reader = LogReader.open(env, path, LogKind.WAL, number, database_id)
        reader.close()
        segments.append(Segment(number, path, reader.identity.first_sequence))
    return segments


def check_present(env: Env, directory: str, reaches: DurableEnd) -> None:
    """See that the segment of a record that was safely on disk is there, or a later one.

    Raises CorruptionError: it is not.
    """
    numbers = segment_numbers(env, directory) if env.exists(directory) else []
    if max(numbers, default=0) < reaches.number:
        raise CorruptionError(
            f"'{segment_path(directory, reaches.number)}' is missing: record {reaches.sequence} of "
            "the write-ahead log was safely on disk",
            hint=KEEP_A_COPY,
        )


def check_reaches(last: str, end: LogEnd, reaches: DurableEnd) -> None:
    """See that the newest segment ends no sooner than it may.

    `last`: its path; `end`: where it ends; `reaches`: a record that was safely on disk. Raises
    CorruptionError: it ends before that record.
    """
    if end.last_sequence < reaches.sequence:
        raise CorruptionError(
            f"'{last}' is damaged at offset {end.offset}: it ends with record {end.last_sequence}, "
            f"but record {reaches.sequence} was safely on disk",
            hint=KEEP_A_COPY,
        )


def is_void(env: Env, path: str) -> bool:
    """Whether a segment was created and its header never written."""
    file = env.open_random(path)
    try:
        header = file.read(0, min(FILE_HEADER_BYTES, file.size))
        if is_intact(header):
            return False
        start = len(header)
        while start < file.size:
            data = file.read(start, min(1 << 20, file.size - start))
            if data.count(0) != len(data):
                return False
            start += len(data)
        return True
    finally:
        file.close()


def segments_after(segments: list[Segment], directory: str, after: int) -> list[Segment]:
    """The segments that can hold records behind `after`.

    Raises CorruptionError: one of them is missing.
    """
    start = max((i for i, s in enumerate(segments) if s.first_sequence <= after + 1), default=None)
    if start is None:
        if not segments and after == 0:
            return []
        begins = f"begins at record {segments[0].first_sequence}" if segments else "is empty"
        raise CorruptionError(
            f"the write-ahead log in '{directory}' {begins}, but record {after + 1} is needed",
            hint=KEEP_A_COPY,
        )
    live = segments[start:]
    for segment, successor in pairwise(live):
        if successor.number != segment.number + 1:
            raise CorruptionError(
                f"'{segment_path(directory, segment.number + 1)}' is missing: records from "
                f"'{segment.path}' up to '{successor.path}' are needed",
                hint=KEEP_A_COPY,
            )
    return live


def replay_segments(
    env: Env, segments: list[Segment], database_id: bytes, after: int
) -> Iterator[tuple[int, bytes]]:
    """The records behind `after` of an unbroken run of segments, ascending.

    Raises CorruptionError: a record is damaged, or a segment ends before the next one goes on.
    """
    for segment, successor in zip(segments, [*segments[1:], None], strict=True):
        reader = LogReader.open(env, segment.path, LogKind.WAL, segment.number, database_id)
        until = None if successor is None else successor.first_sequence - 1
        try:
            for sequence, payload in reader.records(until=until):
                if sequence > after:
                    yield sequence, payload
        finally:
            reader.close()
        if successor is not None and reader.end.last_sequence + 1 != successor.first_sequence:
            raise CorruptionError(
                f"'{segment.path}' is damaged at offset {reader.end.offset}: it ends with record "
                f"{reader.end.last_sequence}, but '{successor.path}' goes on with record "
                f"{successor.first_sequence}",
                hint=KEEP_A_COPY,
            )
