"""Segments of the write-ahead log: how one begins, durable with its name, and where one ends."""

from collections.abc import Sequence

from pykudu_sql.storage.fs.env import Env, parent_of, publish
from pykudu_sql.storage.fs.layout import segment_path, temporary_directory, temporary_path
from pykudu_sql.storage.log.log_reader import LogEnd, LogReader
from pykudu_sql.storage.log.log_writer import LogWriter
from pykudu_sql.storage.log.record_log import LogIdentity, LogKind
from pykudu_sql.storage.log.segments import Segment


def create_segment(
    env: Env, directory: str, identity: LogIdentity, payloads: Sequence[bytes] = ()
) -> LogWriter:
    """A new segment with these records; all of it, and its name, durable."""
    path = segment_path(directory, identity.number)
    root = parent_of(directory).rstrip("/")
    temporary = temporary_path(root, "segment")
    env.make_dir(temporary_directory(root))
    if env.exists(temporary):
        env.unlink(temporary, point="wal.drop_temporary")
    writer = LogWriter.create(env, temporary, identity)
    try:
        if payloads:
            writer.take_over(payloads)
            writer.trim()
            writer.sync()
        publish(env, temporary, path, point="wal.create")
    finally:
        writer.abandon()
    end = LogEnd(writer.size, writer.last_sequence, not payloads, False)
    return LogWriter(env.open_writable(path), identity, end)


def segment_of(writer: LogWriter, directory: str) -> Segment:
    """The segment a writer writes."""
    identity = writer.identity
    return Segment(
        identity.number, segment_path(directory, identity.number), identity.first_sequence
    )


def end_of(env: Env, segment: Segment, database_id: bytes) -> LogEnd:
    """Find the end of the newest segment."""
    reader = LogReader.open(env, segment.path, LogKind.WAL, segment.number, database_id)
    try:
        for _ in reader.records():
            pass
    finally:
        reader.close()
    return reader.end
