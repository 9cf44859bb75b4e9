"""Staged files: written and fsynced in the staging folder, and not yet part of a tablet.

Whatever writes files of a tablet keeps a list of them until an edit of the manifest names them. An
operation that fails removes those on its list; what a kill leaves the next opening removes.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.errors import Error
from pykudu_sql.storage.tablet.delta.delta_file_meta import DeltaFileMeta
from pykudu_sql.storage.tablet.delta.delta_store import Deltas
from pykudu_sql.storage.tablet.delta.deltafile import DeltaFile, write_delta_file
from pykudu_sql.storage.tablet.files.tablet_files import TabletFiles

StagedFiles = list[tuple[str, int]]


@contextmanager
def staging(files: TabletFiles) -> Iterator[StagedFiles]:
    """A list for the files that an operation writes; they are removed if it fails."""
    staged: StagedFiles = []
    try:
        yield staged
    except BaseException:
        discard_files(files, staged)
        raise


def discard_files(files: TabletFiles, staged: StagedFiles) -> None:
    """Remove files, but for those that the manifest may name.

    A disk that refuses this too leaves a file for the next opening to remove.
    """
    for kind, number in staged:
        with suppress(Error):
            files.discard(kind, number)


def write_deltas(
    files: TabletFiles,
    staged: StagedFiles,
    kind: str,
    deltas: Deltas,
    types: Mapping[int, DataType],
) -> tuple[DeltaFileMeta, ...]:
    """Write and fsync a delta file in the staging folder; none when there are no deltas.

    Args:
        files: of the tablet.
        staged: takes the file, before it is written.
        kind: "redo" or "undo".
        deltas: sorted for that kind.
        types: of the columns that they may set.

    Raises DiskError: the disk refused.
    """
    if not len(deltas):
        return ()
    number = files.new_number()
    staged.append((kind, number))
    path, identity = files.staging_path(kind, number), files.identity(kind, number)
    return (write_delta_file(files.env, path, identity, deltas, types),)


def open_staged_deltas(files: TabletFiles, meta: DeltaFileMeta, rows: int) -> DeltaFile:
    """A delta file of a rowset of so many rows, where it lies before it is published."""
    path = files.staging_path(meta.kind, meta.number)
    identity = files.identity(meta.kind, meta.number)
    return DeltaFile(files.env, path, identity, meta, rows, files.cache)
