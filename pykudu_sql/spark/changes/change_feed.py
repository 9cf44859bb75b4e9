"""The changes of one table, planned: which there are, and how tasks share them.

A feed keeps its database open to read and follows it. It plans; rows are read by tasks (see
`change_task`). What lies between two bounds is the same whenever it is planned, as long as history
covers it, so a batch that Spark runs again has the same rows.
"""

from dataclasses import field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql.types import DecimalType, StringType, StructField, StructType

from pykudu_sql.dataclass import dataclass
from pykudu_sql.spark.arrow.arrow_types import arrow_schema, requested_columns, spark_schema
from pykudu_sql.spark.changes.change_options import ChangeOptions
from pykudu_sql.spark.changes.change_task import ChangePartition, SnapshotPartition
from pykudu_sql.spark.reading.keeper import keep_lease
from pykudu_sql.spark.reading.read_plan import open_to_read
from pykudu_sql.spark.reading.read_timestamps import ReadTimestamps
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.commit.history import FOR_EVER
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.history_columns import CHANGE_TYPE, COMMIT_TIMESTAMP
from pykudu_sql.storage.common.types.hybrid_time import (
    HYBRID_TIME,
    NOTHING,
    SnapshotBound,
    Timestamp,
    bound_at,
    bound_before,
    last_before,
    later_by,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import UndefinedTableError
from pykudu_sql.storage.remote.history_scan import (
    follow,
    plan_changes,
    scan_changes,
    with_later_columns,
)
from pykudu_sql.storage.remote.idle_history import hold_changes
from pykudu_sql.storage.remote.scan_planner import plan_tokens
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet

MOST_TASKS = 32
_MICROS = 1_000_000
METADATA_FIELDS = (
    StructField(CHANGE_TYPE, StringType(), False),
    StructField(COMMIT_TIMESTAMP, DecimalType(HYBRID_TIME.precision, 0), False),
)
ARROW_METADATA_FIELDS = pa.schema(
    [
        pa.field(CHANGE_TYPE, pa.string(), False),
        pa.field(COMMIT_TIMESTAMP, HYBRID_TIME.arrow, False),
    ]
)


@dataclass(frozen=True)
class _Backlog:
    """The times of changes that were counted and not all given yet.

    Attributes:
        table_id: whose.
        until: bound of the commits that were looked at.
        times: of each change row, sorted, uint64[rows].
    """

    table_id: str = ""
    until: SnapshotBound = NOTHING
    times: npt.NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))


