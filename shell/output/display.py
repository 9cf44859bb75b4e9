"""Text on a terminal: what may be shown raw, how wide it is, how it is cut.

Data can hold bytes that a terminal obeys: escape sequences that move the cursor or set the
clipboard, marks that reverse text, characters nobody sees. Whatever is shown passes through
`escape`, which spells such characters out and leaves letters of every script alone.
"""

import unicodedata

# Letters by Unicode category that every font draws as nothing.
_INVISIBLE_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
ELLIPSIS = "…"


def escape(text: str, keep: str = "") -> str:
    """Text with everything a terminal might obey or hide spelled out.

    Control characters, bidirectional and other format characters, line and paragraph separators,
    lone surrogates, private and unassigned code points become `\\n`, `\\x1b`, `\\u202e` and so on.
    `text`: anything; `keep`: control characters to let through, such as a newline.
    """
    if text.isprintable() and (text.isascii() or not _INVISIBLE_LETTERS.intersection(text)):
        return text
    return "".join(c if c in keep or _is_harmless(c) else _spell_out(c) for c in text)


def _is_harmless(char: str) -> bool:
    if char in _INVISIBLE_LETTERS:
        return False
    return char.isprintable() or unicodedata.category(char) == "Zs"


def _spell_out(char: str) -> str:
    code = ord(char)
    if char in _NAMED:
        return _NAMED[char]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def width(text: str) -> int:
    """Columns of a terminal that a text without control characters takes.

    East Asian wide and full-width characters count two, combining marks none (Unicode annex 11).
    """
    if text.isascii():
        return len(text)
    return sum(map(_char_width, text))


def _char_width(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def elide(text: str, limit: int) -> str:
    """Text cut in the middle to at most `limit` columns, an ellipsis for what is left out."""
    if width(text) <= limit:
        return text
    room = max(0, limit - 1)
    head = take(text, (room + 1) // 2)
    tail = take(text[::-1], room // 2)[::-1]
    # A tail that starts with a combining mark would put it on the ellipsis.
    while tail and _char_width(tail[0]) == 0:
        tail = tail[1:]
    return head + ELLIPSIS + tail


def take(text: str, limit: int) -> str:
    """The beginning of a text that takes at most `limit` columns."""
    used = 0
    for position, char in enumerate(text):
        used += _char_width(char)
        if used > limit:
            return text[:position]
    return text


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """Text filled with blanks to a width, on its left when it belongs to the right."""
    blanks = " " * (columns - width(text))
    return blanks + text if right else text + blanks
