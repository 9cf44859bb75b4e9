"""A database opened to be read beside whoever writes it, this process or another."""

from collections.abc import Iterator
from contextlib import contextmanager

from pykudu_sql.database import Database
from pykudu_sql.session.session import Session
from pykudu_sql.settings import DatabaseSettings, SessionSettings


@contextmanager
def opened_to_read(path: str) -> Iterator[Database]:
    """A database, for as long.

    Raises OperationalError: there is none; CorruptionError, DiskError: it cannot be read.
    """
    database = Database(path, DatabaseSettings(read_only=True)).acquire()
    try:
        yield database
    finally:
        database.release()


@contextmanager
def session_of(database: Database) -> Iterator[Session]:
    """A session that reads an open database."""
    session = Session(database.acquire(), SessionSettings(), autocommit=True)
    try:
        yield session
    finally:
        session.close()
