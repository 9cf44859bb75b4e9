r"""Other forms of string literals, written over as plain ones before a statement is read.

PostgreSQL's `E'a\nb'` has escapes, and its `$$it's$$` and `$tag$it's$tag$` have none. With the
setting `double_quoted_strings` also `"text"` is a string, as in Impala and MySQL, and names are
quoted by backticks alone. What is written over keeps its length, with blanks behind it, so that
places in the statement stay true; only a quote inside of a string in double quotes, and several of
one in dollars, make it longer.
"""

import re

from pykudu_sql.planner.parse.lexer import quote_string
from pykudu_sql.planner.parse.written_literals import WrittenLiteral, WrittenLiterals
from pykudu_sql.storage.errors import SourceSpan, SyntaxError

_PARTS = re.compile(
    r"""
      --[^\n]* | /\*.*?\*/
    | (?<![\w$])[eE]'(?P<escaped>(?:[^'\\]|\\.|'')*)'
    | '[^']*(?:''[^']*)*'
    | "(?P<double>[^"]*(?:""[^"]*)*)"
    | `[^`]*(?:``[^`]*)*`
    | (?<![\w$])\$(?P<tag>(?:[^\W\d]\w*)?)\$(?:(?P<dollars>.*?)\$(?P=tag)\$)?
    """,
    re.VERBOSE | re.DOTALL,
)
_MAY_CHANGE = re.compile(r"[eE]'|\$")
_ESCAPE = re.compile(
    r"''|\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))",
    re.DOTALL,
)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SURROGATES = range(0xD800, 0xE000)
_MAX_CODE = 0x10FFFF


def with_plain_strings(text: str, *, double_quoted: bool) -> tuple[str, WrittenLiterals]:
    """A statement whose strings are all in single quotes, without escapes; and what these were.

    `double_quoted`: whether what is in double quotes is a string. Raises SyntaxError: an escape is
    no character.
    """
    literals: dict[int, WrittenLiteral] = {}
    if not (double_quoted and '"' in text) and not _MAY_CHANGE.search(text):
        return text, literals
    longer = 0

    def plain(match: re.Match[str]) -> str:
        escaped, double, dollars = match["escaped"], match["double"], match["dollars"]
        if escaped is not None:
            written = quote_string(_unescaped(escaped, match.start("escaped")))
        elif double is not None and double_quoted:
            written = quote_string(double.replace('""', '"'))
        elif dollars is not None:
            written = quote_string(dollars)
        elif match["tag"] is not None:
            raise SyntaxError(
                "this string has no end",
                hint=f"it ends with {match[0]:.40}",
                span=SourceSpan(match.start(), len(match[0])),
            )
        else:
            return match[0]
        nonlocal longer
        replaced = written.ljust(len(match[0]))
        literals[match.start() + longer] = WrittenLiteral(replaced, match[0])
        longer += len(replaced) - len(match[0])
        return replaced

    return _PARTS.sub(plain, text), literals


def _unescaped(text: str, start: int) -> str:
    """What an escaped string means; `start`: of its text in the statement."""

    def character(match: re.Match[str]) -> str:
        two, four, eight, octal, letter = match.groups()
        if two or four or eight or octal:
            code = int(octal, 8) if octal else int(two or four or eight, 16)
            if code in _SURROGATES or not 0 < code <= _MAX_CODE:
                span = SourceSpan(start + match.start(), len(match[0]))
                raise SyntaxError(f"{match[0]} is no character", span=span)
            return chr(code)
        return "'" if letter is None else _LETTERS.get(letter, letter)

    return _ESCAPE.sub(character, text)
