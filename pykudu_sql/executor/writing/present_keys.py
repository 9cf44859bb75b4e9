"""The way out of a key that is there already, for whoever writes rows without a statement.

The storage names UPSERT and INSERT OR IGNORE (23505), which neither COPY nor `append` can become.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from pykudu_sql.storage.errors import AlreadyPresentError

IN_COPY = (
    "pykudu-sql load --operation upsert overwrites; SET row_errors = 'collect' leaves such rows "
    "out and reports them"
)
IN_APPEND = "append(.., operation='upsert') overwrites, operation='insert_ignore' skips"


@contextmanager
def way_out(hint: str) -> Iterator[None]:
    """Give errors of keys that are there, or are given twice, another hint."""
    try:
        yield
    except AlreadyPresentError as error:
        error.hint = hint
        raise
