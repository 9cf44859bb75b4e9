"""What may be in a database directory: plain files and directories, all of its own.

A link could lead out of it, a pipe or a device stands for something else, and a file that is
written to and has a second name (a hard link) would change under that too. Each access to a file
refuses a link in the file's name and in that of its directory (`local_env`). Here the whole
directory is looked at when it is opened, before anything in it is written, and by a check of the
database; what another process removes meanwhile is passed over, and so is a plain file or directory
of a name that no database gives (`layout.is_own`): desktops and file servers leave such things.
"""

from collections.abc import Iterator
from contextlib import suppress

from pykudu_sql.storage.errors import DiskError, MissingPathError
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import Env, names_if_there
from pykudu_sql.storage.fs.os_error import hard_linked


def check_entries(env: Env, root: str) -> None:
    """See that a database holds plain files and directories only.

    `root`: the database directory, links resolved; it need not exist. Raises DiskError: something
    else is in it, or a file where a directory belongs; names it.
    """
    for error in entry_errors(env, root):
        raise error


def entry_errors(env: Env, root: str) -> Iterator[DiskError]:
    """What `check_entries` refuses, the first of each directory; arguments as there."""
    pending = [root]
    while pending:
        folder = pending.pop()
        try:
            pending += layout.subdirectories(root, folder, names_if_there(env, folder))
        except DiskError as error:
            yield error


def foreign_entries(env: Env, root: str) -> Iterator[str]:
    """The paths in a database directory that are not its own; arguments as for `check_entries`."""
    folders = [root]
    for folder in folders:
        with suppress(DiskError):  # a writer at work removes directories
            names = env.list_dir(folder)
            folders += layout.subdirectories(root, folder, names)
            paths = [f"{folder}/{name}" for name in names]
            yield from (path for path in paths if not layout.is_own(root, path))


def check_names(env: Env, root: str) -> None:
    """See that no file that a writer changes in place has a second name.

    `env`, `root`: see `check_entries`, which comes before. Raises DiskError: one has, or is a
    directory; names it.
    """
    for error in name_errors(env, root):
        raise error


def name_errors(env: Env, root: str) -> Iterator[DiskError]:
    """What `check_names` refuses; arguments as there."""
    for path in _files_changed_in_place(env, root):
        try:
            names = env.names_of(path)
        except MissingPathError:
            continue
        except DiskError as error:
            yield error
            continue
        if names > 1:
            yield hard_linked(path, names)


def _files_changed_in_place(env: Env, root: str) -> Iterator[str]:
    """Locks and logs; all other files are written once."""
    yield layout.lock_path(root)
    for folder in ("manifest", "wal", "leases"):
        yield from _own_paths(env, root, f"{root}/{folder}")
    for folder in _own_paths(env, root, layout.staging_directory(root)):
        yield f"{folder}/LOCK"


def _own_paths(env: Env, root: str, folder: str) -> list[str]:
    names = names_if_there(env, folder)
    return [path for name in names if layout.is_own(root, path := f"{folder}/{name}")]
