"""DURABLE: how far log and manifest are known to be safely on disk.

The writer notes there, after each sync and before a commit is acknowledged, up to which record
that sync reached. So another process that reads the database goes no further than what a power loss
cannot take back, although it finds later records in the page cache. The note itself is not synced
but at a clean close: it need only be seen by processes of the same boot. After a restart of the
machine all that is in the files came from the disk, and a reader takes everything.

What was once noted stays true, so a log or a manifest that ends before it has lost something.

    0    8  magic "PYKUDUD\\n"
    8    4  format version
   12   16  database UUID
   28   16  boot id of the machine, zeros where it has none
   44    4  CRC-32C of bytes 0 .. 44
   48   24  log: u64 sequence, u64 segment, u32 1 when readers go beyond it, CRC-32C
   72   24  manifest: u64 sequence, u64 number, u32 0, CRC-32C

The last two start their checksums at that of the header, and are each written in one piece. A file
that does not check out is as good as none.
"""

import struct
import threading
from contextlib import suppress

from google_crc32c import extend as crc32c_extend
from google_crc32c import value as crc32c

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.errors import DiskError
from pykudu_sql.storage.fs.boot import boot_id
from pykudu_sql.storage.fs.env import Env, WritableFile
from pykudu_sql.storage.fs.layout import mark_path, temporary_directory, temporary_path
from pykudu_sql.storage.log.record_log import FORMAT_VERSION

_MAGIC = b"PYKUDUD\n"
_HEADER = struct.Struct("<8sI16s16s")
_CHECKSUM = struct.Struct("<I")
_SLOT = struct.Struct("<QQI")
_LOG_OFFSET = _HEADER.size + _CHECKSUM.size
_MANIFEST_OFFSET = _LOG_OFFSET + _SLOT.size + _CHECKSUM.size
_FILE_BYTES = _MANIFEST_OFFSET + _SLOT.size + _CHECKSUM.size
# A reader that meets a slot half written reads again.
_ATTEMPTS = 100


@dataclass(frozen=True, slots=True)
class DurableEnd:
    """A record of a log that is safely on disk, with all before it.

    `number`: the N of `N.log`, which holds it or goes on behind it; `sequence`: of the record.
    """

    number: int
    sequence: int


NOWHERE = DurableEnd(0, 0)


@dataclass(frozen=True, slots=True)
class DurableNote:
    """The content of DURABLE.

    Attributes:
        boot: of the machine when it was written.
        log: the end of the write-ahead log.
        is_exceeded: readers go beyond it: commits were acknowledged without a sync.
        manifest: the end of the manifest.
    """

    database_id: bytes
    boot: bytes
    log: DurableEnd
    is_exceeded: bool
    manifest: DurableEnd


