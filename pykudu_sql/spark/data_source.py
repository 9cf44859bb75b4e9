"""`format("pykudu")`: the data source that Spark calls; it makes the readers and writers.

Spark makes this object in worker processes of the driver and pickles it from one to the next; only
`schema`, the readers and the writers are called. See `options` for what may be given. Each of these
processes loads no more of the house than it needs.
"""

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from pykudu_sql.spark.worker_errors import reason_alone
from pykudu_sql.storage.common.types.hybrid_time import last_before
from pykudu_sql.storage.errors import ProgrammingError

if TYPE_CHECKING:
    from pykudu_sql.spark.changes.change_reader import PykuduChangeReader
    from pykudu_sql.spark.changes.stream_reader import PykuduStreamReader
    from pykudu_sql.spark.reading.reader import PykuduReader
    from pykudu_sql.spark.writing.writer import PykuduStreamWriter, PykuduWriter


class PykuduDataSource(DataSource):
    """The tables of a database."""

    @classmethod
    def name(cls) -> str:
        """What `format` takes."""
        return "pykudu"

    @reason_alone()
    def schema(self) -> StructType:
        """The columns that are read. Fixes the snapshot of this `load()`.

        Raises Error: there is no such database, table or column.
        """
        from pykudu_sql.spark.arrow.arrow_types import spark_schema
        from pykudu_sql.spark.changes.change_options import wants_changes
        from pykudu_sql.spark.options import ReadOptions
        from pykudu_sql.spark.reading.read_plan import read_planner

        if wants_changes(self.options):
            return self._change_schema()
        with read_planner(ReadOptions.of(self.options)) as planner:
            # Spark passes this object on to `reader`: what is planned later reads the same moment.
            self.options["asof"] = str(last_before(planner.bound))
            return spark_schema(planner.columns())

    def _change_schema(self) -> StructType:
        """The columns of the change feed. A batch ends at this moment unless another was given."""
        from pykudu_sql.spark.changes.change_feed import ChangeFeed
        from pykudu_sql.spark.changes.change_options import ChangeOptions

        options = ChangeOptions.of(self.options)
        feed = ChangeFeed(options)
        try:
            ending = options.ending
            bound = feed.newest() if ending is None else feed.bound_of(ending)
            self.options["endingtimestamp"] = str(last_before(bound))
            return feed.schema(bound)
        finally:
            feed.close()

    @reason_alone()
    def reader(self, schema: StructType) -> "PykuduReader | PykuduChangeReader":
        """The reader of some columns, of rows or of changes.

        `schema`: what `schema` gave, or what the user requested.
        """
        from pykudu_sql.spark.changes.change_options import ChangeOptions, wants_changes
        from pykudu_sql.spark.changes.change_reader import PykuduChangeReader
        from pykudu_sql.spark.options import ReadOptions
        from pykudu_sql.spark.reading.reader import PykuduReader

        if wants_changes(self.options):
            return PykuduChangeReader(ChangeOptions.of(self.options), schema)
        return PykuduReader(ReadOptions.of(self.options), schema)

    # Spark hides what is raised here behind a fault of its own, which its trace alone shows.
    def streamReader(self, schema: StructType) -> "PykuduStreamReader":
        """The reader of a stream of changes.

        Raises ProgrammingError: changes were not requested.
        """
        from pykudu_sql.spark.changes.change_options import ChangeOptions, wants_changes
        from pykudu_sql.spark.changes.stream_reader import PykuduStreamReader
        from pykudu_sql.spark.options import TableLocation

        if not wants_changes(self.options):
            raise ProgrammingError(
                f"a stream of table '{TableLocation.of(self.options).table}' is of its changes",
                hint='say so with .option("readChangeFeed", "true"); the columns _change_type '
                "and _commit_timestamp come with it",
            )
        return PykuduStreamReader(ChangeOptions.of(self.options), schema)

    @reason_alone()
    def writer(self, schema: StructType, overwrite: bool) -> "PykuduWriter":
        """The writer of one DataFrame.

        `overwrite`: whether its rows take the place of all others.
        """
        from pykudu_sql.spark.options import WriteOptions
        from pykudu_sql.spark.writing.writer import PykuduWriter

        return PykuduWriter(WriteOptions.of(self.options), schema, overwrite)

    @reason_alone()
    def streamWriter(self, schema: StructType, overwrite: bool) -> "PykuduStreamWriter":
        """The writer of a stream's batches, which are always added."""
        from pykudu_sql.spark.options import WriteOptions
        from pykudu_sql.spark.writing.writer import PykuduStreamWriter

        return PykuduStreamWriter(WriteOptions.of(self.options), schema)
