"""The stream reader: the rows of a table at one moment, then every change of them, once.

Each batch is what lies between two offsets, and that never changes; Spark's checkpoint keeps the
offsets. So a batch that is run again after a crash has the same rows.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from pykudu_sql.spark.changes.change_options import ChangeOptions
from pykudu_sql.spark.changes.change_task import read_partition
from pykudu_sql.spark.changes.stream_offset import StreamOffset
from pykudu_sql.spark.worker_errors import reason_alone
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound

if TYPE_CHECKING:
    from pykudu_sql.spark.changes.change_feed import ChangeFeed


class PykuduStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """One stream of changes. Spark keeps one on the driver and sends copies to the tasks."""

    def __init__(self, options: ChangeOptions, schema: StructType) -> None:
        """Nothing is opened yet. `schema`: the columns that Spark wants."""
        self._options = options
        self._schema = schema
        self._opened: ChangeFeed | None = None
        self._target: SnapshotBound | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What tasks get: not the database that the driver has open."""
        return {**self.__dict__, "_opened": None}

    @property
    def _feed(self) -> "ChangeFeed":
        if self._opened is None:
            # Tasks do not load the planner.
            from pykudu_sql.spark.changes.change_feed import ChangeFeed

            self._opened = ChangeFeed(self._options)
        return self._opened

    @reason_alone()
    def initialOffset(self) -> dict[str, Any]:
        """Where a stream begins that has no checkpoint yet.

        Raises UndefinedTableError: there is no such table; HistoryPurgedError: history does not
        reach back to `startingTimestamp`.
        """
        newest = self._newest()
        table = self._feed.named_table(newest)
        if self._options.starting is None:
            return StreamOffset(table.id, newest, 0).to_json()
        bound = self._feed.bound_of(self._options.starting)
        self._feed.check_history(table, bound, newest)
        return StreamOffset(table.id, bound).to_json()

    def getDefaultReadLimit(self) -> ReadLimit:
        """The limit in `maxRowsPerTrigger`."""
        limit = self._options.max_rows
        return ReadAllAvailable() if limit is None else ReadMaxRows(limit)

    @reason_alone()
    def prepareForTriggerAvailableNow(self) -> None:
        """From here on nothing newer is given than what there is now."""
        self._target = self._feed.newest()

    def _newest(self) -> SnapshotBound:
        return self._feed.newest() if self._target is None else self._target

    @reason_alone()
    def latestOffset(self, start: Mapping[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """Where the next batch ends; at `start` if there is nothing new, and that is not old.

        Args:
            start: where it begins.
            limit: of its rows; whole commits count, and whole tablets of the first rows.

        Raises UndefinedTableError: the table was dropped; HistoryPurgedError: history does not
        reach back to `start` any more.
        """
        begin, feed = StreamOffset.from_json(start), self._feed
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        if begin.tablets is not None:
            table = feed.table(begin.table_id, begin.bound)
            if begin.tablets < len(table.tablets):
                return self._next_tablets(begin, most).to_json()
        newest = self._newest()
        table = feed.table(begin.table_id, max(newest, begin.bound))
        if newest <= begin.bound:
            return dict(start)
        if not feed.has_changes(table, begin.bound, newest):
            # A batch without rows, now and then, keeps the offset within the table's history.
            idle = feed.is_aging(table, begin.bound, newest)
            return StreamOffset(table.id, newest).to_json() if idle else dict(start)
        feed.check_history(table, begin.bound, newest)
        if most is None:
            return StreamOffset(begin.table_id, newest).to_json()
        bound = feed.bound_within(begin.table_id, begin.bound, newest, most)
        return StreamOffset(begin.table_id, bound).to_json()

    def _next_tablets(self, begin: StreamOffset, most: int | None) -> StreamOffset:
        """The first rows of at least one tablet more, and of others while they are few enough."""
        feed, bound = self._feed, begin.bound
        table = feed.table(begin.table_id, bound)
        first = begin.tablets or 0
        if most is None:
            return StreamOffset(table.id, bound, len(table.tablets))
        stop, rows = first + 1, feed.rows_of(table, first, bound)
        while stop < len(table.tablets):
            rows += feed.rows_of(table, stop, bound)
            if rows > most:
                break
            stop += 1
        return StreamOffset(table.id, bound, stop)

    @reason_alone()
    def partitions(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> list[InputPartition]:
        """The shares of a batch's tasks.

        `start`, `end`: offsets; of a first batch that is run again, only the end is as it was.

        Raises: as `latestOffset`.
        """
        begin, stop, feed = StreamOffset.from_json(start), StreamOffset.from_json(end), self._feed
        feed.follow(stop.bound)
        table = feed.table(stop.table_id, stop.bound)
        if stop.tablets is not None:
            tablets = range(begin.tablets or 0, stop.tablets)
            return [*feed.snapshot(self._schema, table, stop.bound, tablets)]
        if begin.bound >= stop.bound:
            return []
        return [*feed.changes(self._schema, table, begin.bound, stop.bound)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one share; see `read_partition`."""
        with reason_alone():
            yield from read_partition(self._options.location, partition)

    def stop(self) -> None:
        """Close the database."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None
