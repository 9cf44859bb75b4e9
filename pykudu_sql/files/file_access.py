"""Which files a session may read and write: what the program gave, and nothing else.

A path is resolved first, symbolic links and `..` included; what comes out must lie in the folder
that the program permits. What is read lies outside of the database's own directory, what is written
outside of every database's (`storage/fs/database_places`).
"""

import glob
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from pykudu_sql.dataclass import dataclass
from pykudu_sql.files.hive_paths import partitions_of
from pykudu_sql.storage.errors import FileAccessError, OperationalError
from pykudu_sql.storage.fs.database_places import check_other, check_replaced, check_written

__all__ = ["FileAccess", "PermittedFile", "check_written"]

_HIDDEN_PREFIXES = (".", "_")


@dataclass(frozen=True, slots=True)
class PermittedFile:
    """A file that may be read.

    Attributes:
        path: resolved.
        name: for messages, relative where that is how files are named.
        partitions: what folders below the one that is named say of its rows; see `hive_paths`.
        span: the part that is read: lines of JSON that begin between two bytes, or row groups of
            Parquet from one to before another; None for all of it.
    """

    path: str
    name: str
    partitions: Mapping[str, str | None] = field(default_factory=dict)
    span: tuple[int, int] | None = None

    @property
    def size(self) -> int:
        """Bytes of it now. Raises OperationalError: it is there no more."""
        return _status(self.path).st_size


