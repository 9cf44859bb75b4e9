"""The batch reader: partitions planned on the driver, rows read in tasks.

`pushFilters` is left out on purpose. Spark 4.3 keeps what a Python source planned in one place that
all uses of a DataFrame share, so a filter pushed for one use is applied to the others: a view
joined with itself, or counted with and without a filter, gives wrong rows. Conditions and columns
come by options instead, which belong to one `load()`.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from pykudu_sql.dataclass import dataclass
from pykudu_sql.spark.arrow.arrow_types import arrow_schema, requested_columns, to_spark
from pykudu_sql.spark.options import ReadOptions
from pykudu_sql.spark.reading.keeper import keep_lease
from pykudu_sql.spark.reading.residual import Projection, Residual, matching
from pykudu_sql.spark.reading.token_task import read_in_task
from pykudu_sql.spark.worker_errors import reason_alone


@dataclass
class TokenPartition(InputPartition):
    """What one task reads.

    Attributes:
        tokens: as JSON.
        residual: of the condition.
        schema: of the batches that Spark expects.
        lease: path of the claim on the files; None where none could be made.
    """

    tokens: tuple[str, ...]
    residual: Residual | Projection | None
    schema: pa.Schema
    lease: str | None


class PykuduReader(DataSourceReader):
    """Reads a table at one snapshot, however often the DataFrame is used."""

    def __init__(self, options: ReadOptions, schema: StructType) -> None:
        """Nothing is read yet.

        Args:
            options: what is read; with `as_of`, unless the user gave the schema.
            schema: the columns that Spark wants.
        """
        self._options = options
        self._schema = schema

    @reason_alone()
    def partitions(self) -> Sequence[InputPartition]:
        """The shares of the tasks. Their files stay until they were not read for ten minutes.

        Raises Error: the read cannot be planned; see `ReadPlanner`.
        """
        # Only the driver plans; tasks do not load the planner.
        from pykudu_sql.spark.reading.read_plan import read_planner

        with read_planner(self._options) as planner:
            columns = requested_columns(
                planner.table.name, planner.table.schema.columns, self._schema
            )
            plan = planner.plan(columns)
            schema = arrow_schema(self._schema, columns)
            path = plan.scan.lease_path
            if plan.scan.lease is not None:
                keep_lease(plan.scan.lease)
            return [
                TokenPartition(tuple(t.to_json() for t in share), plan.residual, schema, path)
                for share in plan.shares
            ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one share.

        Raises OperationalError: the files were given back meanwhile; CorruptionError, DiskError:
        they cannot be read.
        """
        # An empty table has no share; Spark asks once all the same, with nothing.
        if isinstance(partition, TokenPartition):
            rows = read_in_task(self._options.location, partition.tokens, partition.lease)
            with reason_alone():
                for batch in matching(rows, partition.residual):
                    yield to_spark(batch, partition.schema)