class DurableMark:
    """Keeps DURABLE. Safe for threads."""

    def __init__(self, env: Env, root: str, database_id: bytes) -> None:
        """Nothing is noted before `start`."""
        self._env = env
        self._root = root
        self._header = _header(database_id, boot_id())
        self._checksum = crc32c(self._header)
        self._slots = {_LOG_OFFSET: b"", _MANIFEST_OFFSET: b""}
        self._is_exceeded = False
        self._log = DurableEnd(0, 0)
        self._file: WritableFile | None = None
        self._started = False
        self.is_behind = False
        self._lock = threading.Lock()

    def start(self, log: DurableEnd, manifest: DurableEnd) -> None:
        """Replace what an earlier process has noted.

        Raises DiskError: neither can that be replaced nor removed.
        """
        with self._lock:
            self._slots[_MANIFEST_OFFSET] = self._slot(manifest, 0)
            self._slots[_LOG_OFFSET] = self._slot(log, 0)
            self._log = log
            self._started = True
            try:
                self._file = self._create()
            except DiskError:
                self.is_behind = True
                self._remove()

    def renew(self) -> None:
        """Note again what the disk refused; does nothing where it did not."""
        with self._lock:
            if self.is_behind and self._started:
                self._write()

    def note_log(self, end: DurableEnd) -> None:
        """Note how far the write-ahead log is durable."""
        self._log = end
        self._note(_LOG_OFFSET, self._slot(end, int(self._is_exceeded)))

    def note_manifest(self, end: DurableEnd) -> None:
        """Note how far the manifest is durable."""
        self._note(_MANIFEST_OFFSET, self._slot(end, 0))

    def exceed(self) -> None:
        """Let readers go as far as the log does: commits are acknowledged without a sync."""
        self._is_exceeded = True
        self.note_log(self._log)

    def close(self) -> None:
        """Make what is noted durable, and the file's name; the database was closed.

        Raises DiskError: refused by the file system.
        """
        if self._is_exceeded:
            self._is_exceeded = False
            self.note_log(self._log)
        with self._lock:
            file, self._file, self._started = self._file, None, False
        if file is not None:
            try:
                file.sync(point="durable.sync")
                self._env.sync_dir(self._root, point="durable.sync_dir")
            finally:
                file.close()

    def _note(self, offset: int, slot: bytes) -> None:
        with self._lock:
            self._slots[offset] = slot
            if not self._started:
                return
            if self._file is None or self.is_behind:
                self._write()
                return
            try:
                self._file.write_at(offset, slot, point="durable.note")
            except DiskError:
                self._give_up()

    def _write(self) -> None:
        """Write all of it anew, for what was refused before may be either slot."""
        try:
            if self._file is None:
                self._file = self._create()
            else:
                for offset, slot in self._slots.items():
                    self._file.write_at(offset, slot, point="durable.note")
            self.is_behind = False
        except DiskError:
            self._give_up()

    def _give_up(self) -> None:
        """What is acknowledged must be seen: without the file readers take everything."""
        self.is_behind = True
        with suppress(DiskError):
            self._remove()

    def _slot(self, end: DurableEnd, flag: int) -> bytes:
        body = _SLOT.pack(end.sequence, end.number, flag)
        return body + _CHECKSUM.pack(crc32c_extend(self._checksum, body))

    def _create(self) -> WritableFile:
        """A new file in the place of any that is there."""
        env = self._env
        temporary = temporary_path(self._root, "DURABLE")
        env.make_dir(temporary_directory(self._root))
        if env.exists(temporary):
            env.unlink(temporary, point="durable.drop_temporary")
        file = env.create(temporary, point="durable.create")
        try:
            content = self._header + _CHECKSUM.pack(self._checksum) + b"".join(self._slots.values())
            file.append(content, point="durable.write")
            env.rename(temporary, mark_path(self._root), point="durable.rename")
        finally:
            file.close()
        return env.open_writable(mark_path(self._root))

    def _remove(self) -> None:
        path = mark_path(self._root)
        if self._env.exists(path):
            self._env.unlink(path, point="durable.remove")
        if self._file is not None:
            self._file.close()
            self._file = None


def read_durable(env: Env, root: str) -> DurableNote | None:
    """The content of DURABLE; None when it is missing or incomplete.

    Raises DiskError: refused by the file system.
    """
    path = mark_path(root)
    for _ in range(_ATTEMPTS):
        if not env.exists(path):
            return None
        try:
            note = _decode(env.read_file(path))
        except DiskError:
            continue  # replaced or removed meanwhile
        if note is not None:
            return note
    return None


def _decode(data: bytes) -> DurableNote | None:
    if len(data) != _FILE_BYTES:
        return None
    magic, version, database_id, boot = _HEADER.unpack_from(data)
    header = data[: _HEADER.size]
    checksum = crc32c(header)
    if (magic, version) != (_MAGIC, FORMAT_VERSION):
        return None
    if _CHECKSUM.unpack_from(data, _HEADER.size)[0] != checksum:
        return None
    log = _decode_slot(data, _LOG_OFFSET, checksum)
    manifest = _decode_slot(data, _MANIFEST_OFFSET, checksum)
    if log is None or manifest is None:
        return None
    return DurableNote(database_id, boot, log[0], bool(log[1]), manifest[0])


def _decode_slot(data: bytes, offset: int, checksum: int) -> tuple[DurableEnd, int] | None:
    body = data[offset : offset + _SLOT.size]
    if _CHECKSUM.unpack_from(data, offset + _SLOT.size)[0] != crc32c_extend(checksum, body):
        return None
    sequence, number, flag = _SLOT.unpack(body)
    return DurableEnd(number, sequence), flag


def _header(database_id: bytes, boot: bytes) -> bytes:
    return _HEADER.pack(_MAGIC, FORMAT_VERSION, database_id, boot)
