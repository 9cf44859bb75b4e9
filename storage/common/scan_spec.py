"""What a scan is asked for (Kudu's `common/scan_spec.h`)."""

from dataclasses import dataclass

from pykudu_sql.storage.common.column_predicate import Predicate


@dataclass(frozen=True, slots=True)
class ScanSpec:
    """Which columns and which rows a scan should yield.

    A scan yields every row that matches the predicate, and may yield others: the predicate prunes,
    and whoever scans applies it again. With a limit, at least that many matching rows come, or all.

    Attributes:
        column_ids: the columns wanted, in order.
        predicate: which rows matter; all when None.
        limit: how many rows are enough; None for all.
    """

    column_ids: tuple[int, ...]
    predicate: Predicate | None = None
    limit: int | None = None
