"""The manifest as a process reads it that does not write it.

The writer appends edits and, when they are many, replaces the log by a shorter one of the next
number. A reader takes the edits of the log that CURRENT names, and `has_changed` says that it
should read again.
"""

from pykudu_sql.storage.errors import CorruptionError, DiskError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.layout import manifest_path
from pykudu_sql.storage.log.current import Current, read_current
from pykudu_sql.storage.log.log_tail import LogTail
from pykudu_sql.storage.log.manifest import Edit, check_manifest_reaches, decode_edit
from pykudu_sql.storage.log.read_limits import ReadLimits
from pykudu_sql.storage.log.record_log import LogKind


class ManifestTail:
    """The edits of the live manifest up to a moment. Belongs to one thread at a time.

    Attributes:
        edits: in order.
        path: of the log they were read from.
        limits: how far both logs of the database may be read.
    """

    def __init__(self, env: Env, root: str, current: Current) -> None:
        """Use `open`."""
        self.limits = ReadLimits(env, root, current.database_id)
        self._env = env
        self._root = root
        self._number = current.manifest_number
        self._successor = manifest_path(root, current.manifest_number + 1)
        self.path = manifest_path(root, current.manifest_number)
        self.database_id = current.database_id
        self._tail = LogTail(env, self.path, LogKind.MANIFEST, self._number, self.database_id)
        reaches = self.limits.manifest_reaches()
        self.edits = self.read_more()
        check_manifest_reaches(self.path, self._number, self._tail.end, reaches)

    @classmethod
    def open(cls, env: Env, root: str) -> "ManifestTail":
        """Read the live manifest; a writer may be at work.

        Raises CorruptionError: CURRENT or the manifest is damaged or missing; FormatVersionError:
        written by a newer version; DiskError: refused by the file system.
        """
        current = read_current(env, root)
        failure = ""
        while True:
            try:
                return cls(env, root, current)
            except (CorruptionError, DiskError) as error:
                # A writer may have replaced the manifest after CURRENT was read.
                latest = read_current(env, root)
                if latest != current:
                    current = latest
                    continue
                if env.exists(manifest_path(root, current.manifest_number)):
                    # Or given back what it allocated behind the end; damage fails alike again.
                    if error.message == failure:
                        raise
                    failure = error.message
                    continue
                raise CorruptionError(
                    f"'{manifest_path(root, current.manifest_number)}' is missing, though CURRENT "
                    "names it as the live manifest",
                    hint="Restore the database directory from a backup.",
                ) from error

    @property
    def position(self) -> tuple[int, int]:
        """Number of the log and sequence of the last record read; see `Manifest.position`."""
        return self._number, self._tail.end.last_sequence

    def has_changed(self) -> bool:
        """Whether there may be more edits, here or in a manifest that replaced this one.

        Raises DiskError: refused by the file system.
        """
        if self.was_replaced():
            return True
        limit = self.limits.manifest(self._number)
        if limit is not None:
            has_durable = limit > self._tail.end.last_sequence
            return has_durable or (
                self._tail.has_more_than_seal() and self.limits.drop_if_writer_gone()
            )
        return self._tail.has_grown()

    def was_replaced(self) -> bool:
        """Whether CURRENT names another log.

        Raises CorruptionError: CURRENT is damaged; DiskError: refused by the file system.
        """
        # Only a crash leaves a next log that CURRENT does not name.
        if not self._env.exists(self._successor) and self._env.exists(self.path):
            return False
        return read_current(self._env, self._root).manifest_number != self._number

    def has_read_too_far(self) -> bool:
        """Whether a writer came after reading began without limits: perhaps not all that was read
        is durable."""
        return self.limits.appeared_after_reading

    def read_more(self) -> list[Edit]:
        """The edits that came since and are durable.

        Raises CorruptionError: one that was durable is damaged; DiskError: the log is gone, since
        it was replaced.
        """
        limit = self.limits.manifest(self._number)
        return [
            decode_edit(text, self.path, number) for number, text in self._tail.read_durable(limit)
        ]

    def close(self) -> None:
        """Close the files."""
        self._tail.close()
