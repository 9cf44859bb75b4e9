"""The directories of a database are its own: checked once, before anything in it is written.

Files refuse links in their own name and in that of the directory they stand in (`local_env`). A
link one level higher, such as `tablets -> /elsewhere`, would still lead out of the database, so
the directories at the top are looked at when it is opened.
"""

from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import Env


def check_directories(env: Env, root: str) -> None:
    """See that no directory of a database is a link.

    Args:
        env: the file system.
        root: the database directory, links resolved; it need not exist.

    Raises:
        DiskError: one is a link or a file; names it.
    """
    for name in layout.DIRECTORIES:
        path = f"{root}/{name}"
        if env.exists(path):
            env.list_dir(path)
