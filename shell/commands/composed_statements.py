"""Errors of statements that a command composes: what they show is what the user typed.

A message without its place is still true; one that points into words which nobody typed is not.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pykudu_sql
from pykudu_sql.shell.editing.tokens import tokenize
from pykudu_sql.shell.settings import UsageError


@contextmanager
def unplaced() -> Iterator[None]:
    """Errors without their places, which are in a statement that the user did not write."""
    try:
        yield
    except pykudu_sql.Error as error:
        error.position = None
        raise


@contextmanager
def placed_in(query: str) -> Iterator[None]:
    """Errors with their places in the query, whose first line is the second of the statement.

    Raises UsageError: the query has a closing parenthesis too many; pykudu_sql.Error: as it was
    raised inside, but an error of what closes the query is one of the query's end.
    """
    depth = 0
    for token in tokenize(query):
        depth += (token.text == "(") - (token.text == ")")
        if depth < 0:
            raise UsageError("no '(' opens the ')' in the query")
    try:
        yield
    except pykudu_sql.Error as error:
        place, lines = error.position, query.split("\n")
        if place is None:
            raise
        if 1 < place.line <= len(lines) + 1:
            error.position = replace(place, line=place.line - 1)
        else:
            error.position = None
            if error.message.startswith("syntax error"):
                error.message = "syntax error at the end of the query"
        raise
