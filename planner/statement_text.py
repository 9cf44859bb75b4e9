"""A statement's text without its values: what statistics and logs know it by.

Literals become `?`, as parameters are, lists of them `?, ..`; comments and spaces one space. So
texts that differ in values only are one, and no value is shown. This is done by one regular
expression, not by the lexer: a text of megabytes is cut, and half a statement has no tokens.
"""

import re
from typing import Final

MOST_CHARACTERS: Final = 4096
_VALUE: Final = re.compile(
    r"""
    (?=['eExXbB\d.?:$]) (?: (?:\b[eExXbB])?'(?:[^']|'')*(?:'|$)
  | (?<![\w$."]) (?: 0[xX][0-9a-fA-F_]+ | (?:\d[\d_]*\.?\d* | \.\d+)(?:[eE][+-]?\d+)? ) \b
  | \?\d* | (?<![:\w]):[A-Za-z_]\w* | \$\w+)
    """,
    re.VERBOSE,
)
_PIECE: Final = re.compile(
    rf"""
    (?P<space> (?: \s | --[^\n]*(?:\n|$) | /\*.*?(?:\*/|$) )+ )
  | (?P<value> {_VALUE.pattern} )
  | (?P<name> "(?:[^"]|"")*(?:"|$) | `[^`]*(?:`|$) )
    """,
    re.VERBOSE | re.DOTALL,
)
# Where a text has none of these, its spaces and names stay as they are.
_NOT_PLAIN: Final = re.compile(r"""[^\S ]|\s\s|--|/\*|["`]""")
_LIST: Final = re.compile(r"\?(?:\s?,\s?\?)+")
_ROWS: Final = re.compile(r"(\(\s?\?(?:, \.\.)?\s?\))(?:\s?,\s?\(\s?\?(?:, \.\.)?\s?\))+")


def normalised(text: str, *, double_quoted_strings: bool) -> str:
    """The text without values. `double_quoted_strings`: whether `"x"` is one."""

    def put(piece: re.Match[str]) -> str:
        if piece["space"]:
            return " "
        is_value = piece["name"] is None or (double_quoted_strings and piece["name"][0] == '"')
        return "?" if is_value else piece[0]

    short = text[:MOST_CHARACTERS]
    replaced = _PIECE.sub(put, short) if _NOT_PLAIN.search(short) else _VALUE.sub("?", short)
    short = replaced.strip(" ;")
    return _ROWS.sub(r"\1, ..", _LIST.sub("?, ..", short))
