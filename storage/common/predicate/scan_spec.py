"""The specification of a scan: columns, predicate, limit (Kudu's `common/scan_spec.h`)."""

from enum import StrEnum

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.predicate.column_predicate import Predicate


class ScanOrder(StrEnum):
    """In which order rows come."""

    NONE = "none"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class ScanSpec:
    """Which columns and which rows a scan should yield.

    A scan yields every row that matches the predicate, and may yield others: where nearly all rows
    match, the rest is not worth dropping, so whoever scans applies it again. With a limit, at least
    that many matching rows come, or all; with an order as well, the first ones of it.

    Attributes:
        column_ids: the columns wanted, in order.
        predicate: which rows matter; all when None.
        limit: how many rows are enough; None for all.
        order: in which rows come.
        addressed: whether there is one more column, the last: where each row is; see
            `RowOperations.addresses`.
        validity_ids: columns of which only is wanted where they are NULL. Their cells come as
            BOOLEAN, any value in place of one that is not NULL.
    """

    column_ids: tuple[int, ...]
    predicate: Predicate | None = None
    limit: int | None = None
    order: ScanOrder = ScanOrder.NONE
    addressed: bool = False
    validity_ids: frozenset[int] = frozenset()


class SummaryKind(StrEnum):
    """An aggregate over a table or one of its columns."""

    COUNT = "COUNT"
    MIN = "MIN"
    MAX = "MAX"


@dataclass(frozen=True, slots=True)
class Summary:
    """One fact about all rows of a table.

    `kind`: of fact; `column_id`: whose cells MIN and MAX look at; None for COUNT.
    """

    kind: SummaryKind
    column_id: int | None = None
