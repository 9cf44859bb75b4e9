"""Which places belong to databases, so that nobody else's file is written there.

A folder is a database if its CURRENT begins as ours do, or if it has a manifest: that is so of one
whose CURRENT is lost, and of a step of a backup. A place belongs to the databases that it lies in,
links and `..` resolved, whichever process has them open. A file that begins as those of databases
do belongs to one, or to a backup, under each of its names (hard links).

So does one that begins as the note of a lock does, and leases have that too. A lock that nobody
holds is empty, so an empty file that has several names may be one.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from pykudu_sql.storage.errors import FileAccessError
from pykudu_sql.storage.fs import layout

_CURRENT: Final = b"pykudu_sql database\n"
_FILE_STARTS: Final = (_CURRENT, b"PYKUDUD\n", b"PYKUDUL\n", b"PKCFILE1")
_NOTE: Final = re.compile(rb"[0-9]{1,10}\n[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}")
_HEAD_BYTES: Final = 32
_HINT: Final = "put files outside of every database's directory"


def check_written(target: str, name: str, database: str | None = None) -> None:
    """See that a file or folder may be written: it belongs to no database.

    Args:
        target: the path; what is there may be replaced, or a link followed.
        name: of it in messages.
        database: the directory of one that need not be there yet.

    Raises FileAccessError: it does.
    """
    for place in _places(target, name):
        owner = _owner(place, database)
        if owner is not None:
            raise FileAccessError(f"'{name}' is a place within the database '{owner}'", hint=_HINT)
        if _begins_as_ours(place):
            raise FileAccessError(
                f"'{name}' is a file of a database, or of a backup of one",
                hint="give another name, or remove it if it is a copy that nobody needs",
            )
        if _may_be_lock(place):
            raise FileAccessError(
                f"'{name}' is empty and has several names: one may be the lock of a database",
                hint="give another name, or remove this one",
            )


def check_replaced(target: str, name: str, database: str | None = None) -> None:
    """See that a folder may be written or replaced: it has no database in it, either.

    Arguments and errors as those of `check_written`.
    """
    check_written(target, name, database)
    for place in _places(target, name):
        inner = _inner(place, database)
        if inner is not None:
            raise FileAccessError(
                f"'{name}' is a folder that the database '{inner}' lies in",
                hint="give a folder that has no database in it",
            )


def check_around(target: str, name: str, database: str) -> None:
    """See that one database does not lie within a folder, which is not replaced.

    Arguments and errors as those of `check_written`.
    """
    if any(_is_within(os.path.realpath(database), place) for place in _places(target, name)):
        raise FileAccessError(
            f"'{name}' is a folder that the database '{database}' lies in",
            hint="give a folder that has no database in it",
        )


def check_other(target: str, name: str, database: str) -> None:
    """See that a path is no part of one database.

    Arguments and errors as those of `check_written`.
    """
    if any(_is_within(place, os.path.realpath(database)) for place in _places(target, name)):
        raise FileAccessError(f"'{name}' is a place within the database '{database}'", hint=_HINT)


def _places(target: str, name: str) -> Iterator[str]:
    """Where a path leads, and where it lies itself, which differ for a link."""
    if "\0" in target:
        raise FileAccessError(f"{name!r} is no path", hint="leave out the NUL character")
    place = os.path.realpath(target)
    yield place
    folder, own_name = os.path.split(target.rstrip("/"))
    itself = os.path.join(os.path.realpath(folder), own_name)
    if own_name not in ("", os.curdir, os.pardir) and itself != place:
        yield itself


def _owner(place: str, database: str | None) -> str | None:
    """The database that a resolved path lies in, or is; None for none."""
    if database is not None and _is_within(place, os.path.realpath(database)):
        return database
    folder = place
    while True:
        if _is_database(folder):
            return folder
        folder, previous = os.path.dirname(folder), folder
        if folder == previous:
            return None


def _inner(folder: str, database: str | None) -> str | None:
    """A database that lies in a folder; None for none."""
    if database is not None and _is_within(os.path.realpath(database), folder):
        return database
    return next((path for path, _, _ in os.walk(folder) if _is_database(path)), None)


def _is_database(folder: str) -> bool:
    if _head(layout.current_path(folder)).startswith(_CURRENT):
        return True
    with suppress(OSError):
        names = os.listdir(layout.manifest_directory(folder))
        return any(layout.parse_log_name(name) is not None for name in names)
    return False


def _begins_as_ours(path: str) -> bool:
    head = _head(path)
    return head.startswith(_FILE_STARTS) or _NOTE.match(head) is not None


def _may_be_lock(path: str) -> bool:
    with suppress(OSError):
        status = os.stat(path)
        return stat.S_ISREG(status.st_mode) and not status.st_size and status.st_nlink > 1
    return False


def _head(path: str) -> bytes:
    """The first bytes of a plain file; none of anything else."""
    with suppress(OSError):
        if stat.S_ISREG(os.stat(path).st_mode):
            with open(path, "rb", buffering=0) as file:
                return file.read(_HEAD_BYTES)
    return b""


def _is_within(path: str, folder: str) -> bool:
    return os.path.commonpath((path, folder)) == folder