@dataclass(frozen=True, slots=True)
class FileAccess:
    """The files of a session.

    Attributes:
        permitted: True for all files, else the folder they lie in; False permits none.
        database: the database's directory, whose files are nobody's; None if it is in memory.
        replaces: whether a file that exists may be replaced.
    """

    permitted: str | bool
    database: str | None
    replaces: bool

    def to_read(self, pattern: str) -> Sequence[PermittedFile]:
        """The files that a path, a folder or a glob names, resolved, in the order of their names.

        Of a folder those that do not begin with a dot or an underscore, and those in its folders
        of partitions. Raises FileAccessError: one of them is not permitted; OperationalError: there
        is none, or one is no plain file.
        """
        self._check_permitted()
        named = self._absolute(pattern)
        if os.path.lexists(named):
            is_folder = os.path.isdir(self._to_read(named, pattern))
            names = sorted(_below(named)) if is_folder else [named]
            root = named if is_folder else os.path.dirname(named)
        else:
            # The message does not disclose what exists where nothing may be read.
            root = _root(named)
            self._to_read(root, pattern)
            names = sorted(glob.glob(named, recursive=True))
            while "=" in os.path.basename(root):
                root = os.path.dirname(root)
        names = [name for name in names if not os.path.isdir(name)]
        paths = [self._to_read(name, name) for name in names]
        if not paths:
            raise OperationalError(f"no file matches '{pattern:.200}'", sqlstate="58P01")
        base = os.path.realpath(self.permitted if isinstance(self.permitted, str) else os.curdir)
        for path in paths:
            _check_plain(path)
        return [
            PermittedFile(
                path,
                os.path.relpath(path, base) if _is_within(path, base) else path,
                partitions_of(os.path.relpath(name, root or ".").split(os.sep)[:-1]),
            )
            for name, path in zip(names, paths, strict=True)
        ]

    def to_write(self, name: str) -> str:
        """The file that a path names, resolved; it may be there or not.

        Raises FileAccessError: it is not permitted; OperationalError: there is no such folder, or
        the file exists and is none that may be replaced.
        """
        self._check_permitted()
        path = self._resolved(self._absolute(name), name)
        check_written(path, name[:200], self.database)
        folder = os.path.dirname(path)
        if not os.path.isdir(folder):
            raise OperationalError(f"there is no folder '{folder}'", sqlstate="58P01")
        if os.path.lexists(path):
            _check_plain(path)
            if not self.replaces:
                raise OperationalError(
                    f"'{name:.200}' exists already, and what only reads replaces no file",
                    hint="give another name, or connect without read_only",
                    sqlstate="58P02",
                )
        return path

    def to_make(self, name: str, overwrites: bool) -> str:
        """The folder that a path names, resolved, to be made or if `overwrites` replaced.

        Raises FileAccessError: it is not permitted; OperationalError: it exists and is not to be
        replaced, or is a file, or its parent is not there.
        """
        self._check_permitted()
        path = self._resolved(self._absolute(name), name)
        check_replaced(path, name[:200], self.database)
        if not os.path.isdir(os.path.dirname(path)):
            raise OperationalError(
                f"there is no folder '{os.path.dirname(path)}'", sqlstate="58P01"
            )
        is_folder = os.path.isdir(path) and not os.path.islink(path)
        if os.path.lexists(path) and not (is_folder and overwrites and self.replaces):
            raise OperationalError(
                f"'{name:.200}' exists already",
                hint="(OVERWRITE) replaces a folder, on a connection that may write",
                sqlstate="58P02",
            )
        permitted = self.permitted if isinstance(self.permitted, str) else None
        if is_folder and permitted is not None and os.path.realpath(permitted) == path:
            raise FileAccessError(f"'{name:.200}' is the folder that this connection may use")
        return path

    def _check_permitted(self) -> None:
        if self.permitted is False:
            raise FileAccessError(
                "this connection may not read or write files",
                hint="a shell may that is started without --safe; a program permits it by "
                "connect(path, files='folder'), or files=True for all",
            )

    def _absolute(self, name: str) -> str:
        """A path as it is meant: relative to the permitted folder if there is one."""
        if "\0" in name or not name:
            raise OperationalError(f"{name!r:.200} is no path", sqlstate="58P01")
        return os.path.join(self.permitted, name) if isinstance(self.permitted, str) else name

    def _to_read(self, path: str, name: str) -> str:
        """A path resolved. Raises FileAccessError: it is not permitted."""
        real = self._resolved(path, name)
        if self.database is not None:
            check_other(real, name[:200], self.database)
        return real

    def _resolved(self, path: str, name: str) -> str:
        """A path resolved. Raises FileAccessError: it is outside the permitted folder."""
        real = os.path.realpath(path)
        if isinstance(self.permitted, str) and not _is_within(real, self.permitted):
            raise FileAccessError(
                f"'{name:.200}' is outside the folder that this connection may use",
                hint="that folder is the argument `files` of connect(path, files=...)",
            )
        return real


def _is_within(path: str, folder: str) -> bool:
    real = os.path.realpath(folder)
    return os.path.commonpath((path, real)) == real


def _below(folder: str) -> Iterator[str]:
    """What is in a folder, and below its folders of partitions."""
    with os.scandir(folder) as entries:
        visible = [entry for entry in entries if not entry.name.startswith(_HIDDEN_PREFIXES)]
    for entry in visible:
        if "=" in entry.name and entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path)
        else:
            yield entry.path


def _root(pattern: str) -> str:
    """The folder in which a glob begins to look, or the path that is none.

    Raises OperationalError: the glob goes up again.
    """
    parts = pattern.split(os.sep)
    magic = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    if ".." in parts[magic:]:
        raise OperationalError(
            f"'{pattern:.200}' goes up behind a wildcard", hint="leave out '..'", sqlstate="58P01"
        )
    return os.sep.join(parts[:magic]) or ("/" if pattern.startswith("/") else ".")


def _status(path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except OSError as error:
        raise OperationalError(
            f"cannot open '{path}': {error.strerror}", sqlstate="58030"
        ) from error


def _check_plain(path: str) -> None:
    if not stat.S_ISREG(_status(path).st_mode):
        raise OperationalError(
            f"'{path}' is no plain file", hint="COPY reads and writes plain files", sqlstate="58030"
        )
