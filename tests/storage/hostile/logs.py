"""Logs taken apart and put together again with right checksums."""

from collections.abc import Sequence

from google_crc32c import value as crc32c

from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.log.log_reader import LogReader
from pykudu_sql.storage.log.record_log import (
    PADDING,
    RECORD_HEADER,
    LogIdentity,
    LogKind,
    record_checksum,
)


def take_apart(env: Env, path: str, kind: LogKind, number: int) -> tuple[LogIdentity, list[bytes]]:
    """The identity and the payloads of a sound log."""
    reader = LogReader.open(env, path, kind, number)
    payloads = [payload for _, payload in reader.records()]
    reader.close()
    return reader.identity, payloads


def put_together(identity: LogIdentity, payloads: Sequence[bytes]) -> bytes:
    """A log of the payloads, each durable before the next, closed with a seal."""
    data = bytearray(identity.encode())
    for sequence, payload in enumerate((*payloads, b""), identity.first_sequence):
        sequence %= 1 << 64
        found = record_checksum(identity.mark, len(data), 1, sequence, payload)
        data += RECORD_HEADER.pack(len(payload), found, sequence, 1, identity.mark)
        data += payload + PADDING[len(payload) % 8]
    return bytes(data)


def with_checksum(text: bytes) -> bytes:
    """The lines of a CURRENT, with the line that is their checksum."""
    return text + b"crc32c %08x\n" % crc32c(text)
