"""The findings of a check."""

from collections.abc import Iterable, Iterator

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.errors import DatabaseError

FROM_BACKUP = "Restore the file, or the whole directory, from a backup."


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it must be.

    Attributes:
        path: the file or directory.
        problem: what is wrong with it.
        way_out: what can be done.
        is_left_over: a killed process left it, nothing reads it, and opening removes it.
    """

    path: str
    problem: str
    way_out: str
    is_left_over: bool = False


@dataclass(slots=True)
class Tally:
    """How much was looked at so far; rows are those on disk and those in the log alone."""

    files: int = 0
    bytes: int = 0
    tablets: int = 0
    rows: int = 0


def guarded(path: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings of a part of a check, and one more if it cannot go on.

    Damage may make any code fail in any way; the other parts are looked at all the same. `path`:
    what the part looks at.
    """
    try:
        yield from findings
    except DatabaseError as error:
        yield Finding(path, _without_path(error.message, path), error.hint or FROM_BACKUP)
    except Exception as error:
        yield Finding(path, f"cannot be read: {type(error).__name__}: {error}", FROM_BACKUP)


def _without_path(message: str, path: str) -> str:
    """A message without the path that it begins with."""
    for start in (f"{path}: ", f"'{path}' ", f"'{path}': "):
        if message.startswith(start):
            return message[len(start) :]
    return message
