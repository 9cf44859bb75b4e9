"""One JSON array of objects, an element at a time, however long the array is.

An element that is no object, or that cannot be read, is one record; reading goes on at the next one
where that can be recognised: at a comma behind which an object with a key begins, if no '[' came
before it, and otherwise at the first of such commas at which all brackets are closed. Where there
is none within `_LONGEST_BROKEN` characters, the rest of the file is one record. An object is a row
only if a comma, another object, or an end follows it.
"""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, Final

from pykudu_sql.dataclass import dataclass
from pykudu_sql.files.reading.source_stream import ByteStream

MAX_OBJECT_CHARACTERS: Final = 64 << 20
_LONGEST_BROKEN: Final = 1 << 20
_LONGEST_TEXT: Final = 1 << 16
# An error within so many characters of what was read may be one of what was not.
_LONGEST_TOKEN: Final = 16
_READ_BYTES: Final = 1 << 20
_BEGIN: Final = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*\[")
_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_NEXT_OBJECT: Final = r',[ \t\r\n]{0,999}\{[ \t\r\n]{0,999}"[^"\\\r\n]{1,999}"[ \t\r\n]{0,999}:'
_BOUNDARY: Final = re.compile(_NEXT_OBJECT)
_TOKEN: Final = re.compile(
    rf'(?P<text>"(?:[^"\\\r\n]|\\.)*+")|(?P<open>[\[{{])|(?P<close>[\]}}])|(?P<quote>")'
    rf"|(?P<comma>(?={_NEXT_OBJECT}),)"
)
_NO_UTF_8: Final = re.compile("[\udc80-\udcff]")  # bytes that `surrogateescape` stands for


@dataclass(frozen=True, slots=True)
class BrokenElement:
    """Something in an array that is no object. `reason`: why; `text`: its first characters."""

    reason: str
    text: str


def begins_array(head: bytes) -> bool:
    """Whether a file that begins with some bytes is one array."""
    return _BEGIN.match(head) is not None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = {key.lower(): value for key, value in pairs}
    if len(document) < len(pairs):
        raise ValueError("a key is given twice")
    return document


# Numbers stay the texts that write them: no digits are lost before a column takes them.
DECODER: Final = json.JSONDecoder(
    parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_pairs
)


class ArrayElements:
    """The elements of an array; objects with keys in lower case and numbers as texts.

    `line`: the line where the element that came last begins, from 1; `text`: that object.
    """

    def __init__(self, stream: ByteStream, decoder: json.JSONDecoder = DECODER) -> None:
        """Nothing is read yet.

        `stream`: of a file that `begins_array`; `decoder`: of one element.
        """
        self._decoder = decoder
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape").decode
        self._text = ""
        self._place = 0
        self._place_line = 1
        self._start = 0
        self._is_ended = False
        self._is_passed = False
        self._is_utf_8 = True
        self.line = 1

    @property
    def text(self) -> str:
        return self._text[self._start : self._place]

    @property
    def has_escape(self) -> bool:
        """Whether that object writes a character by its number."""
        return self._text.find("\\u", self._start, self._place) >= 0

    def elements(self) -> Iterator[dict[str, Any] | BrokenElement]:
        """All of them."""
        self._next()
        self._move(self._place + 1)
        if self._next() not in ("]", ""):
            yield from self._listed()
        self.line = self._place_line
        if self._next() == "]":
            self._move(self._place + 1)
            if self._next():
                self.line = self._place_line
                yield self._rest("something follows the array")
        elif not self._is_passed:
            yield BrokenElement("the array does not end", "")

    def _listed(self) -> Iterator[dict[str, Any] | BrokenElement]:
        """The elements up to the end of the array, or of the file."""
        yield self._element("")
        while (follower := self._next()) not in ("]", ""):
            if follower == ",":
                self._move(self._place + 1)
                if not self._next():
                    return
            yield self._element("" if follower == "," else "a ',' is missing in front of it")

    def _element(self, fault: str) -> dict[str, Any] | BrokenElement:
        """The element that begins here.

        `fault`: what keeps it from being a row, if something does.
        """
        self.line = self._place_line
        try:
            value, size = self._value()
        except (ValueError, RecursionError) as error:
            return self._broken(fault or str(error).partition(": line ")[0])
        follower = self._follower(size)
        if not (follower in (",", "]", "") or (follower == "{" and isinstance(value, dict))):
            return self._broken(fault or "',' or ']' is expected behind it")
        self._start = self._place
        self._move(self._place + size)
        if not self._is_utf_8 and _NO_UTF_8.search(self._text, self._start, self._place):
            fault = fault or "it is not UTF-8"
        if fault or not isinstance(value, dict):
            return BrokenElement(fault or "it is no object", _readable(self.text))
        return value

    def _value(self) -> tuple[object, int]:
        """The value that begins here, and its length.

        Raises ValueError, RecursionError: there is none.
        """
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._place)
            except json.JSONDecodeError as error:
                length = len(self._text)
                is_cut = error.msg.startswith("Unterminated") or (
                    error.pos > length - _LONGEST_TOKEN
                )
                if not is_cut or self._is_ended or length - self._place > MAX_OBJECT_CHARACTERS:
                    raise
            else:
                if end < len(self._text) or self._is_ended:
                    return value, end - self._place
            self._read_more()

    def _follower(self, size: int) -> str:
        """The first character behind the next ones that is no blank; empty at the end."""
        while True:
            blanks = _BLANKS.match(self._text, self._place + size)
            end = blanks.end() if blanks else self._place + size
            if end < len(self._text) or self._is_ended:
                return self._text[end : end + 1]
            size = end - self._place
            self._read_more()

    def _broken(self, reason: str) -> BrokenElement:
        """Pass what is no value, up to where the next element can be recognised."""
        while len(self._text) - self._place < _LONGEST_BROKEN and not self._is_ended:
            self._read_more()
        end = _next_object(self._text, self._place, self._place + _LONGEST_BROKEN)
        if end is None:
            return self._rest(reason)
        self._start = self._place
        self._move(end)
        return BrokenElement(reason, _readable(self.text))

    def _rest(self, reason: str) -> BrokenElement:
        """Pass all that is left."""
        while len(self._text) - self._place < _LONGEST_TEXT and not self._is_ended:
            self._read_more()
        text = _readable(self._text[self._place : self._place + _LONGEST_TEXT])
        self._text, self._place, self._start = "", 0, 0
        self._is_ended = self._is_passed = True
        return BrokenElement(reason, text)

    def _next(self) -> str:
        """Pass blanks; the character behind them, empty at the end."""
        while True:
            blanks = _BLANKS.match(self._text, self._place)
            self._move(blanks.end() if blanks else self._place)
            if self._place < len(self._text) or self._is_ended:
                return self._text[self._place : self._place + 1]
            self._read_more()

    def _move(self, to: int) -> None:
        self._place_line += self._text.count("\n", self._place, to)
        self._place = to

    def _read_more(self) -> None:
        left = self._text[self._place :]
        data = self._stream.read(max(_READ_BYTES, len(left)))
        more = self._decode(data, not data)
        self._is_utf_8 = self._is_utf_8 and _NO_UTF_8.search(more) is None
        self._text, self._place, self._start = left + more, 0, 0
        self._is_ended = not data


def _next_object(text: str, start: int, stop: int) -> int | None:
    """The comma behind which the element after a broken one begins, if it can be recognised."""
    bracket = text.find("[", start, stop)
    boundary = _BOUNDARY.search(text, start, stop if bracket < 0 else bracket)
    if boundary is not None:
        return boundary.start()
    depth = 0
    for token in _TOKEN.finditer(text, start, stop):
        match token.lastgroup:
            case "open":
                depth += 1
            case "close":
                depth -= 1
            case "comma" if not depth:
                return token.start()
            case "quote":
                return None
        if depth < 0:
            return None
    return None


def _readable(text: str) -> str:
    """A text with a mark for each byte that is not UTF-8."""
    return text.strip().encode("utf-8", "surrogateescape").decode(errors="replace")
