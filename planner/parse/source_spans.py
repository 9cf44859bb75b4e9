"""Where nodes stand in their statement, for those who do not have its text.

Errors are raised with the span of a node; whoever has the statement makes a place of it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlglot import exp

from pykudu_sql.planner.parse.lexer import source_position
from pykudu_sql.storage.errors import Error, SourceSpan


def node_span(node: exp.Expr) -> SourceSpan | None:
    """Where a node stands in its statement, None if the parser kept no place."""
    for candidate in (node, node.this if isinstance(node.this, exp.Expr) else None):
        if candidate is not None and "start" in candidate.meta:
            start, end = candidate.meta["start"], candidate.meta["end"]
            return SourceSpan(start, end - start + 1)
    return None


@contextmanager
def errors_located(text: str) -> Iterator[None]:
    """Errors of what is done inside show the place in the statement that their span means.

    Args:
        text: the statement.

    Raises:
        Error: as it was raised inside.
    """
    try:
        yield
    except Error as error:
        if error.span is not None and text:
            error.position = source_position(text, error.span.start, error.span.length)
        error.span = None
        raise
