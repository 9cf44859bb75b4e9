"""Where a job writes files: a folder that appears or is replaced when it is complete.

No file of a database is ever in such a place, whatever is to be overwritten.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pykudu_sql.files.atomic_output import atomic_replacement
from pykudu_sql.files.formats import FORMATS, named_format
from pykudu_sql.storage.errors import InvalidValueError, OperationalError
from pykudu_sql.storage.fs.database_places import check_replaced, check_written


def check_target(database: str, target: Path, file_format: str, overwrite: bool) -> None:
    """See that files may be written to a folder.

    Args:
        database: the directory of the one that is read.
        target: the folder.
        file_format: of the files.
        overwrite: whether the folder may exist.

    Raises InvalidValueError: there is no such format, or the folder is named like a file of another
    one; OperationalError: the folder exists; FileAccessError: it lies in a database, or has one
    in it.
    """
    check_replaced(str(target), str(target), database)
    if file_format not in FORMATS:
        raise InvalidValueError(
            f"tables are not exported as '{file_format:.40}'",
            hint="choose one of " + ", ".join(FORMATS),
        )
    by_name = named_format(target.name, ())
    if by_name in FORMATS and by_name != file_format and not target.exists():
        raise InvalidValueError(
            f"'{target}' would be a folder of {file_format} files",
            hint=f"say --format {by_name}, or another name; "
            f"COPY .. TO '{target.name}' writes one file",
        )
    if target.exists() and not target.is_dir():
        raise OperationalError(
            f"'{target}' is a file, and a folder is to be made", sqlstate="58P02"
        )
    if target.exists() and not overwrite:
        raise OperationalError(
            f"'{target}' exists already", hint="say --overwrite to replace it", sqlstate="58P02"
        )


def check_file(database: str, target: Path) -> None:
    """See that one file may be written, in a folder that is there.

    Raises FileAccessError: it is part of a database; OperationalError: there is no such folder,
    or the file is one.
    """
    check_written(str(target), str(target), database)
    if target.is_dir():
        raise OperationalError(
            f"'{target}' is a folder, and a file is to be written", sqlstate="58P02"
        )
    if not target.absolute().parent.is_dir():
        raise OperationalError(f"there is no folder '{target.parent}'", sqlstate="58P01")


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """A folder to write to, which takes the place of `target` at the end, or disappears."""
    with atomic_replacement(target) as unfinished:
        unfinished.mkdir()
        yield unfinished
