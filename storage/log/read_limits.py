"""How far a process that does not write may read in log and manifest, and how far they must reach.

See `durable_mark`. Where nothing is noted, or the machine was restarted since, there is no limit.
Nor is there one while no process has announced that it writes: what a writer left, closed or
killed, is what the next opening makes durable, before it announces itself. So a note that is older
than the logs hides nothing then.
"""

from pykudu_sql.storage.errors import DiskError
from pykudu_sql.storage.fs.boot import boot_id
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.layout import lock_path
from pykudu_sql.storage.log.durable_mark import NOWHERE, DurableEnd, DurableNote, read_durable


class ReadLimits:
    """Asks DURABLE. Belongs to one thread at a time."""

    def __init__(self, env: Env, root: str, database_id: bytes) -> None:
        """Of a database; what another one has noted does not count."""
        self._env = env
        self._root = root
        self._database_id = database_id
        self._boot = boot_id()
        self._apply = self.in_force

    def log(self) -> DurableEnd | None:
        """The last record of the write-ahead log that may be read now; None for no limit."""
        note = self._note()
        if not self._apply or note is None or not self._holds(note) or note.is_exceeded:
            return None
        return note.log

    def manifest(self, number: int) -> int | None:
        """The last record of a manifest that may be read now; None for no limit."""
        note = self._note()
        if not self._apply or note is None or not self._holds(note):
            return None
        if note.manifest.number != number:
            return None
        return note.manifest.sequence

    def log_reaches(self) -> DurableEnd:
        """A record that the write-ahead log has, or it is damaged."""
        note = self._note()
        return NOWHERE if note is None else note.log

    def manifest_reaches(self) -> DurableEnd:
        """A record that the manifest has, or it is damaged."""
        note = self._note()
        return NOWHERE if note is None else note.manifest

    @property
    def in_force(self) -> bool:
        """Whether there are limits now: a process writes, and notes how far."""
        return self._holds(self._note()) and self._is_written()

    @property
    def appeared_after_reading(self) -> bool:
        """Whether there are limits now that were not applied: perhaps too much was read."""
        return not self._apply and self.in_force

    def drop_if_writer_gone(self) -> bool:
        """Whether the writer is gone, and the limits with it from here on."""
        self._apply = self._apply and self._is_written()
        return not self._apply

    def _is_written(self) -> bool:
        try:
            return self._env.is_locked(lock_path(self._root))
        except DiskError:  # it may be, so it counts as held
            return True

    def _note(self) -> DurableNote | None:
        note = read_durable(self._env, self._root)
        return note if note is not None and note.database_id == self._database_id else None

    def _holds(self, note: DurableNote | None) -> bool:
        return note is not None and note.boot == self._boot
