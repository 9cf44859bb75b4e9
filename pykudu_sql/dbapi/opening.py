"""`connect`: a database's path and settings into a connection.

Importing this file loads none of the libraries underneath; calling it does.
"""

import os
from typing import Unpack

from pykudu_sql.dbapi import exceptions
from pykudu_sql.dbapi.connection import Connection
from pykudu_sql.error_boundary import guarded
from pykudu_sql.setting_types import Settings


@guarded
def connect(
    path: str | os.PathLike[str] = ":memory:",
    *,
    read_only: bool = False,
    autocommit: bool = False,
    **settings: Unpack[Settings],
) -> Connection:
    """Open a database.

    Several connections of one process may be open on one path; each has its own transactions.

    Args:
        path: its directory, made where there is none; `":memory:"` for one that lives as long as
            the connection.
        read_only: refuse every write. Any number of processes may read a database so while
            another writes it; see `refresh`.
        autocommit: commit each statement at once, instead of waiting for `commit`.
        **settings: as `SHOW SETTINGS` lists them and `pykudu_sql.Settings` types them, such as
            `durability="normal"`, `memory_limit="2GB"`, `default_hash_partitions=8`.

    Raises LockedError: another process has it open; the message says which; ProgrammingError: no
    such setting; OperationalError, CorruptionError: it cannot be opened; InterfaceError: the path
    is none.
    """
    from pykudu_sql.database import open_database
    from pykudu_sql.session.session import Session
    from pykudu_sql.settings import settings_of

    inside, text = settings.get("database"), _path_text(path)
    if text == ":memory:" and inside is not None and inside != "default":
        raise exceptions.ProgrammingError(
            f"a new database in memory has no database '{inside}' inside",
            hint="the first argument is the path, as in connect('my.db')",
        )
    database_settings, session_settings = settings_of({**settings, "read_only": read_only})
    database = open_database(text, database_settings)
    try:
        return Connection(Session(database, session_settings, autocommit))
    except BaseException:
        database.release()
        raise


def _path_text(path: object) -> str:
    if not isinstance(path, str | bytes | os.PathLike):
        raise exceptions.InterfaceError(
            f"a database's path is text, not {type(path).__name__}", sqlstate="07006"
        )
    return os.fsdecode(path)
