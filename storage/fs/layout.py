"""Where everything lies inside a database directory. Pure functions of names; no disk access.

    my.db/
      LOCK                    held by the one writing process
      CURRENT                 names the live manifest
      DURABLE                 how far log and manifest are known to be safely on disk
      manifest/N.log          metadata as a log of edits
      wal/N.log               the write-ahead log, in segments
      tablets/<uuid>/N.base   a flushed rowset
      tablets/<uuid>/N.redo   changes after the flush
      tablets/<uuid>/N.undo   changes before it
      tmp/                    half-written files; emptied at open
      leases/<uuid>           held by processes that read; see `lease`
      staging/<uuid>/         rows of one write by many processes, not committed; see `staging`

Names of tables and columns never become paths: files are numbered and tablets are UUIDs, so no
name a user can think of reaches the file system. N counts from 1 and is written without zeros in
front, which makes path and number translate into each other one to one.
"""

import re
from enum import StrEnum

_NUMBER = "[1-9][0-9]{0,18}"
_LOG_NAME = re.compile(rf"({_NUMBER})\.log")
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_OWN_PATH = re.compile(
    rf"LOCK|CURRENT|DURABLE|(manifest|wal)(/{_NUMBER}\.log)?|tmp(/.*)?|leases(/{_UUID})?"
    rf"|tablets(/{_UUID}(/{_NUMBER}\.(base|redo|undo))?)?|staging(/{_UUID}(/.*)?)?",
    re.DOTALL,
)

DIRECTORIES = ("manifest", "wal", "tablets", "tmp", "leases", "staging")


class TabletFileKind(StrEnum):
    """What a file of a tablet holds; its suffix."""

    BASE = "base"
    REDO = "redo"
    UNDO = "undo"


def lock_path(root: str) -> str:
    """The file whose lock the writing process holds."""
    return f"{root}/LOCK"


def current_path(root: str) -> str:
    """The file that names the live manifest."""
    return f"{root}/CURRENT"


def mark_path(root: str) -> str:
    """The file that says how far log and manifest are durable."""
    return f"{root}/DURABLE"


def manifest_directory(root: str) -> str:
    """Where manifests lie."""
    return f"{root}/manifest"


def manifest_path(root: str, number: int) -> str:
    """Manifest `number`."""
    return f"{root}/manifest/{number}.log"


def wal_directory(root: str) -> str:
    """Where the segments of the write-ahead log lie."""
    return f"{root}/wal"


def segment_path(directory: str, number: int) -> str:
    """Segment `number` of the write-ahead log in `directory`."""
    return f"{directory}/{number}.log"


def tablets_directory(root: str) -> str:
    """Where tablets lie, one directory each."""
    return f"{root}/tablets"


def tablet_directory(root: str, tablet_id: str) -> str:
    """The directory of a tablet.

    `tablet_id`: a UUID in its canonical form. Raises ValueError: not a canonical UUID.
    """
    return f"{root}/tablets/{_canonical(tablet_id, 'tablet')}"


def tablet_file_path(root: str, tablet_id: str, number: int, kind: TabletFileKind) -> str:
    """File `number` of a tablet."""
    return f"{tablet_directory(root, tablet_id)}/{number}.{kind.value}"


def temporary_directory(root: str) -> str:
    """Where files are written before they have a name that counts."""
    return f"{root}/tmp"


def temporary_path(root: str, name: str) -> str:
    """A half-written file."""
    return f"{root}/tmp/{name}"


def leases_directory(root: str) -> str:
    """Where processes that read the database say so."""
    return f"{root}/leases"


def lease_path(root: str, lease_id: str) -> str:
    """The lease of one reader, named by a UUID."""
    return f"{root}/leases/{lease_id}"


def staging_directory(root: str) -> str:
    """Where writes by many processes put their rows until they are committed."""
    return f"{root}/staging"


def staging_folder(root: str, write_id: str) -> str:
    """The folder of one write.

    `write_id`: a UUID in its canonical form. Raises ValueError: not a canonical UUID.
    """
    return f"{root}/staging/{_canonical(write_id, 'write')}"


def staged_path(root: str, write_id: str, tablet_id: str, number: int) -> str:
    """File `number` of a tablet, before it is committed."""
    tablet_directory(root, tablet_id)
    return f"{staging_folder(root, write_id)}/{tablet_id}-{number}.base"


def staging_lock(root: str, write_id: str) -> str:
    """The file whose lock keeps the folder of one write."""
    return f"{root}/staging/{write_id}/LOCK"


def _canonical(text: str, owner: str) -> str:
    if re.fullmatch(_UUID, text) is None:
        raise ValueError(f"{owner} id {text!r} is not a UUID in canonical form")
    return text


def subdirectories(root: str, directory: str, names: list[str]) -> list[str]:
    """Those names in a directory of a database that it gives to directories only, as paths.

    `directory`: it, or one in it; `names`: what is there.
    """
    if directory == root:
        names = [name for name in names if name in DIRECTORIES]
    elif directory not in (tablets_directory(root), staging_directory(root)):
        return []
    paths = [f"{directory}/{name}" for name in names]
    return [path for path in paths if is_own(root, path)]


def is_own(root: str, path: str) -> bool:
    """Whether a database gives that name to something.

    What else is in its directory (`.DS_Store`, `@eaDir`, `lost+found`, copies) is somebody else's:
    never opened or removed. `path`: in the database directory `root`.
    """
    return _OWN_PATH.fullmatch(path.removeprefix(f"{root}/")) is not None


def parse_log_name(name: str) -> int | None:
    """The number in `N.log`, or None for any other name."""
    match = _LOG_NAME.fullmatch(name)
    return int(match[1]) if match else None
