"""The bytes of a file from its first to its last, unpacked on the way; or those of some lines.

Arrow's parser of CSV misses a quote that stands beside a NUL, and prints to standard error where a
row of the wrong width is not UTF-8. So it never sees either: each such byte is a mark and a
character of its own, and is put back in what the parser gives.
"""

import codecs
import re
from io import RawIOBase
from typing import Final, Protocol

import pyarrow as pa

from pykudu_sql.files.formats import FileKind
from pykudu_sql.files.reading.row_files import BLOCK_BYTES

_READ_BYTES: Final = 1 << 20
_MARK: Final = "\U0010ffff"  # a code that is no character
_MARK_BYTES: Final = _MARK.encode()
_FIRST: Final = 0x100
_ODD: Final = re.compile(f"[\0\udc80-\udcff{_MARK}]")  # `surrogateescape` of bytes among them
_ESCAPED: Final = re.compile(re.escape(_MARK_BYTES) + b"([\xc4-\xc8][\x80-\xbf])")


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


def escaped(text: str) -> str:
    """A text, with `surrogateescape` for bytes that are not UTF-8, as the parser is given it."""
    return _ODD.sub(lambda odd: _MARK + chr(_FIRST + _code(odd[0])), text)


def _code(character: str) -> int:
    return 0x100 if character == _MARK else ord(character) & 0xFF


def restored(data: bytes) -> bytes:
    """The bytes of a file that the parser gave as others."""
    return _ESCAPED.sub(lambda pair: _restored_code(ord(pair[1].decode()) - _FIRST), data)


def _restored_code(code: int) -> bytes:
    return _MARK_BYTES if code == 0x100 else bytes([code])


class CsvStream(RawIOBase):
    """The bytes of a file behind its header, and a line of its own behind the last one.

    `has_escapes`: whether some of those read so far are escaped.
    """

    def __init__(self, head: bytes, rest: ByteStream, marker: str) -> None:
        """`head`: read already; `rest`: what follows; `marker`: the line."""
        self._head = head
        self._rest = rest
        self._end = marker.encode() + b"\n"
        self._last = b"\n"
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._ready = b""
        self.has_escapes = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes. `size`: at most so many, if not negative; the marker comes whole."""
        while not self._ready and self._end:
            self._ready = self._more(size if size > 0 else BLOCK_BYTES)
        if size < 0:
            return self._all()
        if not self._end:
            size = len(self._ready)
        data, self._ready = self._ready[:size], self._ready[size:]
        return data

    def _all(self) -> bytes:
        pieces = [self._ready]
        while self._end:
            pieces.append(self._more(BLOCK_BYTES))
        self._ready = b""
        return b"".join(pieces)

    def _more(self, size: int) -> bytes:
        data = self._head or self._rest.read(size)
        self._head = b""
        if data:
            self._last = data[-1:]
            return self._escaped(data)
        line_end = b"" if self._last in b"\r\n" else b"\n"
        data, self._end = self._escaped(b"") + line_end + self._end, b""
        return data

    def _escaped(self, data: bytes) -> bytes:
        """Bytes escaped; none at the end of the file."""
        if data.isascii() and b"\0" not in data and not self._decoder.getstate()[0] and data:
            return data
        text = self._decoder.decode(data, not data)
        if _ODD.search(text) is None:
            return text.encode()
        self.has_escapes = True
        return escaped(text).encode()


def restored_array(cells: pa.Array) -> pa.Array:
    """Cells of a parser that was given escaped bytes, as the file has them."""
    values = [None if cell is None else restored(cell) for cell in cells.to_pylist()]
    return pa.array(values, pa.binary())


class LineSpan:
    """The lines of a file that begin in a span of its bytes, open to be read once."""

    def __init__(self, path: str, start: int, stop: int) -> None:
        """Open a file that is not packed.

        `start`, `stop`: offsets; a line belongs to the span in which its first byte lies. Raises
        OSError: it cannot be opened.
        """
        self._file = pa.OSFile(path)
        self._start = start
        self._size = int(self._file.size())
        begin = self._line_start(start)
        self._stop = max(begin, self._line_start(stop))
        self._file.seek(begin)

    @property
    def position(self) -> int:
        """Bytes of the span that were read so far; none once closed."""
        return 0 if self._file.closed else max(0, int(self._file.tell()) - self._start)

    def read(self, size: int) -> bytes:
        """The next bytes, all that are left if `size` is negative; none at the end.

        Raises OSError: the file is damaged.
        """
        left = self._stop - int(self._file.tell())
        data: bytes = self._file.read(left if size < 0 else min(size, left))
        return data

    def close(self) -> None:
        """Give the file up. Closing twice is allowed."""
        self._file.close()

    def _line_start(self, offset: int) -> int:
        """Where the first line begins that does not begin before an offset."""
        if offset <= 0:
            return 0
        place = offset - 1
        self._file.seek(place)
        while place < self._size:
            data: bytes = self._file.read(_READ_BYTES)
            end = data.find(b"\n")
            if end >= 0:
                return place + int(end) + 1
            place += len(data)
        return self._size


def lines_before(path: str, offset: int) -> int:
    """How many lines that are not blank begin before an offset. Raises OSError: see `LineSpan`."""
    lines = LineSpan(path, 0, offset)
    count, left = 0, b""
    try:
        while data := lines.read(_READ_BYTES):
            *whole, left = (left + data).split(b"\n")
            count += sum(1 for line in whole if line.strip())
        return count + bool(left.strip())
    finally:
        lines.close()
