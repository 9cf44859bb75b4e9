"""What transactions need of the store around them."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass

from pykudu_sql.storage.catalog import TableInfo
from pykudu_sql.storage.committer import Committer
from pykudu_sql.storage.errors import SerializationError
from pykudu_sql.storage.tablet.tablet import Tablet


@dataclass(frozen=True, slots=True)
class TransactionHost:
    """What a transaction needs of its store.

    Attributes:
        tablets: by UUID.
        committer: commits.
        pool: threads for scans and large inserts.
        table_now: a table's newest state by id, None once it is dropped.
        auto_ids: reserves n values of a table's hidden counter and returns the first.
    """

    tablets: Mapping[str, Tablet]
    committer: Committer
    pool: Executor
    table_now: Callable[[str], TableInfo | None]
    auto_ids: Callable[[TableInfo, int], int]


def check_unchanged(host: TransactionHost, table: TableInfo) -> None:
    """See that a table is still as it was when rows for it were made.

    Raises:
        SerializationError: it was altered or dropped since.
    """
    now = host.table_now(table.id)
    if now is table:
        return
    if now is None or now.schema != table.schema or now.tablets != table.tablets:
        raise SerializationError(
            f"table '{table.name}' was changed by another session meanwhile",
            hint="run the transaction again",
        )
