"""A database at one moment as files, captured beside the process that writes it.

The files of tablets never change, so they are only named. Manifest and log grow, so what counts of
them is copied: the manifest as a reader read it, and the log up to the bound of what it saw. That
view is consistent (`recovery/database_reader`), so the files together open as a database that was
killed at that moment.

The files stay while the image is held, for the reader's lease keeps them.
"""

import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.errors import CorruptionError, DiskError, OperationalError
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.log.current import Current, write_current
from pykudu_sql.storage.log.log_reader import LogEnd, LogReader
from pykudu_sql.storage.log.record_log import LogKind
from pykudu_sql.storage.log.segments import Segment, find_segments, segments_after
from pykudu_sql.storage.recovery.database_reader import DatabaseReader, DatabaseView
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta

_ATTEMPTS: Final = 100
_CHUNK: Final = 4 << 20
# Flags and hybrid time of a commit.
_COMMIT: Final = struct.Struct("<BQ")


@dataclass(frozen=True, slots=True)
class ImageFile:
    """A file of a tablet. `path`: from the directory of the database; `size`: bytes."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class DatabaseImage:
    """A database at one moment.

    Attributes:
        database_id: the 16 bytes of its UUID.
        manifest: the number of its live manifest.
        bound: of the moment.
        catalog: of the moment.
        logs: manifest and segments, as they were copied: paths from the directory of the database.
        files: of all tablets, those of dropped tables in the history included.
        rows: in base files, by path.
    """

    database_id: bytes
    manifest: int
    bound: SnapshotBound
    catalog: Catalog
    logs: tuple[str, ...]
    files: tuple[ImageFile, ...]
    rows: Mapping[str, int]


@contextmanager
def captured(env: Env, root: str, target: str) -> Iterator[DatabaseImage]:
    """The image of a database, whose files stay while the block lasts.

    `root`: its directory; `target`: a folder, to which manifest and log are copied. Raises
    CorruptionError: the database is damaged; OperationalError: it changes too fast; DiskError: the
    disk refused.
    """
    failure = ""
    for _ in range(_ATTEMPTS):
        reader = DatabaseReader(env, root, BlockCache(_CHUNK))
        try:
            image = _image(env, root, reader, target)
        except (CorruptionError, DiskError) as error:
            # A log that was replaced or dropped since it was read; damage fails alike again.
            reader.close()
            if error.message == failure:
                raise
            failure = error.message
            with suppress(DiskError):
                _clear(env, target)
            continue
        except BaseException:
            reader.close()
            raise
        try:
            yield image
        finally:
            reader.close()
        return
    raise OperationalError(
        f"the process that writes '{root}' changes it too fast to be copied", hint="try again"
    )


def complete_image(env: Env, root: str, database_id: bytes, manifest: int) -> None:
    """Make a database of a directory that has all files of an image.

    `database_id`, `manifest`: of the image. Raises CorruptionError: what is there does not open;
    DiskError: the disk refused.
    """
    write_current(env, root, Current(database_id, manifest))
    DatabaseReader(env, root, BlockCache(_CHUNK)).close()


def _clear(env: Env, target: str) -> None:
    for folder in (layout.manifest_directory(target), layout.wal_directory(target)):
        env.remove_tree(folder, point="image.clear")


def _image(env: Env, root: str, reader: DatabaseReader, target: str) -> DatabaseImage:
    view, bound = reader.view, reader.bound
    for folder in (layout.manifest_directory(target), layout.wal_directory(target)):
        env.make_dir(folder)
    logs = [_copy_manifest(env, root, view, target), *_copy_log(env, root, view, bound, target)]
    files: list[ImageFile] = []
    rows: dict[str, int] = {}
    for tablet_id in view.tablets:
        metadata = view.state.tablets.get(tablet_id)
        for meta in () if metadata is None else metadata.rowsets.values():
            for (kind, number), size in _sizes(meta).items():
                path = f"tablets/{tablet_id}/{number}.{kind}"
                files.append(ImageFile(path, size))
                if (kind, number) == ("base", meta.base):
                    rows[path] = meta.rows
    catalog = view.state.history.at(bound)
    return DatabaseImage(
        view.database_id, view.position[0], bound, catalog, tuple(logs), tuple(files), rows
    )


def _sizes(meta: RowSetMeta) -> Mapping[tuple[str, int], int]:
    sizes = {("base", meta.base): meta.size}
    sizes |= {("base", overlay.base): overlay.size for overlay in meta.overlays}
    return sizes | {(str(one.kind), one.number): one.size for one in (*meta.undo, *meta.redo)}


def _copy_manifest(env: Env, root: str, view: DatabaseView, target: str) -> str:
    number, last = view.position
    source = layout.manifest_path(root, number)
    end = _end_of(env, source, LogKind.MANIFEST, number, view.database_id, last)
    _copy(env, source, layout.manifest_path(target, number), end)
    return f"manifest/{number}.log"


def _end_of(
    env: Env, path: str, kind: LogKind, number: int, database_id: bytes, until: int
) -> LogEnd:
    reader = LogReader.open(env, path, kind, number, database_id)
    try:
        for _ in reader.records(until=until):
            pass
        return reader.end
    finally:
        reader.close()


def _copy_log(
    env: Env, root: str, view: DatabaseView, bound: SnapshotBound, target: str
) -> Iterator[str]:
    """Copy the records of commits below a bound; the paths of their segments."""
    directory = layout.wal_directory(root)
    segments = find_segments(env, directory, view.database_id)
    for segment in segments_after(segments, directory, view.state.log_after):
        follower = next((s for s in segments if s.number == segment.number + 1), None)
        until = None if follower is None else follower.first_sequence - 1
        end, is_cut = _end_before(env, segment, view.database_id, bound, until)
        _copy(
            env,
            segment.path,
            layout.segment_path(layout.wal_directory(target), segment.number),
            end,
        )
        yield f"wal/{segment.number}.log"
        if is_cut:
            return


def _end_before(
    env: Env, segment: Segment, database_id: bytes, bound: SnapshotBound, until: int | None
) -> tuple[LogEnd, bool]:
    """Where the commits below a bound end in a segment, and whether others stand behind."""
    reader = LogReader.open(env, segment.path, LogKind.WAL, segment.number, database_id)
    try:
        for sequence, payload in reader.records(until=until):
            if _COMMIT.unpack_from(payload)[1] >= bound:
                last = sequence - 1
                break
        else:
            return reader.end, False
    finally:
        reader.close()
    return _end_of(env, segment.path, LogKind.WAL, segment.number, database_id, last), True


def _copy(env: Env, source: str, target: str, end: LogEnd) -> None:
    """Copy a log up to an end."""
    read = env.open_random(source)
    try:
        written = env.create(target, point="image.log.create")
        try:
            for offset in range(0, end.offset, _CHUNK):
                data = read.read(offset, min(_CHUNK, end.offset - offset))
                written.append(data, point="image.log.append")
            written.sync(point="image.log.sync")
        finally:
            written.close()
    finally:
        read.close()
