"""CURRENT: the small text that names the live manifest and, with it, the database.

    pykudu_sql database
    format 1
    id 3f2c0c5e-5d0c-4b8a-9a55-6c3f6f9f2a11
    manifest 7
    crc32c 1a2b3c4d

The checksum covers the lines above it. The file is replaced by rename, so it is always whole: any
deviation from the exact text is damage.
"""

import re
from uuid import UUID

from google_crc32c import value as crc32c

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.errors import CorruptionError, DiskError, FormatVersionError
from pykudu_sql.storage.fs.env import Env, publish
from pykudu_sql.storage.fs.layout import current_path, temporary_directory, temporary_path
from pykudu_sql.storage.log.record_log import FORMAT_VERSION, KEEP_A_COPY

_LONGEST = 4096
_TEXT = re.compile(
    r"pykudu_sql database\n"
    r"format ([1-9][0-9]{0,8})\n"
    r"id ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\n"
    r"manifest ([1-9][0-9]{0,18})\n"
)


@dataclass(frozen=True, slots=True)
class Current:
    """The content of CURRENT. `manifest_number`: the N of the live `manifest/N.log`."""

    database_id: bytes
    manifest_number: int

    def encode(self) -> bytes:
        """The text, checksum included."""
        text = (
            "pykudu_sql database\n"
            f"format {FORMAT_VERSION}\n"
            f"id {UUID(bytes=self.database_id)}\n"
            f"manifest {self.manifest_number}\n"
        ).encode("ascii")
        return text + _checksum_line(text)


def read_current(env: Env, root: str) -> Current:
    """The content of CURRENT of the database at `root`.

    Raises CorruptionError: not the text that was written; FormatVersionError: written by a newer
    version; DiskError: not there, or refused by the file system.
    """
    path = current_path(root)
    file = env.open_random(path)
    try:
        data = file.read(0, min(file.size, _LONGEST))
    finally:
        file.close()
    body, separator, _ = data.rpartition(b"crc32c ")
    if not separator or data != body + _checksum_line(body):
        raise _damaged(path)
    match = _TEXT.match(body.decode("ascii", "replace"))
    if match is None:
        raise _damaged(path)
    if int(match[1]) > FORMAT_VERSION:
        raise FormatVersionError(
            f"the database at '{root}' has format version {match[1]}; this program reads up to "
            f"{FORMAT_VERSION}",
            hint="Open it with the newer program that wrote it.",
        )
    current = Current(UUID(match[2]).bytes, int(match[3]))
    if current.encode() != data:
        raise _damaged(path)
    return current


def write_current(env: Env, root: str, current: Current) -> None:
    """Replace CURRENT, atomically and durably.

    Raises DiskError: refused by the file system; the old one, or the new one, is in place.
    """
    env.make_dir(temporary_directory(root))
    temporary = temporary_path(root, "CURRENT")
    if env.exists(temporary):
        env.unlink(temporary, point="current.drop_temporary")
    file = env.create(temporary, point="current.create")
    try:
        file.append(current.encode(), point="current.write")
        file.sync(point="current.sync")
    except DiskError:
        file.close()
        raise
    file.close()
    publish(env, temporary, current_path(root), point="current")


def _checksum_line(text: bytes) -> bytes:
    return f"crc32c {crc32c(text):08x}\n".encode("ascii")


def _damaged(path: str) -> CorruptionError:
    return CorruptionError(
        f"'{path}' is damaged: it is not the text that was written, or its checksum is wrong",
        hint=KEEP_A_COPY,
    )
