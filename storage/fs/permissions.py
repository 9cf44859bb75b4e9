"""Who may change a database directory besides its user, by the modes of the file system.

A process of another user that may create, rename or remove names in a database can replace any
file of it. Checksums detect accidents, not intent: they are no signature.
"""

import os
import stat


def is_writable_by_others(path: str) -> bool:
    """Whether users other than the owner may create and remove names in a directory.

    A group counts unless it is the process's own: many systems give each user a group of their own
    and a umask that lets it write. Access control lists show in the group's bits. `path`: of the
    directory; False where there is none.
    """
    try:
        status = os.stat(path)
    except OSError:
        return False
    by_group = bool(status.st_mode & stat.S_IWGRP) and status.st_gid != os.getegid()
    return by_group or bool(status.st_mode & stat.S_IWOTH)
