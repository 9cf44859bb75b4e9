"""Statements that list what a database or a table has: a pure function of tokens.

Their results are shown with all rows: a row left out would be a column that nobody learns of. The
rows of SHOW ROW ERRORS are data, as many as a file has, and have the limit of results.
"""

from pykudu_sql.shell.editing.tokens import Kind, tokenize, words

_LISTINGS = words("DESC DESCRIBE SHOW SUMMARIZE PRAGMA")
_ROWS = ["SHOW", "ROW", "ERRORS"]


def is_listing(sql: str) -> bool:
    """Whether a statement lists columns, tables, functions, settings or the like."""
    typed: list[str] = []
    for token in tokenize(sql):
        if token.kind in (Kind.SPACE, Kind.COMMENT):
            continue
        typed.append(token.word)
        if typed[0] not in _LISTINGS or len(typed) == len(_ROWS):
            break
    return typed[:1] != [] and typed[0] in _LISTINGS and typed != _ROWS
