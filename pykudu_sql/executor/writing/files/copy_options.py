"""The options of COPY as those of files."""

from typing import TYPE_CHECKING

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.files.file_access import FileAccess
from pykudu_sql.files.formats import FileKind, FileOptions, file_kind
from pykudu_sql.storage.errors import InvalidValueError

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.copy_plans import CopyOptions

_OF_CSV = ("header", "delimiter", "quote", "null")
# Of the folder that COPY TO makes, not of its files.
_OF_FOLDER = ("partition_by", "overwrite")


def kind_of(path: str, options: "CopyOptions") -> FileKind:
    """The format and compression of a file, by its name and the options of COPY.

    Raises InvalidValueError: its format is not known, or has no such option.
    """
    keywords = {
        ("file_format" if name == "format" else name): value
        for name, value in options.items()
        if name not in _OF_FOLDER
    }
    kind = file_kind(path, FileOptions(**keywords))  # type: ignore[arg-type]
    wrong = [name for name in _OF_CSV if name in options]
    if wrong and kind.format != "csv":
        raise InvalidValueError(
            f"{wrong[0].upper()} is an option of CSV, and '{path:.200}' is {kind.format}",
            hint="leave it out, or say (FORMAT csv)",
        )
    if "row_group_size" in options and kind.format != "parquet":
        raise InvalidValueError(
            f"ROW_GROUP_SIZE is an option of Parquet, and '{path:.200}' is {kind.format}",
            hint="leave it out, or say (FORMAT parquet)",
        )
    if kind.options.quote == kind.delimiter:
        raise InvalidValueError("QUOTE and DELIMITER are the same", hint="give one of them another")
    return kind


def access_of(state: SessionState) -> FileAccess:
    """The files that a session may use."""
    path = None if state.in_memory else state.database_path
    return FileAccess(state.settings.files, path, not state.database_settings.read_only)
