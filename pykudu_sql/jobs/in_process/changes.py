"""What commits did to the rows of a table between two moments, as batches."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.jobs.in_process.reading import opened_to_read
from pykudu_sql.jobs.options import ChangesOptions
from pykudu_sql.spark.options import distinct_names
from pykudu_sql.spark.reading.read_timestamps import ReadTimestamps
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.rows.history_columns import CHANGE_TYPE, COMMIT_TIMESTAMP
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.hybrid_time import HYBRID_TIME, SnapshotBound
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.open_store import OpenStore
from pykudu_sql.storage.remote.history_scan import scan_changes
from pykudu_sql.storage.remote.idle_history import hold_changes


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """The changes of a table, planned.

    Attributes:
        store: open to be read.
        table: as of the later moment.
        columns: wanted.
        low, high: commits at times low <= t < high.
    """

    store: OpenStore
    table: TableInfo
    columns: tuple[ColumnSchema, ...]
    low: SnapshotBound
    high: SnapshotBound

    @classmethod
    @contextmanager
    def planned(
        cls, path: str, table: str, since: str, options: ChangesOptions
    ) -> Iterator["ChangedRows"]:
        """Find the table and the moments, while the database is open.

        Raises HistoryPurgedError: history does not reach back so far; Error: there is no such
        table, column or moment.
        """
        names = None if options.columns is None else distinct_names(options.columns)
        with opened_to_read(path) as database:
            store, moments = database.store, ReadTimestamps(database)
            low = moments.bound_of(since)
            if options.until is None:
                high = store.history.snapshots.hold_newest().bound
            else:
                high = moments.bound_of(options.until)
            store.wait_until_readable(high)
            info = store.catalog_at(high).table(table.lower())
            columns = info.schema.columns if names is None else info.schema.project(names)
            low = min(low, high)
            hold = hold_changes(store, info, low, high)
            yield cls(store, info, tuple(columns), low, high)
            del hold  # held until here

    @property
    def schema(self) -> pa.Schema:
        """Of the batches."""
        fields = [pa.field(column.name, column.type.arrow) for column in self.columns]
        kind, time = (
            pa.field(CHANGE_TYPE, pa.string()),
            pa.field(COMMIT_TIMESTAMP, HYBRID_TIME.arrow),
        )
        return pa.schema([*fields, kind, time])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The changes. Raises CorruptionError, DiskError: a file cannot be read."""
        ids = [column.id for column in self.columns]
        for batch in scan_changes(self.store, self.table, self.low, self.high, ids):
            arrays = [
                plain(values).cast(field.type)
                for values, field in zip(batch.columns, self.schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)
