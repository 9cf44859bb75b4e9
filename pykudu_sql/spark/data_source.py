"""`format("pykudu")`: what Spark asks first, and whom it is sent to.

Spark makes this object in worker processes of the driver and pickles it from one to the next; only
`schema`, `reader` and the writers are called. See `options` for what may be given. Each of these
processes loads no more of the house than it needs.
"""

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

if TYPE_CHECKING:
    from pykudu_sql.spark.reader import PykuduReader
    from pykudu_sql.spark.writer import PykuduStreamWriter, PykuduWriter


class PykuduDataSource(DataSource):
    """The tables of a database."""

    @classmethod
    def name(cls) -> str:
        """What `format` takes."""
        return "pykudu"

    def schema(self) -> StructType:
        """The columns that are read. Fixes the snapshot of this `load()`.

        Raises:
            Error: there is no such database, table or column.
        """
        from pykudu_sql.spark.arrow_types import spark_schema
        from pykudu_sql.spark.options import ReadOptions
        from pykudu_sql.spark.read_plan import read_planner

        with read_planner(ReadOptions.of(self.options)) as planner:
            # Spark passes this object on to `reader`: what is planned later reads the same moment.
            self.options["asof"] = str(planner.bound - 1)
            return spark_schema(planner.columns())

    def reader(self, schema: StructType) -> "PykuduReader":
        """The reader of some columns.

        Args:
            schema: what `schema` gave, or what the user asked for.
        """
        from pykudu_sql.spark.options import ReadOptions
        from pykudu_sql.spark.reader import PykuduReader

        return PykuduReader(ReadOptions.of(self.options), schema)

    def writer(self, schema: StructType, overwrite: bool) -> "PykuduWriter":
        """The writer of one DataFrame.

        Args:
            schema: of the DataFrame.
            overwrite: whether its rows take the place of all others.
        """
        from pykudu_sql.spark.options import WriteOptions
        from pykudu_sql.spark.writer import PykuduWriter

        return PykuduWriter(WriteOptions.of(self.options), schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> "PykuduStreamWriter":
        """The writer of a stream's batches, which are always added."""
        from pykudu_sql.spark.options import WriteOptions
        from pykudu_sql.spark.writer import PykuduStreamWriter

        return PykuduStreamWriter(WriteOptions.of(self.options), schema)
