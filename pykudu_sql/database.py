"""An open database: its store and its engine, shared by all connections of the process.

The directory's lock belongs to a process, so a process opens a database once: connections to one
path share it, and the last to close gives it back. Each `":memory:"` is a database of its own. A
child made by fork has none of its parent's open: what it inherits it refuses to use.
"""

import atexit
import logging
import os
import threading
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from pykudu_sql.engine.duckdb_instance import DuckDB, EngineOptions
from pykudu_sql.retry_queue import RetryQueue
from pykudu_sql.settings import DatabaseSettings
from pykudu_sql.storage.common.finalizer import start_finalizer, wait_for_finalizers
from pykudu_sql.storage.common.memory_budget import LEAST_CHUNK, SMALL_LIMIT, Holder
from pykudu_sql.storage.errors import OperationalError, ProgrammingError
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.database_places import check_written
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.import_barrier import start_import_barrier
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.fs.permissions import is_writable_by_others
from pykudu_sql.storage.fs.process import current_process
from pykudu_sql.storage.log.manifest import no_database
from pykudu_sql.storage.open_store import OpenStore
from pykudu_sql.storage.store import Store
from pykudu_sql.storage.store_options import StoreOptions

if TYPE_CHECKING:
    from pykudu_sql.engine.query_engine import Relation, StreamingEngine

MEMORY: Final = ":memory:"
_LOG: Final = logging.getLogger("pykudu_sql.database")
_TRIM_THRESHOLD_BYTES: Final = 1 << 20
_M_MMAP_THRESHOLD: Final = -3
_SPILL_FOLDER: Final = "pykudu-spill"


class Database:
    """A store and an engine, held by a number of sessions.

    Attributes:
        settings: it was opened with.
        retry_queue: statements of its sessions that run again after a conflict.
        process: that it belongs to.
    """

    def __init__(self, path: str, settings: DatabaseSettings) -> None:
        """Open, or make where there is none.

        Raises LockedError: another process has it open; OperationalError: it is to be only read and
        is not there; FileAccessError: it, or its folder for spilling, would lie in another;
        FormatVersionError, CorruptionError, DiskError: it cannot be opened.
        """
        self.path = path
        self.settings = settings
        env: Env = MemoryEnv() if path == MEMORY else LocalEnv()
        _check_path(env, path)
        if settings.spill_directory:
            check_written(settings.spill_directory, settings.spill_directory)
        if settings.read_only and not env.exists(layout.current_path(path)):
            raise no_database(env, path, path)
        self.store = _opened(env, path, settings)
        if path != MEMORY and is_writable_by_others(path):
            _LOG.warning(
                "database %r can be changed by other users of this machine: its directory is "
                "writable for them (chmod go-w takes that right away)",
                path,
            )
        if 0 < settings.memory_limit < SMALL_LIMIT:
            _take_system_allocator()
        budget = self.store.budget
        options = EngineOptions(
            settings.threads,
            budget.shares.engine,
            lambda: _spill_directory(path, settings),
            settings.spill_limit,
            lambda: max(LEAST_CHUNK, budget.free) if settings.memory_limit else 0,
            budget.shares.value,
            settings.memory_limit,
        )
        self._duckdb = DuckDB(options)
        self._single_threaded = DuckDB(replace(options, threads=1))
        budget.measure_with(Holder.ENGINE, self._engine_memory)
        self.retry_queue = RetryQueue()
        self.process = current_process()
        self._sessions = 0

    def new_engine(self) -> "StreamingEngine[Relation]":
        """The engine of one more session."""
        from pykudu_sql.engine.duckdb_engine import DuckDBEngine
        from pykudu_sql.engine.engine_by_size import EngineBySize

        engine = DuckDBEngine(self._duckdb)
        threads = self.settings.threads or os.cpu_count() or 1
        if threads == 1 or 0 < self.settings.memory_limit < SMALL_LIMIT:
            return engine
        return EngineBySize(DuckDBEngine(self._single_threaded), engine)

    def _engine_memory(self) -> int:
        return self._duckdb.memory() + self._single_threaded.memory()

    def release(self) -> None:
        """A session has ended; the last one closes the database.

        Nothing happens in a child forked from the process that opened it.
        """
        if not self.process.is_current:
            return
        with _OPEN.lock:
            self._sessions -= 1
            if self._sessions == 0:
                _OPEN.forget(self)
                self.close()

    def close(self) -> None:
        """Release memory, files and the directory's lock, even if they are still used."""
        with closing(self.store), closing(self._single_threaded):
            self._duckdb.close()

    def acquire(self) -> "Database":
        """One session more. The caller holds the lock of the open databases."""
        self._sessions += 1
        return self


