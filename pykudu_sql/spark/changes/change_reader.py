"""The batch reader of changes: `option("readChangeFeed", "true")` on `spark.read`."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from pykudu_sql.spark.changes.change_options import ChangeOptions
from pykudu_sql.spark.changes.change_task import read_partition
from pykudu_sql.spark.worker_errors import reason_alone
from pykudu_sql.storage.errors import ProgrammingError


class PykuduChangeReader(DataSourceReader):
    """Reads what commits after one moment, up to another, did to the rows of a table."""

    def __init__(self, options: ChangeOptions, schema: StructType) -> None:
        """Nothing is read yet.

        Args:
            options: which changes; with `ending`, unless the user gave the schema.
            schema: the columns that Spark wants.

        Raises ProgrammingError: it is not said from when on.
        """
        if options.starting is None:
            raise ProgrammingError(
                f"the changes of table '{options.location.table}' need the option "
                "'startingTimestamp'",
                hint="a timestamp, a hybrid timestamp or the name of a snapshot: changes after it",
            )
        self._options = options
        self._schema = schema

    @reason_alone()
    def partitions(self) -> Sequence[InputPartition]:
        """The shares of the tasks.

        Raises Error: the read cannot be planned; see `ChangeFeed.changes`.
        """
        # Only the driver plans; tasks do not load the planner.
        from pykudu_sql.spark.changes.change_feed import ChangeFeed

        feed = ChangeFeed(self._options)
        try:
            low, high = feed.window()
            return feed.changes(self._schema, feed.named_table(high), low, high)
        finally:
            feed.close()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The changes of one share; see `read_partition`."""
        with reason_alone():
            yield from read_partition(self._options.location, partition)
