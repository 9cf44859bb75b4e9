"""Statements of few rows that are written as those of many are."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

from pykudu_sql.executor.writing import chunked_rows
from pykudu_sql.storage.transaction import bulk_operations
from tests.storage.small_bulks import bulk_inserts_from


@contextmanager
def pieces_of_few_rows() -> Iterator[None]:
    """A block in which some rows are a bulk, and a statement of some hundred bytes has chunks."""
    with ExitStack() as stack:
        stack.enter_context(bulk_inserts_from(20))
        for module, name, value in (
            (chunked_rows, "CHUNK_BYTES", 400),
            (chunked_rows, "CHANGE_BYTES", 400),
            (bulk_operations, "LEAST_ROWS", 4),
        ):
            stack.enter_context(mock.patch.object(module, name, value))
        yield