class _OpenDatabases:
    """The databases this process holds the locks of."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._by_path: dict[str, Database] = {}
        os.register_at_fork(after_in_child=self._forget_all)
        start_import_barrier()
        # Before the interpreter takes things apart, in whatever order: files may go first.
        atexit.register(self.close_all)

    def open(self, path: str, settings: DatabaseSettings) -> Database:
        """See `open_database`."""
        start_finalizer()
        if path == MEMORY:
            return Database(path, settings).acquire()
        if not path or "\0" in path:
            raise OperationalError(
                f"cannot open {path!r}: a path is not empty and has no NUL in it",
                hint=f"correct the path, or write {MEMORY!r} for a database in memory",
                sqlstate="58P01",
            )
        real = os.path.realpath(path)
        wait_for_finalizers()  # a connection of this program that was given up is closed then
        with self.lock:
            database = self._by_path.get(real)
            if database is None:
                database = self._by_path[real] = Database(path, settings)
            _check_same(database, settings)
            return database.acquire()

    def close_all(self) -> None:
        """Close what the program left open, at its end; uncommitted changes are gone."""
        with self.lock:
            for database in self._by_path.values():
                database.close()
            self._by_path = {}

    def _forget_all(self) -> None:
        """Begin anew in a forked child, which has none of the databases open."""
        self.lock = threading.RLock()
        self._by_path = {}

    def forget(self, database: Database) -> None:
        """A database is about to close. The caller holds the lock."""
        self._by_path = {p: d for p, d in self._by_path.items() if d is not database}


_OPEN: Final = _OpenDatabases()


def _opened(env: Env, path: str, settings: DatabaseSettings) -> OpenStore:
    options = _store_options(settings)
    if not settings.read_only:
        return Store(env, path, options)
    from pykudu_sql.storage.reader_store import ReaderStore

    return ReaderStore(env, path, options)


def open_database(path: str, settings: DatabaseSettings) -> Database:
    """An open database with one session more to come; `release` gives it back.

    Raises ProgrammingError: this process has it open with other settings; LockedError: another
    process has it open; OperationalError, CorruptionError: it cannot be opened.
    """
    return _OPEN.open(path, settings)


def _take_system_allocator() -> None:
    """Let Arrow allocate from the system, which gives memory back that no thread uses any more.

    Arrow's own allocator is faster, and each thread keeps some memory for its next allocation: with
    TPC-H at scale factor 0.1, a quarter of 512 MB.
    """
    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())
    _give_back_large_memory()


def _give_back_large_memory() -> None:
    """Let glibc give memory of a megabyte and more back as soon as it is free.

    By itself it does so only up to the size of the largest that was freed, and keeps what is
    smaller: a scan of texts of 60 kB under 200 MB came to 636 MB instead of 440.
    """
    import ctypes

    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _TRIM_THRESHOLD_BYTES)


def _spill_directory(path: str, settings: DatabaseSettings) -> str:
    """A folder that nobody else has."""
    import tempfile
    from uuid import uuid4

    in_directory = path != MEMORY and not settings.read_only
    parent = layout.temporary_directory(path) if in_directory else tempfile.gettempdir()
    return f"{settings.spill_directory or parent}/{_SPILL_FOLDER}-{os.getpid()}-{uuid4().hex}"


def _check_path(env: Env, path: str) -> None:
    """See that a path is a database, or a place where one may be made.

    A mistyped path is not made up, and a folder with other things in it is left alone.
    """
    if path == MEMORY or env.exists(layout.current_path(path)):
        return
    parent = os.path.dirname(os.path.abspath(path))
    check_written(parent, path)
    if not os.path.isdir(parent):
        raise OperationalError(
            f"cannot open '{path}': there is no directory '{parent}'",
            hint="create it, or correct the path",
            sqlstate="58P01",
        )
    if os.path.lexists(path) and not os.path.isdir(path):
        raise OperationalError(
            f"'{path}' is a file, and a database is a directory",
            hint="give another name",
            sqlstate="58P01",
        )
    names = os.listdir(path) if os.path.isdir(path) else []
    if not all(layout.is_own(path, f"{path}/{name}") for name in names):
        raise OperationalError(
            f"'{path}' is no database, and there are other files in it",
            hint="give a new name, or an empty directory",
            sqlstate="58P01",
        )


def _check_same(database: Database, settings: DatabaseSettings) -> None:
    present, requested = _values(database.settings), _values(settings)
    for name, value in requested.items():
        if present[name] != value:
            raise ProgrammingError(
                f"'{database.path}' is open in this process with {name} = {present[name]!r}, "
                f"not {value!r}",
                hint="close the other connections first, or give the same settings",
                sqlstate="55P02",
            )


def _values(settings: DatabaseSettings) -> Mapping[str, object]:
    return {field.name: getattr(settings, field.name) for field in fields(settings)}


def _store_options(settings: DatabaseSettings) -> StoreOptions:
    values: dict[str, Any] = {**_values(settings)}
    names = values.keys() & {field.name for field in fields(StoreOptions)}
    return StoreOptions(**{name: values[name] for name in names})
