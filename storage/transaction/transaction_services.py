"""The services of the store that transactions use."""

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from itertools import repeat
from typing import TYPE_CHECKING

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.cancellation import CancelCheck, never_cancelled
from pykudu_sql.storage.common.thread_pool import ThreadPool
from pykudu_sql.storage.errors import TableChangedError

if TYPE_CHECKING:
    from pykudu_sql.storage.catalog.table_info import TableInfo
    from pykudu_sql.storage.commit.committer import Committer
    from pykudu_sql.storage.commit.definitions import Definitions
    from pykudu_sql.storage.commit.history import History
    from pykudu_sql.storage.commit.new_table import NewTable
    from pykudu_sql.storage.common.memory_budget import MemoryBudget
    from pykudu_sql.storage.common.types.schema import ColumnSchema
    from pykudu_sql.storage.ingest.auto_increment import AutoIncrement
    from pykudu_sql.storage.ingest.row_shape import RowShapes
    from pykudu_sql.storage.tablet.tablet import Tablet


@dataclass(frozen=True, slots=True)
class TransactionServices:
    """What a transaction needs of its store.

    Attributes:
        tablets: by UUID.
        committer: commits.
        definitions: makes tables.
        pool: threads for scans and large inserts.
        table_now: a table's newest state by id, None once it is dropped.
        auto_increment: the tables' hidden counters.
        history: how far back tables can be read.
        cache_bytes: what the block cache holds.
        budget: of the memory of the process.
        relieve: flushes until changes in memory keep to their share.
        row_shapes: of operations on single rows; see `row_shape`.
        cancel_check: called between the steps of large writes.
    """

    tablets: Mapping[str, "Tablet"]
    committer: "Committer"
    definitions: "Definitions"
    pool: ThreadPool
    table_now: Callable[[str], "TableInfo | None"]
    auto_increment: "AutoIncrement"
    history: "History"
    cache_bytes: int
    budget: "MemoryBudget"
    relieve: Callable[[CancelCheck], None]
    row_shapes: "RowShapes" = field(default_factory=dict)
    cancel_check: CancelCheck = never_cancelled


def with_new_table(services: TransactionServices, new: "NewTable") -> TransactionServices:
    """The services as a transaction needs them that makes a table."""

    def table_now(table_id: str) -> "TableInfo | None":
        return new.info if table_id == new.info.id else services.table_now(table_id)

    tablets = ChainMap(dict(new.tablets), services.tablets)  # type: ignore[arg-type]
    return replace(services, tablets=tablets, table_now=table_now)


def check_rows_still_fit(services: TransactionServices, table: "TableInfo") -> None:
    """See that rows made for a table as it was still fit the table as it is.

    They do after most steps of ALTER TABLE: rows name columns by id, an added column shows its read
    default in rows that lack it, cells of a dropped one are never read, and those of one that got a
    wider type are read in it. Raises
    TableChangedError: it was dropped, or one of its tablets was, or a column turned immutable or
    back, or NOT NULL, or it has a CHECK constraint that it did not have.
    """
    now = services.table_now(table.id)
    if now is not None and (now is table or _takes_rows_of(now, table)):
        return
    change = "dropped or replaced" if now is None else "changed"
    raise TableChangedError(
        f"table '{table.name}' was {change} by another session meanwhile",
        hint="run the transaction again",
    )


def _takes_rows_of(now: "TableInfo", before: "TableInfo") -> bool:
    """Whether a table takes rows that were made for an earlier state of it."""
    if now.tablets != before.tablets and not set(before.tablets) <= set(now.tablets):
        return False
    if not {c.condition for c in now.checks} <= {c.condition for c in before.checks}:
        return False
    return all(map(_still_takes, before.schema.columns, repeat(now.schema.by_id)))


def _still_takes(column: "ColumnSchema", current: Mapping[int, "ColumnSchema"]) -> bool:
    """Whether cells that fitted a column as it was fit it as it is, if it is there."""
    now = current.get(column.id, column)
    return now.immutable == column.immutable and (now.nullable or not column.nullable)
