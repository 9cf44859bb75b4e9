"""What the operating system refused, in words a user can act on."""

import errno
import os
import stat
from contextlib import suppress

from pykudu_sql.storage.errors import DiskError, MissingPathError

_PLAIN_ONLY = "A database holds plain files and directories only; remove what was put there."
_NO_LINKS = (
    "A database holds plain files and directories only; put what belongs there in place of the "
    "link, or remove it."
)
_KINDS = {
    stat.S_IFREG: "a plain file",
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_HINTS = {
    errno.ENOSPC: "Free space on that device, then run the statement again.",
    errno.EDQUOT: "Free space or raise the quota, then run the statement again.",
    errno.EFBIG: "Raise the file size limit (ulimit -f), then open the database again.",
    errno.EROFS: "Mount the file system writable, or open the database read-only.",
    errno.EACCES: "Give this user access to the database directory and all it holds.",
    errno.EPERM: "Give this user access to the database directory and all it holds.",
    errno.EMFILE: "Raise the limit of open files (ulimit -n).",
    errno.ENFILE: "The system has no open files left; close other programs.",
    errno.EIO: "The device may be failing: check the system log and copy the database elsewhere.",
    errno.EXDEV: "A database lies on one file system: unmount what is mounted inside of it.",
    errno.ENOTDIR: _PLAIN_ONLY,
}


def disk_error(operation: str, path: str, error: OSError) -> DiskError:
    """The error to raise for a refused file operation.

    Args:
        operation: a verb, such as "write" or "sync".
        path: the file or directory.
        error: what the operating system said.
    """
    number = error.errno or 0
    if number == errno.ELOOP:
        return not_a_file(path, "plain file or directory")
    reason = os.strerror(number) if number else str(error)
    code = errno.errorcode.get(number, "unknown")
    kind = MissingPathError if number == errno.ENOENT else DiskError
    return kind(f"cannot {operation} '{path}': {reason} ({code})", hint=_HINTS.get(number))


def not_a_file(path: str, expected: str) -> DiskError:
    """The error for a link, device, pipe or directory in the place of something else."""
    message = f"cannot open '{path}': it is not a {expected}"
    with suppress(OSError):
        mode = os.lstat(path).st_mode
        if not stat.S_ISLNK(mode):
            return DiskError(f"{message} but {_KINDS[stat.S_IFMT(mode)]}", hint=_PLAIN_ONLY)
        not_there = "" if os.path.exists(path) else ", which is not there"
        link = f"a symbolic link to '{os.readlink(path)}'{not_there}"
        return DiskError(f"{message} but {link}", hint=_NO_LINKS)
    return DiskError(message, hint=_PLAIN_ONLY)


def hard_linked(path: str, names: int) -> DiskError:
    """The error for a file that would be written to and has other names as well."""
    return DiskError(
        f"cannot open '{path}' for writing: the file has {names} names (hard links), and writing "
        "would change it under all of them",
        hint="Replace it by a copy of its own: copy the database without hard links.",
    )