class ChangeFeed:
    """Plans reads of a table's changes. Used by one thread."""

    def __init__(self, options: ChangeOptions) -> None:
        """Open the database.

        Raises OperationalError: there is none; CorruptionError, DiskError: it cannot be read.
        """
        self._options = options
        self._database = open_to_read(options.location.path)
        self._store = self._database.store
        self._backlog = _Backlog()

    def close(self) -> None:
        """Close the database."""
        self._database.release()

    def newest(self) -> SnapshotBound:
        """The bound of the newest snapshot, after a look at what was committed since."""
        self._store.refresh()
        return self._store.history.snapshots.hold_newest().bound

    def bound_of(self, moment: str) -> SnapshotBound:
        """The bound of a moment; see `Moments.bound_of`."""
        return ReadTimestamps(self._database).bound_of(moment)

    def window(self) -> tuple[SnapshotBound, SnapshotBound]:
        """The bounds that the options name: changes at or above the first, below the second.

        Raises InvalidValueError, SnapshotInFutureError: one is no moment of the past.
        """
        options = self._options
        low = self.bound_of(options.starting or "")
        high = self.newest() if options.ending is None else self.bound_of(options.ending)
        return min(low, high), high

    def named_table(self, bound: SnapshotBound) -> TableInfo:
        """The table of the options at a bound. Raises UndefinedTableError: there was none."""
        return self._store.catalog_at(bound).table(self._options.location.table)

    def table(self, table_id: str, bound: SnapshotBound) -> TableInfo:
        """A table at a bound, by id.

        Raises UndefinedTableError: it was dropped; HistoryPurgedError: history does not reach back
        so far.
        """
        catalog = self._store.catalog_at(bound)
        table = catalog.by_id.get(table_id)
        if table is None:
            catalog.require_completeness(self._options.location.table)
            raise UndefinedTableError(
                f"table '{self._options.location.table}' that this stream reads was dropped",
                hint="a table created again under its name needs a stream with a new checkpoint",
            )
        return table

    def schema(self, bound: SnapshotBound) -> StructType:
        """The columns wanted and the metadata of each change."""
        table = self.named_table(bound)
        names = self._options.columns
        columns = table.schema.columns if names is None else table.schema.project(names)
        return StructType([*spark_schema(columns).fields, *METADATA_FIELDS])

    def check_history(self, table: TableInfo, low: SnapshotBound, high: SnapshotBound) -> None:
        """See that history has all changes from one bound to another.

        Raises HistoryPurgedError: it has not; the message says how far it reaches back.
        """
        hold_changes(self._store, table, low, high)

    def follow(self, bound: SnapshotBound) -> None:
        """See all commits below a bound that an earlier reader of this stream saw."""
        follow(self._store, bound)

    def has_changes(self, table: TableInfo, low: SnapshotBound, high: SnapshotBound) -> bool:
        """Whether a commit at a time low <= t < high may have touched a table's rows.

        Raises HistoryPurgedError: history does not reach back to a drop of a range partition that
        may have taken some.
        """
        store = self._store
        if any(
            span.dropped is not None or store.tablets[span.tablet_id].newest >= low
            for span in store.tablet_spans(table.id, low, high)
        ):
            return True
        past = store.catalog_at(low)
        if table.id not in past.by_id:
            past.require_completeness(table.name)
        return False

    def is_aging(self, table: TableInfo, bound: SnapshotBound, newest: SnapshotBound) -> bool:
        """Whether a bound lies so far below the newest that history leaves it behind before long.

        That is half of the time for which the table keeps history.
        """
        age = self._store.history.age_of(table)
        middle = later_by(last_before(newest), -age * _MICROS // 2)
        return age != FOR_EVER and bound <= middle

    def rows_of(self, table: TableInfo, index: int, bound: SnapshotBound) -> int:
        """About how many rows a tablet has; deleted ones count."""
        components = self._store.tablets[table.tablets[index].id].components
        return sum(
            rowset.meta.rows if isinstance(rowset, DiskRowSet) else rowset.row_count(bound)
            for rowset in components.rowsets
        )

    def bound_within(
        self, table_id: str, low: SnapshotBound, high: SnapshotBound, max_rows: int
    ) -> SnapshotBound:
        """The bound up to which changes make about so many rows, one commit at least.

        Args:
            table_id: whose changes.
            low: commits from this bound on.
            high: at most up to this one.
            max_rows: wanted; a commit is never divided.

        Raises Error: the changes cannot be read; see `scan_changes`.
        """
        times = self._times_from(table_id, low, high)
        if len(times) <= max_rows:
            return max(low, self._backlog.until)
        return max(
            bound_before(Timestamp(int(times[max_rows]))), bound_at(Timestamp(int(times[0])))
        )

    def _times_from(
        self, table_id: str, low: SnapshotBound, high: SnapshotBound
    ) -> npt.NDArray[np.uint64]:
        """The times of the changes that were counted; if all were given, of what came since."""
        backlog = self._backlog
        left = backlog.times[np.searchsorted(backlog.times, np.uint64(low)) :]
        if backlog.table_id == table_id and len(left) and backlog.until <= high:
            return left
        table = self.table(table_id, high)
        timestamps = [
            batch.column(1).to_numpy() for batch in scan_changes(self._store, table, low, high, ())
        ]
        times = np.sort(np.concatenate([np.empty(0, np.uint64), *timestamps]))
        self._backlog = _Backlog(table_id, high, times)
        return times

    def changes(
        self, schema: StructType, table: TableInfo, low: SnapshotBound, high: SnapshotBound
    ) -> list[ChangePartition]:
        """The changes by commits at times low <= t < high, shared out.

        `schema`: the columns that Spark wants; `table`: as of `high`; `low`, `high`: bounds. Raises
        HistoryPurgedError: history does not reach back to `low`; UndefinedColumnError,
        InvalidSchemaError: the table has no such column any more.
        """
        table = self._with_later_columns(table)
        column_ids, positions, expected = self._projection(schema, table)
        shares = [s.to_json() for s in plan_changes(self._store, table, low, high, column_ids)]
        count = min(MOST_TASKS, len(shares))
        return [ChangePartition(tuple(shares[i::count]), positions, expected) for i in range(count)]

    def snapshot(
        self, schema: StructType, table: TableInfo, bound: SnapshotBound, tablets: range
    ) -> list[SnapshotPartition]:
        """The rows of some tablets at a bound, as if they were inserted at that moment.

        Args:
            schema: the columns that Spark wants.
            table: as of `bound`.
            tablets: indexes of those wanted.

        Raises: as `changes`.
        """
        table = self._with_later_columns(table)
        column_ids, positions, expected = self._projection(schema, table)
        plan = plan_tokens(self._store, table, ScanSpec(column_ids), bound)
        tablet_ids = {table.tablets[index].id for index in tablets}
        if plan.lease is not None:
            keep_lease(plan.lease)
        return [
            SnapshotPartition(
                (token.to_json(),), plan.lease_path, last_before(bound), positions, expected
            )
            for token in plan.tokens
            if token.tablet_id in tablet_ids
        ]

    def _named_columns(self, table: TableInfo) -> list[ColumnSchema]:
        """The columns of a table, those that have another name by now also under that."""
        newest = self._store.catalog.by_id.get(table.id, table)
        by_name = {column.name: column for column in table.schema.columns}
        renamed = [
            replace(table.schema.by_id[column.id], name=column.name)
            for column in newest.schema.columns
            if column.name not in by_name and column.id in table.schema.by_id
        ]
        return [*by_name.values(), *renamed]

    def _with_later_columns(self, table: TableInfo) -> TableInfo:
        """A table of a past moment as a stream sees it whose columns are those of a later one.

        Spark asks for the columns of a stream before it looks for a checkpoint, so a batch that it
        runs again may have got columns since.
        """
        self._store.refresh()
        return with_later_columns(self._store, table)

    def _projection(
        self, schema: StructType, table: TableInfo
    ) -> tuple[tuple[int, ...], tuple[int, ...], pa.Schema]:
        """Column ids to read, the place of each field wanted among them, and the schema expected.

        Behind the columns read are the two with the metadata of the change.
        """
        metadata_columns = {one.name: number for number, one in enumerate(METADATA_FIELDS)}
        own = StructType([f for f in schema.fields if f.name not in metadata_columns])
        columns = requested_columns(table.name, self._named_columns(table), own)
        # A batch without a column would have no length.
        column_ids = tuple(c.id for c in columns) or table.schema.key_ids[:1]
        fields = iter(arrow_schema(own, columns))
        numbers = iter(range(len(columns)))
        behind = len(column_ids)
        positions: list[int] = []
        expected: list[pa.Field] = []
        for one in schema.fields:
            if one.name in metadata_columns:
                positions.append(behind + metadata_columns[one.name])
                expected.append(ARROW_METADATA_FIELDS.field(one.name))
            else:
                positions.append(next(numbers))
                expected.append(next(fields))
        return column_ids, tuple(positions), pa.schema(expected)
