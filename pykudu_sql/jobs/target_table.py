"""The table that a load fills, made from the files where there is none."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from pykudu_sql.database import Database
from pykudu_sql.dbapi.opening import connect
from pykudu_sql.files.atomic_output import remove
from pykudu_sql.jobs.table_layout import quoted
from pykudu_sql.planner.parse.suggestion import near
from pykudu_sql.settings import DatabaseSettings
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.errors import Error, UndefinedTableError
from pykudu_sql.storage.fs import layout as files
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.log.manifest import no_database


def existing_tables(database: str) -> Mapping[str, TableInfo]:
    """The tables as they are now; none if the database is not there yet."""
    if not os.path.lexists(files.current_path(database)):
        return {}
    opened = Database(database, DatabaseSettings(read_only=True, threads=1)).acquire()
    try:
        return opened.store.catalog.tables
    finally:
        opened.release()


def no_table(database: str, table: str, tables: Mapping[str, TableInfo]) -> Error:
    """The error for files without a table to go to, and without the key of a new one."""
    if not os.path.lexists(files.current_path(database)):
        hint = "--primary-key COLUMN,.. makes it, and the table"
        return no_database(LocalEnv(), database, database, hint)
    suggestion = near(table.lower(), tables)
    return UndefinedTableError(
        f"table '{table:.80}' does not exist, and a new table needs a primary key",
        hint=(f"{suggestion} " if suggestion else "") + "--primary-key COLUMN,.. makes a new one",
    )


@contextmanager
def created(database: str, table: str, statement: str) -> Iterator[TableInfo]:
    """A new table, which goes if the load does not succeed, and the database with it if it is new.

    Whoever has written to the table meanwhile keeps it.
    """
    is_new = not Path(database).exists()
    try:
        with connect(database, autocommit=True) as connection:
            connection.execute(statement)
        table_info = existing_tables(database)[table]
        try:
            yield table_info
        except BaseException:
            with suppress(Error):
                _drop_if_empty(database, table_info)
            raise
    except BaseException:
        if is_new and not existing_tables(database):
            remove(Path(database))
        raise


def _drop_if_empty(database: str, created: TableInfo) -> None:
    name = quoted(created.name)
    with connect(database, autocommit=True) as connection:
        is_same = existing_tables(database).get(created.name) == created
        if is_same and not connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchall():
            connection.execute(f"DROP TABLE {name}")
