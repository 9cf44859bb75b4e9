"""Scripts into statements: where one ends, and whether the last one is finished.

Semicolons inside strings, quoted names and comments do not count. Nothing here judges the SQL:
unfinished or nonsensical statements come out as they are and fail when they are planned.
"""

import re
from collections.abc import Iterator

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.parse.lexer import TOKEN_PATTERN, TokenKind
from pykudu_sql.storage.errors import InterfaceError


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a script.

    Attributes:
        text: without the semicolon and without blanks or comments before and behind it.
        offset: where it starts in the script, in characters.
        line: its first line in the script, from 1.
    """

    text: str
    offset: int
    line: int


def split_statements(sql: str) -> list[Statement]:
    """The statements of a script, empty ones left out.

    Whatever follows an unclosed quote or comment belongs to the last statement. Raises
    InterfaceError: the argument is no text.
    """
    statements = []
    first = last = -1
    for match in _tokens(sql):
        kind = match.lastindex
        if kind == TokenKind.SPACE:
            continue
        if kind == TokenKind.SYMBOL and match.group() == ";":
            if first >= 0:
                statements.append(_statement(sql, first, last))
            first = -1
            continue
        first = match.start() if first < 0 else first
        last = match.end()
        if kind == TokenKind.UNCLOSED:
            last = len(sql)
            break
    if first >= 0:
        statements.append(_statement(sql, first, last))
    return statements


def is_complete(sql: str) -> bool:
    """Whether every statement of a text is closed by a semicolon; blank text is complete.

    Raises InterfaceError: the argument is no text.
    """
    open_statement = False
    for match in _tokens(sql):
        kind = match.lastindex
        if kind == TokenKind.UNCLOSED:
            return False
        if kind != TokenKind.SPACE:
            open_statement = kind != TokenKind.SYMBOL or match.group() != ";"
    return not open_statement


def _tokens(sql: str) -> Iterator[re.Match[str]]:
    if not isinstance(sql, str):
        raise InterfaceError(f"SQL is text, not {type(sql).__name__}", sqlstate="07006")
    return TOKEN_PATTERN.finditer(sql)


def _statement(sql: str, first: int, last: int) -> Statement:
    return Statement(sql[first:last], first, sql.count("\n", 0, first) + 1)
