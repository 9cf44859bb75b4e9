"""Looking at a database directory without opening it as a database: check it, and inspect it.

Both change nothing, work beside a process that writes, and go on as far as they can over damage.
"""

import os
from collections.abc import Iterator, Sequence

from pykudu_sql.storage.check.database_check import DatabaseCheck
from pykudu_sql.storage.check.finding import Finding, Tally
from pykudu_sql.storage.errors import Error, OperationalError
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.inspect.inspector import inspect_database
from pykudu_sql.storage.log.manifest import no_database

__all__ = ["DatabaseCheck", "Error", "Finding", "Tally", "check", "inspect", "must_be_there"]


def check(path: str, quick: bool) -> DatabaseCheck:
    """A check of a database, which `run` carries out.

    `path`: the directory; `quick`: footers and indexes only, no rows. Raises OperationalError:
    there is no database.
    """
    must_be_there(path)
    return DatabaseCheck(LocalEnv(), path, quick)


def inspect(path: str, words: Sequence[str]) -> Iterator[str]:
    """What lies on disk, in lines for a person.

    `path`: the directory; `words`: what to show, as `pykudu-sql inspect --help` lists it. Raises
    OperationalError: there is no database; CorruptionError: it lost its CURRENT; ProgrammingError:
    there is no such part of it.
    """
    must_be_there(path)
    if not words and not os.path.lexists(layout.current_path(path)):
        raise no_database(LocalEnv(), path, path)
    return inspect_database(LocalEnv(), path, words)


def must_be_there(path: str) -> None:
    """Check that there is a database. Raises OperationalError: there is none."""
    entries = (layout.current_path(path), layout.manifest_directory(path))
    if not any(map(os.path.lexists, entries)):
        raise OperationalError(f"there is no database at '{path}'", sqlstate="58P01")
