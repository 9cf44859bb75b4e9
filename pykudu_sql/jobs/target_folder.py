"""The folder that a job writes files to, which appears or is replaced when it is complete."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pykudu_sql.files.atomic_output import atomic_replacement
from pykudu_sql.files.formats import FORMATS
from pykudu_sql.storage.errors import InvalidValueError, OperationalError


def check_target(target: Path, file_format: str, overwrite: bool) -> None:
    """See that files may be written to a folder.

    `target`: the folder; `file_format`: of the files; `overwrite`: whether the folder may exist.
    Raises InvalidValueError: there is no such format; OperationalError: the folder exists.
    """
    if file_format not in FORMATS:
        raise InvalidValueError(
            f"tables are not exported as '{file_format:.40}'",
            hint="choose one of " + ", ".join(FORMATS),
        )
    if target.exists() and not target.is_dir():
        raise OperationalError(
            f"'{target}' is a file, and a folder is to be made", sqlstate="58P02"
        )
    if target.exists() and not overwrite:
        raise OperationalError(
            f"'{target}' exists already", hint="say --overwrite to replace it", sqlstate="58P02"
        )


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """A folder to write to, which takes the place of `target` at the end, or disappears."""
    with atomic_replacement(target) as unfinished:
        unfinished.mkdir()
        yield unfinished
