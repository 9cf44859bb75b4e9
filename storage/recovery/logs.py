"""The manifest and the write-ahead log of one database, opened for writing together.

Each says how far the other, or it itself, must reach: an edit of the manifest names the last record
of the write-ahead log that was durable when it was made, and DURABLE names the durable ends of both
(`log/durable_mark`). So a log that was cut or lost is distinguished from one that a crash left, and
nothing of it is thrown away.
"""

import uuid

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.store_state import StoreState
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.layout import current_path, wal_directory
from pykudu_sql.storage.log.current import read_current
from pykudu_sql.storage.log.durable_mark import NOWHERE, DurableMark
from pykudu_sql.storage.log.manifest import Manifest
from pykudu_sql.storage.log.read_limits import ReadLimits
from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog


@dataclass(frozen=True, slots=True)
class Logs:
    """What a writer keeps of a database besides the files of its tablets.

    Attributes:
        manifest: the metadata.
        state: the state that its edits lead to.
        mark: publishes to readers how far both are durable, once it is started.
    """

    manifest: Manifest
    state: StoreState
    log: WriteAheadLog
    mark: DurableMark

    def start_mark(self) -> None:
        """Let readers follow from here on.

        Raises DiskError: the mark of an earlier process could not be replaced.
        """
        self.mark.start(self.log.durable_end, self.manifest.durable_end)


def open_logs(env: Env, root: str, segment_bytes: int) -> Logs:
    """Open both, or make them where there is no database.

    `segment_bytes`: see `WriteAheadLog.open`. Raises CorruptionError: one of them is damaged,
    missing, or ends too early; FormatVersionError: a newer version wrote them; DiskError: refused
    by the file system.
    """
    reaches = NOWHERE
    if env.exists(current_path(root)):
        limits = ReadLimits(env, root, read_current(env, root).database_id)
        manifest = Manifest.open(env, root, limits.manifest_reaches())
        reaches = limits.log_reaches()
    else:
        manifest = Manifest.create(env, root, uuid.uuid4().bytes, [])
    state = StoreState.of(manifest.edits, manifest.path)
    mark = DurableMark(env, root, manifest.database_id)
    manifest.attach_mark(mark)
    log = WriteAheadLog.open(
        env,
        wal_directory(root),
        manifest.database_id,
        after=state.log_after,
        segment_bytes=segment_bytes,
        reaches=max(reaches, state.log_end, key=lambda end: end.sequence),
        mark=mark,
    )
    return Logs(manifest, state, log, mark)
