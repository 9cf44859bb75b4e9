"""Rowsets that a process keeps open from one scan token to the next.

A token names a rowset's files. To open them, to read footers and indexes and to decode the records
of delta files takes longer than to read the few cells that a selective scan wants, and the tasks of
one query after the other read the same files.

A file is never changed in place, but in the place of a database another one may stand, restored
from a backup, whose files have the same names. So what is kept of a rowset counts only while its
files end as they did: the end of a file is a checksum of its footer, which has the checksums of all
its blocks.
"""

import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.footer import TRAILER_BYTES
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import CorruptionError, DiskError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.lease import NOTHING_READ
from pykudu_sql.storage.tablet.files.file_reaper import FileReaper
from pykudu_sql.storage.tablet.files.tablet_files import TabletFiles
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta

_MOST_BYTES: Final = 64 << 20
_MOST_ROWSETS: Final = 128
# Files that the database has dropped take their place on the disk for as long as they are open.
_MOST_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class TabletPlace:
    """Where the files of a tablet are.

    `root`: the database directory, resolved; `database_id`, `tablet_id`: see `ScanToken`.
    """

    root: str
    database_id: bytes
    tablet_id: str


@dataclass(frozen=True, slots=True)
class _OpenedRowSet:
    """A rowset that was opened.

    Attributes:
        rowset: with what was read of it in `cache`.
        ends: the length and the last bytes of each of its files.
        used_at: when it was asked for last, in seconds.
    """

    rowset: DiskRowSet
    cache: BlockCache
    ends: Sequence[tuple[int, bytes] | None]
    used_at: float


class OpenedRowSets:
    """The rowsets that were asked for last. Belongs to one thread at a time."""

    def __init__(self) -> None:
        """Nothing is open yet."""
        self._rowsets: OrderedDict[tuple[TabletPlace, str], _OpenedRowSet] = OrderedDict()

    def rowset(
        self, env: Env, place: TabletPlace, meta: RowSetMeta, key_columns: Sequence[ColumnSchema]
    ) -> DiskRowSet:
        """A rowset as the manifest described it, without changes in memory; it may not be there."""
        cache = BlockCache(_MOST_BYTES)
        reaper = FileReaper(env, place.root, lambda: NOTHING_READ, cache.forget)
        files = TabletFiles(env, place.root, place.database_id, place.tablet_id, cache, reaper)
        ends = [_end_of(env, files.path(kind, number)) for kind, number in meta.files]
        key, now = (place, repr((meta, key_columns))), time.monotonic()
        opened = self._rowsets.pop(key, None)
        if opened is None or opened.ends != ends or None in ends:
            opened = _OpenedRowSet(files.open_rowset(meta, key_columns, {}), cache, ends, now)
        self._release(now)
        self._rowsets[key] = _OpenedRowSet(opened.rowset, opened.cache, ends, now)
        return opened.rowset

    def _release(self, now: float) -> None:
        """Let go of rowsets; who still reads one keeps it open until then."""
        size = sum(one.cache.used for one in self._rowsets.values())
        while self._rowsets:
            oldest = next(iter(self._rowsets.values()))
            is_recent = now - oldest.used_at <= _MOST_SECONDS
            if is_recent and size <= _MOST_BYTES and len(self._rowsets) < _MOST_ROWSETS:
                return
            self._rowsets.popitem(last=False)
            size -= oldest.cache.used


def _end_of(env: Env, path: str) -> tuple[int, bytes] | None:
    """The length of a file and its last bytes; None if they cannot be read."""
    try:
        file = env.open_random(path)
        try:
            length = min(file.size, TRAILER_BYTES)
            return file.size, file.read(file.size - length, length)
        finally:
            file.close()
    except (CorruptionError, DiskError):
        return None  # who needs the file opens it, and says what is wrong
