"""MySQL's `PREPARE s FROM 'SELECT ..'`, written as PostgreSQL's `PREPARE s AS SELECT ..`.

Errors show the place in the statement as it is then.
"""

import re

from pykudu_sql.planner.parse.lexer import TokenKind, unquote
from pykudu_sql.planner.parse.token_stream import TokenStream

_MAY_HAVE_STRING = re.compile(r"\s*+PREPARE\s+[^\s']+\s+FROM\s*'", re.IGNORECASE)


def with_prepared_text(text: str) -> str:
    """A statement in which what is prepared stands as itself and not as a string.

    `text`: without comments.
    """
    if _MAY_HAVE_STRING.match(text) is None:
        return text
    tokens = TokenStream(text)
    if not tokens.accept("PREPARE"):
        return text
    tokens.take()
    start = tokens.current.start
    if not tokens.accept("FROM") or tokens.current.kind is not TokenKind.STRING:
        return text
    string = tokens.take()
    tokens.expect_end()
    return f"{text[:start]}AS {unquote(string.text)}"
