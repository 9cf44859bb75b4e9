"""The bytes of a file from its first to its last, unpacked on the way."""

from typing import Protocol

import pyarrow as pa

from pykudu_sql.files.formats import FileKind


class ByteStream(Protocol):
    """What bytes are read from."""

    def read(self, size: int) -> bytes:
        """The next bytes, none at the end."""


class SourceStream:
    """A file that is open to be read once, and how much of it was."""

    def __init__(self, path: str, kind: FileKind) -> None:
        """Open a file of a kind. Raises OSError: it cannot be opened."""
        self._file = pa.OSFile(path)
        self._bytes: pa.NativeFile = self._file
        if kind.compression != "none":
            self._bytes = pa.CompressedInputStream(self._file, kind.compression)

    @property
    def position(self) -> int:
        """Bytes of the file, packed as they are there, that were read so far; none once closed."""
        return 0 if self._file.closed else int(self._file.tell())

    def read(self, size: int) -> bytes:
        """The next bytes, all that are left if `size` is negative; none at the end.

        Raises OSError: the file is damaged.
        """
        data: bytes = self._bytes.read(None if size < 0 else size)
        return data

    def close(self) -> None:
        """Give the file up. Closing twice is allowed."""
        self._bytes.close()
        self._file.close()
