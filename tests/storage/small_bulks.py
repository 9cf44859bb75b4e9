"""Bulk inserts of few rows: the road past the log, without the time that many rows take."""

import contextlib
from collections.abc import Iterator
from unittest import mock

from pykudu_sql.storage.transaction import batch_writer


@contextlib.contextmanager
def bulk_inserts_from(rows: int) -> Iterator[None]:
    """A block in which an INSERT of so many rows is a bulk insert."""
    with mock.patch.object(batch_writer, "BULK_ROWS", rows):
        yield
