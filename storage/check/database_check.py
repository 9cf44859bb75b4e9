"""Checking a whole database, from its root down.

Nothing is changed, and a writer may be at work: the check sees what a reader sees, and holds a
lease as a reader does. Rows go by a rowset at a time; the living keys of one tablet are held in
memory together.
"""

from collections.abc import Iterator
from contextlib import suppress

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.check.finding import FROM_BACKUP, Finding, Tally, guarded
from pykudu_sql.storage.check.tablet_check import check_tablet
from pykudu_sql.storage.errors import DatabaseError, DiskError
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.directory_check import entry_errors, foreign_entries, name_errors
from pykudu_sql.storage.fs.env import Env, names_if_there
from pykudu_sql.storage.recovery.database_reader import (
    DatabaseReader,
    DatabaseView,
    read_without_log,
)
from pykudu_sql.storage.recovery.orphans import find_orphans

_CACHE_BYTES = 256 << 20
_REMOVED_AT_OPENING = "Open the database for writing: that removes files that nothing names."


class DatabaseCheck:
    """One check of one database. `tally`: what was looked at so far."""

    def __init__(self, env: Env, root: str, quick: bool) -> None:
        """Prepare. `quick`: footers and indexes only, no rows."""
        self._env = env
        self._root = env.resolve(root)
        self._quick = quick
        self._cache = BlockCache(_CACHE_BYTES)
        self.tally = Tally()

    def run(self) -> Iterator[Finding]:
        """Look at everything; yields what is wrong as it is found.

        Nothing else is looked at while a link, a pipe or the like is there.
        """
        strange = False
        for error in entry_errors(self._env, self._root):
            strange = True
            yield self._finding(error)
        if strange:
            return
        yield from map(self._finding, name_errors(self._env, self._root))
        try:
            reader = DatabaseReader(self._env, self._root, self._cache)
        except DatabaseError as error:
            yield self._finding(error)
            yield from self._run_without_log()
            return
        try:
            self._count_logs()
            yield from self._check_view(reader.view)
        finally:
            reader.close()

    def _finding(self, error: DatabaseError) -> Finding:
        """A finding that concerns no single file of a tablet."""
        return Finding(self._root, error.message, error.hint or FROM_BACKUP)

    def _run_without_log(self) -> Iterator[Finding]:
        """What can still be checked when the log, or more, cannot be read."""
        with suppress(DatabaseError):
            yield from self._check_view(read_without_log(self._env, self._root, self._cache))

    def _count_logs(self) -> None:
        """Manifest and log were read to their ends when the database was opened."""
        for folder in (layout.manifest_directory(self._root), layout.wal_directory(self._root)):
            for name in names_if_there(self._env, folder):
                if layout.parse_log_name(name) is None:
                    continue
                self.tally.files += 1
                with suppress(DiskError):  # a writer at work may have let go of it
                    self.tally.bytes += self._env.size_of(f"{folder}/{name}")

    def _check_view(self, view: DatabaseView) -> Iterator[Finding]:
        tables = _tables_by_tablet(view)
        for tablet_id, tablet in view.tablets.items():
            folder = layout.tablet_directory(self._root, tablet_id)
            findings = check_tablet(tablet, tables[tablet_id], self._cache, self._quick, self.tally)
            yield from guarded(folder, findings)
        yield from guarded(self._root, self._find_orphans(view))

    def _find_orphans(self, view: DatabaseView) -> Iterator[Finding]:
        """Names that do not belong. A writer at work has files that are not named yet."""
        env, root = self._env, self._root
        for path in foreign_entries(env, root):
            yield Finding(path, "is no part of a database", "Move it elsewhere.")
        unnamed = list(_unnamed_files(env, root, view))
        if unnamed and not env.is_locked(layout.lock_path(root)):
            yield from unnamed


def _unnamed_files(env: Env, root: str, view: DatabaseView) -> Iterator[Finding]:
    for orphan in find_orphans(env, root, view.tablets, view.state.tablets):
        what = "tablet" if orphan.is_tablet else "file"
        problem = f"is a {what} that the manifest does not name"
        yield Finding(orphan.path, problem, _REMOVED_AT_OPENING, is_left_over=True)


def _tables_by_tablet(view: DatabaseView) -> dict[str, TableInfo]:
    """The newest state of the table that each tablet belongs or belonged to."""
    return {
        info.id: version
        for versions in view.state.history.versions().values()
        for version in versions
        for info in version.tablets
    }
