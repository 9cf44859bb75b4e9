"""Queries by the engine, whatever else could answer them."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from pykudu_sql.executor.reading import queries


@contextmanager
def engine_only() -> Iterator[None]:
    """A block in which the engine makes the rows of each query."""
    with (
        patch.object(queries, "counted_rows", return_value=None),
        patch.object(queries, "narrowed_queries", return_value=()),
        patch.object(queries, "scanned_rows", return_value=None),
        patch.object(queries, "selected_rows", return_value=None),
    ):
        yield
