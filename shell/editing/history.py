"""Lines typed, kept for the next session in a file that only their owner can read."""

import os
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from pykudu_sql import Error
from pykudu_sql.files.file_access import check_written


class PrivateHistory(FileHistory):
    """A history file that leaves out what begins with a blank, as shells do."""

    def store_string(self, string: str) -> None:
        """Write a text to the file unless it begins with a blank."""
        if not string.startswith(" "):
            super().store_string(string)


def open_history(path: Path) -> History:
    """The history in a file; one that lasts for this session only if the file cannot be used."""
    try:
        check_written(str(path), str(path))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.fchmod(descriptor, 0o600)
        os.close(descriptor)
    except (OSError, Error):
        return InMemoryHistory()
    return PrivateHistory(str(path))
