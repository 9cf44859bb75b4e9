"""The bytes of a log: a header that says which log it is, then framed records.

One format serves the manifest and the write-ahead log (Kudu's protobuf container and its log
segments). All integers are little-endian.

    file header, 64 bytes
      0   8  magic "PYKUDUL\\n"
      8   4  format version
     12   8  kind, ASCII, padded with zeros: "manifest" or "wal"
     20   8  number of the file in its directory
     28   8  sequence of the first record that can follow
     36  16  database UUID
     52   8  zeros
     60   4  CRC-32C of bytes 0 .. 60; also the *mark* of the file

    record, at a multiple of 8 bytes
      0   4  length of the payload, 0 .. 1 GiB
      4   4  CRC-32C, started at the mark, over
             (offset u64, length u32, lag u32, sequence u64), then the payload
      8   8  sequence, one more than that of the record before
     16   4  lag: sequence minus the highest sequence known to be durable when this was written
     20   4  mark of the file
     24   -  payload, then zeros up to a multiple of 8 bytes

The checksum starts at the mark, which is the checksum of everything that identifies the file, and
covers the record's place in it: a perfect record in the wrong place, or of another file, database
or version, does not pass. The mark stands in every record so that a reader that lost its way
finds the next one by comparing one word in two.

The lag is at least 1 and cannot overflow: starting a new file makes the old one durable, and a
file holds fewer than 2**32 records.

A record without payload is a *seal*: a clean close writes one to confirm all before it, so
that damage to the last real record cannot pass for a write that a crash cut short. It takes a
sequence number and is never handed to readers of payloads.
"""

import struct
from enum import StrEnum
from uuid import UUID

from google_crc32c import extend as crc32c_extend
from google_crc32c import value as crc32c

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.errors import CorruptionError, FormatVersionError

FORMAT_VERSION = 1
MAX_PAYLOAD_BYTES = 1 << 30
FILE_HEADER_BYTES = 64
RECORD_HEADER_BYTES = 24
ALIGNMENT = 8

_MAGIC = b"PYKUDUL\n"
_FILE_HEADER = struct.Struct("<8sI8sQQ16s8x")
_CHECKSUM = struct.Struct("<I")

RECORD_HEADER = struct.Struct("<IIQII")
_RECORD_PLACE = struct.Struct("<QIIQ")

# PADDING[n] follows a payload of which n bytes lie in the last 8-byte word.
PADDING = tuple(bytes(-used % ALIGNMENT) for used in range(ALIGNMENT))

KEEP_A_COPY = (
    "Nothing was changed or thrown away. Copy the database directory before doing anything else, "
    "then restore this file from a backup, or all tables with `pykudu-sql restore`."
)


class LogKind(StrEnum):
    """What a log is for; stands in its header and in front of its fault points."""

    MANIFEST = "manifest"
    WAL = "wal"


@dataclass(frozen=True, slots=True)
class LogIdentity:
    """Which log a file is.

    Attributes:
        kind: what it is for.
        number: the N of `N.log`, from 1.
        first_sequence: sequence of the first record, whether or not it was written yet.
    """

    kind: LogKind
    number: int
    first_sequence: int
    database_id: bytes

    def encode(self) -> bytes:
        """The 64 bytes at the start of the file."""
        fields = _FILE_HEADER.pack(
            _MAGIC,
            FORMAT_VERSION,
            self.kind.value.encode("ascii"),
            self.number,
            self.first_sequence,
            self.database_id,
        )
        return fields + _CHECKSUM.pack(crc32c(fields))

    @property
    def mark(self) -> int:
        """The checksum of the header: where every record's checksum starts."""
        return mark_of(self.encode())


def mark_of(header: bytes) -> int:
    """The mark in the 64 bytes of a file header."""
    mark: int = _CHECKSUM.unpack_from(header, FILE_HEADER_BYTES - _CHECKSUM.size)[0]
    return mark


def is_intact(header: bytes) -> bool:
    """Whether the first bytes of a file are a whole log header, of whichever version."""
    fields = header[: _FILE_HEADER.size]
    return (
        len(header) >= FILE_HEADER_BYTES
        and header.startswith(_MAGIC)
        and crc32c(fields) == mark_of(header)
    )


def decode_identity(header: bytes, path: str) -> LogIdentity:
    """The identity in the first 64 bytes of the file at `path`.

    Raises CorruptionError: not an intact header; FormatVersionError: written by a newer version.
    """
    if not is_intact(header):
        raise CorruptionError(
            f"'{path}' has no valid log header at offset 0 (checksum or magic wrong)",
            hint=KEEP_A_COPY,
        )
    _, version, kind, number, first_sequence, database_id = _FILE_HEADER.unpack_from(header)
    if version > FORMAT_VERSION:
        raise FormatVersionError(
            f"'{path}' has log format version {version}; this program reads up to {FORMAT_VERSION}",
            hint="Open the database with the newer program that wrote it.",
        )
    try:
        log_kind = LogKind(kind.rstrip(b"\0").decode("ascii"))
    except ValueError:
        raise CorruptionError(
            f"'{path}' holds a log of unknown kind {kind!r}", hint=KEEP_A_COPY
        ) from None
    return LogIdentity(log_kind, number, first_sequence, database_id)


def check_identity(
    identity: LogIdentity, path: str, kind: LogKind, number: int, database_id: bytes | None
) -> None:
    """Refuse a file that is a valid log but not the one that belongs there.

    Args:
        identity: in its header.
        kind, number: by its path.
        database_id: the database it must belong to, or None where that is not known yet.

    Raises CorruptionError: they differ.
    """
    if (identity.kind, identity.number) != (kind, number):
        raise CorruptionError(
            f"'{path}' says it is {identity.kind} log number {identity.number}, "
            f"not {kind} log number {number}",
            hint=KEEP_A_COPY,
        )
    if database_id is not None and identity.database_id != database_id:
        raise CorruptionError(
            f"'{path}' belongs to database {UUID(bytes=identity.database_id)}, "
            f"not to {UUID(bytes=database_id)}",
            hint=KEEP_A_COPY,
        )


def record_checksum(mark: int, offset: int, lag: int, sequence: int, payload: bytes) -> int:
    """The checksum of a record at `offset` of the file with this mark."""
    place = _RECORD_PLACE.pack(offset, len(payload), lag, sequence)
    checksum: int = crc32c_extend(crc32c_extend(mark, place), payload)
    return checksum
