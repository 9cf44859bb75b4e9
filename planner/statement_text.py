"""A statement's text without its values: what statistics and logs know it by.

Literals become `?`, as parameters are, lists of them `?, ..`; comments and spaces one space. So
texts that differ in values only are one, and no value is shown. This is done by one regular
expression, not by the lexer: a text of megabytes is cut, and half a statement has no tokens.
"""

import re
from functools import lru_cache
from typing import Final

MOST_CHARACTERS: Final = 4096
_MOST_SHORT_ROWS: Final = 4
_VALUE: Final = re.compile(
    r"""
    (?=['eExXbB\d.?:$]) (?: (?:\b[eExXbB])?'(?:[^']|'')*(?:'|$)
  | (?<![\w$."]) (?: 0[xX][0-9a-fA-F_]+ | (?:\d[\d_]*\.?\d* | \.\d+)(?:[eE][+-]?\d+)? ) (?!\w)
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
# Where a text has one of these, what looks like a value may be part of a name or comment.
_QUOTES: Final = ('"', "`", "--", "/*")
_CELL: Final = r"\s*(?:'[^']*'|[\d.]+|\?)\s*"
_PLAIN_ROW: Final = rf"\s*,\s*\({_CELL}(?:,{_CELL})*\)"
_MORE_ROWS: Final = re.compile(rf"(?<=\))(?:{_PLAIN_ROW}){{2}}(?P<rest>(?:{_PLAIN_ROW})+)")
_LIST: Final = re.compile(r"\?(?:\s?,\s?\?)+")
_ROWS: Final = re.compile(r"(\(\s?\?(?:, \.\.)?\s?\))(?:\s?,\s?\(\s?\?(?:, \.\.)?\s?\))+")
# The statement that comes with other values each time, by the thousand: an INSERT of plain ones.
_PLAIN_VALUE: Final = r"(?:\d++(?:\.\d++)?+|'[^']*+'|\?)"
_COMMA: Final = r"\s*+,\s*+"
_PLAIN_VALUES: Final = rf"\({_PLAIN_VALUE}(?:{_COMMA}{_PLAIN_VALUE})*+\)"
_INSERT: Final = re.compile(
    rf"(?P<head>[^'\"`?/-]*?\bVALUES)(?P<gap>\s?)"
    rf"\({_PLAIN_VALUE}(?P<more>(?:{_COMMA}{_PLAIN_VALUE})++)?\)"
    rf"(?P<rows>(?:{_COMMA}{_PLAIN_VALUES})++)?[\s;]*",
    re.IGNORECASE,
)


def normalised(text: str, *, double_quoted_strings: bool) -> str:
    """The text without values. `double_quoted_strings`: whether `"x"` is one."""
    insert = _INSERT.fullmatch(text) if len(text) <= MOST_CHARACTERS else None
    if insert is None:
        return _of_any(text, double_quoted_strings=double_quoted_strings)
    head, gap, more, rows = insert.groups()
    values = "(?)" if more is None else "(?, ..)"
    return f"{_of_head(head)}{gap and ' '}{values}{'' if rows is None else ', ..'}"


@lru_cache(maxsize=256)
def _of_head(head: str) -> str:
    """The part of an INSERT before its values, without quotes."""
    return _of_any(head, double_quoted_strings=False)


def _of_any(text: str, *, double_quoted_strings: bool) -> str:
    def replacement(piece: re.Match[str]) -> str:
        if piece["space"]:
            return " "
        is_value = piece["name"] is None or (double_quoted_strings and piece["name"][0] == '"')
        return "?" if is_value else piece[0]

    short = text[:MOST_CHARACTERS].strip(" ;")
    is_quoted = any(quote in short for quote in _QUOTES)
    if not is_quoted and short.count("(") > _MOST_SHORT_ROWS:
        short = _with_few_rows(short)
    if is_quoted or short != " ".join(short.split()):
        short = _PIECE.sub(replacement, short).strip(" ;")
    else:
        short = _VALUE.sub("?", short)
    if short.count("?") > 1:
        short = _LIST.sub("?, ..", short)
    return _ROWS.sub(r"\1, ..", short) if short.count("(") > 1 else short


def _with_few_rows(text: str) -> str:
    """A text without rows that would become `, ..` as those before them do: they may be many."""
    match = _MORE_ROWS.search(text)
    if match is None or text.count("'", 0, match.start()) % 2:
        return text  # the second: what looks like rows stands in a string
    return text[: match.start("rest")] + text[match.end("rest") :]
