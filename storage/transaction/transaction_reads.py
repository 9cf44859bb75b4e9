"""What a transaction reads: its snapshot, earlier moments, and its own writes on top of the first.

A scan or a look-up without a bound sees the snapshot with what the transaction has written so far;
one with a bound sees what was committed below it, whose history is kept until the transaction ends.
"""

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.snapshots import Hold
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec, Summary
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.scan.cache_use import fits_cache
from pykudu_sql.storage.scan.rowset_read import RowSetRead
from pykudu_sql.storage.scan.table_scan import MOST_DECODED, TableScan
from pykudu_sql.storage.scan.table_summary import summarize
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.transaction.addressed_rows import AddressedRows, WrittenRowSet
from pykudu_sql.storage.transaction.row_reader import lookup_row, tablet_with_key
from pykudu_sql.storage.transaction.transaction_services import TransactionServices
from pykudu_sql.storage.transaction.write_set import WriteSet


class TransactionReads:
    """The reading half of a transaction. `bound`: of its snapshot."""

    def __init__(self, services: TransactionServices, snapshot: Hold) -> None:
        """Read at a snapshot, nothing written yet."""
        self.bound = snapshot.bound
        self._services = services
        self._snapshot = snapshot
        self._catalog: Catalog | None = None
        self._past: dict[tuple[str, int], Hold] = {}
        self._writes = WriteSet(snapshot.bound)
        self._addressed: AddressedRows | None = None

    @property
    def catalog(self) -> Catalog:
        """The tables of the snapshot, the same object each time; without those that it makes."""
        if self._catalog is None:
            self._catalog = self._services.history.catalog_at(self.bound)
        return self._catalog

    def catalog_at(self, bound: SnapshotBound) -> Catalog:
        """The tables that a snapshot of a bound sees, which `scan` can read at that bound."""
        return self._services.history.catalog_at(bound)

    def wait_until_readable(self, bound: SnapshotBound) -> None:
        """Make a bound in the past readable, before it is read; see `Committer`.

        Raises SnapshotInFutureError: the moment has not come yet.
        """
        self._services.committer.timestamps.wait_until_readable(bound)

    def table_scan(
        self,
        table: TableInfo,
        spec: ScanSpec,
        bound: SnapshotBound | None = None,
        stats: ScanStats | None = None,
    ) -> pa.Table:
        """The rows of a table that match, and perhaps some that do not; see `ScanSpec`.

        Args:
            spec: which columns, and what they are wanted for.
            bound: of another snapshot, for AS OF; None reads the transaction's own, with its
                own writes.
            stats: counts what is read and what is not.

        Raises HistoryPurgedError: history does not reach back to `bound`.
        """
        return self.scan(table, spec, bound, stats).to_table()

    def summarize(
        self, table: TableInfo, summaries: Sequence[Summary], bound: SnapshotBound | None = None
    ) -> tuple[Cell, ...] | None:
        """Facts about all rows of a table, without reading them.

        `summaries`: which facts; `bound`: as for `table_scan`. Returns the facts in order, None
        when metadata do not have them all exactly.
        """
        return summarize(self._scan(table, ScanSpec(()), bound, None), summaries)

    def scan(
        self,
        table: TableInfo,
        spec: ScanSpec,
        bound: SnapshotBound | None = None,
        stats: ScanStats | None = None,
    ) -> TableScan:
        """A scan, ready to be carried out; see `table_scan`.

        One that gives addresses reads the transaction's own snapshot; `write` takes those of the
        latest.
        """
        services = self._services
        scan = self._scan(table, spec, bound, stats)
        return replace(
            scan,
            cache_blocks=fits_cache(scan, services.cache_bytes),
            piece_bytes=services.budget.piece(MOST_DECODED),
        )

    def rows_to_scan(
        self, table: TableInfo, spec: ScanSpec, bound: SnapshotBound | None = None
    ) -> int:
        """Rows of the rowsets that a scan reads; see `TableScan.row_count`.

        `bound`: as for `table_scan`. Raises HistoryPurgedError: history does not reach back to it.
        """
        return self._scan(table, spec, bound, None).row_count

    def _scan(
        self,
        table: TableInfo,
        spec: ScanSpec,
        bound: SnapshotBound | None,
        stats: ScanStats | None,
    ) -> TableScan:
        """A scan that nothing is known of but what it reads."""
        snapshot = self._snapshot if bound is None else self._hold_of(table, bound)
        remaining = table.pruner.prune(spec.predicate)
        tablets = [self._services.tablets[table.tablets[index].id] for index in remaining]
        placed: list[tuple[int, WrittenRowSet]]
        if spec.addressed:
            self._addressed = AddressedRows(table, self._writes, tablets)
            placed = [(0, each) for each in self._addressed.rowsets()]
        else:
            placed = [
                (place, each)
                for place, tablet in enumerate(tablets)
                for each in self._rowsets(tablet, bound)
            ]
        reads = [
            RowSetRead(rowset, own, rows, index, tablet=place)
            for index, (place, (rowset, own)) in enumerate(placed)
            if (rows := rowset.row_count(snapshot.bound))
        ]
        if stats is not None:
            stats.tablets += len(table.tablets)
            stats.rowsets += len(reads)
        return TableScan(table.schema, spec, snapshot, reads, self._services.pool, stats)

    def _rowsets(self, tablet: Tablet, bound: SnapshotBound | None) -> Sequence[WrittenRowSet]:
        """The rowsets of a tablet; those of the transaction itself only without a bound."""
        pending = self._writes.by_tablet.get(tablet.id) if bound is None else None
        if pending is None:
            return [(rowset, None) for rowset in tablet.components.rowsets]
        return [(rowset, pending.own.get(rowset.id)) for rowset in pending.rowsets]

    def lookup(
        self,
        table: TableInfo,
        key: tuple[Cell, ...],
        column_ids: Sequence[int],
        bound: SnapshotBound | None = None,
    ) -> tuple[Cell, ...] | None:
        """One row's cells by its key, or None.

        `key`: cells in key order; `bound`: as for `table_scan`. Raises HistoryPurgedError: history
        does not reach back to `bound`.
        """
        if bound is not None:
            self._hold_of(table, bound)
        columns = table.schema.select(tuple(column_ids))
        tablets = self._services.tablets
        if bound is not None or not self._writes.by_tablet:
            return lookup_row(tablets, table, key, columns, self.bound if bound is None else bound)
        located = tablet_with_key(tablets, table, key)
        if located is None:
            return None
        tablet, probe = located
        pending = self._writes.by_tablet.get(tablet.id)
        if pending is None:
            return tablet.read_row(probe, columns, self.bound)
        return pending.read_row(probe, columns)

    def _hold_of(self, table: TableInfo, bound: SnapshotBound) -> Hold:
        """A claim on a bound in the past at which a table is read, until the transaction ends."""
        hold = self._past.get((table.id, bound))
        if hold is None:
            hold = self._past[table.id, bound] = self._services.history.hold((table,), bound)
        return hold
