"""Where the name stands that an error of a definition is about.

Whether a name is free, or a snapshot or a dropped table has it, shows when the statement runs. The
first name in quotes of the message is looked for in the statement, as it may be written there.
"""

import re

from pykudu_sql.planner.parse.lexer import Token, TokenKind, tokenize
from pykudu_sql.storage.errors import Error, SourceSpan

# Missing and duplicate databases, tables, settings, snapshots and other objects.
NAME_STATES = frozenset({"3D000", "3F000", "42P01", "42P04", "42P06", "42P07", "42704", "42710"})
_VERBS = frozenset({"CREATE", "DROP", "UNDROP", "ALTER", "SET", "RESET", "SHOW", "USE"})
_QUOTED = re.compile(r"'((?:[^']|'')+)'")
_NAMES = (TokenKind.WORD, TokenKind.QUOTED)


def span_of_name(message: str, statement: str) -> SourceSpan | None:
    """The span of the name that a message quotes first; None where the statement has none such."""
    quoted = _QUOTED.search(message)
    if quoted is None:
        return None
    own_name = quoted[1].lower().rpartition(".")[2]
    try:
        tokens = list(tokenize(statement))
    except Error:
        return None
    if tokens[0].word not in _VERBS:
        return None
    return next(
        (_whole(tokens, i) for i in range(1, len(tokens)) if _is(tokens[i], own_name)), None
    )


def _is(token: Token, name: str) -> bool:
    return token.kind in _NAMES and token.name == name


def _whole(tokens: list[Token], last: int) -> SourceSpan:
    """The span of a name, with the database before it."""
    first = last
    if last > 1 and tokens[last - 1].text == "." and tokens[last - 2].kind in _NAMES:
        first = last - 2
    return SourceSpan(tokens[first].start, tokens[last].end - tokens[first].start)
