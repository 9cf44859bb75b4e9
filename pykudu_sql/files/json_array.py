"""One JSON array of objects, an object at a time, however long the array is."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, Final, Protocol

from pykudu_sql.storage.errors import DataError

MAX_OBJECT_CHARACTERS: Final = 64 << 20
_READ_BYTES: Final = 1 << 20
_BLANKS: Final = re.compile(r"[ \t\r\n]*")


class ByteStream(Protocol):
    """What bytes are read from."""

    def read(self, size: int) -> bytes:
        """The next bytes, none at the end."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = {key.lower(): value for key, value in pairs}
    if len(document) < len(pairs):
        raise ValueError("a key is given twice")
    return document


# Numbers stay the texts that write them: no digits are lost before a column takes them.
DECODER: Final = json.JSONDecoder(
    parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_pairs
)


class ArrayObjects:
    """The objects of an array, with keys in lower case and numbers as texts.

    `line`: the line where the object that came last begins, from 1; `text`: that object.
    """

    def __init__(self, stream: ByteStream, path: str, decoder: json.JSONDecoder = DECODER) -> None:
        """Nothing is read yet.

        `path`: of the file, for messages; `decoder`: of one object.
        """
        self._decoder = decoder
        self._stream = stream
        self._path = path
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text = ""
        self._place = 0
        self._is_ended = False
        self._inner = 0
        self._start = 0
        self.line = 1

    @property
    def text(self) -> str:
        return self._text[self._start : self._place]

    def objects(self) -> Iterator[dict[str, Any]]:
        """All of them. Raises DataError: this is no array of objects."""
        self._expect("[")
        if self._next() == "]":
            self._place += 1
        else:
            yield self._object()
            while self._next() == ",":
                self._place += 1
                yield self._object()
            self._expect("]")
        if self._next():
            raise self._broken("something follows the array")

    def _object(self) -> dict[str, Any]:
        if self._next() != "{":
            raise self._broken("an element is no object")
        while True:
            try:
                document, end = self._decoder.raw_decode(self._text, self._place)
            except (ValueError, RecursionError) as error:
                if self._is_ended or len(self._text) - self._place > MAX_OBJECT_CHARACTERS:
                    reason = str(error).partition(": line ")[0]
                    raise self._broken(f"an object is broken ({reason})") from None
                self._read_more()
                continue
            self._start, self._place = self._place, end
            # Counted when the next one is reached: this one's line is where it begins.
            self._inner = self._text.count("\n", self._start, end)
            return dict(document)

    def _next(self) -> str:
        """The next character that is no blank; empty at the end."""
        self.line, self._inner = self.line + self._inner, 0
        while True:
            blanks = _BLANKS.match(self._text, self._place)
            end = blanks.end() if blanks else self._place
            self.line += self._text.count("\n", self._place, end)
            self._place = end
            if self._place < len(self._text):
                return self._text[self._place]
            if self._is_ended:
                return ""
            self._read_more()

    def _expect(self, character: str) -> None:
        if self._next() != character:
            raise self._broken(f"'{character}' is expected")
        self._place += 1

    def _read_more(self) -> None:
        left = self._text[self._place :]
        data = self._stream.read(max(_READ_BYTES, len(left)))
        try:
            self._text = left + self._decode(data, not data)
        except UnicodeDecodeError:
            raise self._broken("it is not UTF-8") from None
        self._is_ended, self._place = not data, 0

    def _broken(self, reason: str) -> DataError:
        return DataError(
            f"'{self._path}', line {self.line}: this is no JSON array of objects: {reason}",
            sqlstate="22032",
        )
