"""A table as a DataFrame that counts its rows by metadata.

Spark takes no columns away from what `mapInArrow` gives, so a count on Spark reads every cell that
the frame has. How many rows a snapshot sees follows from the sizes of the rowsets and from which of
their rows are deleted. The tokens of the scan name both, so they are asked for rows without
columns: the count is that of the frame's rows, however the table has changed since.
"""

from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

from pykudu_sql.spark.options import TableLocation
from pykudu_sql.spark.reading.read_plan import ReadPlan
from pykudu_sql.spark.reading.token_task import read_tokens
from pykudu_sql.storage.scan.opened_rowsets import OpenedRowSets
from pykudu_sql.storage.scan.scan_token import RowSetShare, ScanToken


class TableFrame(ClassicDataFrame):
    """The rows of a table, all that a snapshot sees. What is made of it are frames of Spark."""

    def __init__(self, frame: DataFrame, count: Callable[[], int]) -> None:
        """Take over a frame of Spark; `count`: tells how many rows it has."""
        super().__init__(frame._jdf, frame.sparkSession)
        self._count = count

    def count(self) -> int:
        """How many rows there are; no task is started."""
        return self._count()


def with_count(frame: DataFrame, location: TableLocation, plan: ReadPlan) -> DataFrame:
    """A frame of the rows of a plan that counts them by metadata, if these know.

    They know nothing of how many rows a condition keeps.
    """
    if plan.residual is not None:
        return frame
    return TableFrame(frame, lambda: count_rows(location, plan))


def count_rows(location: TableLocation, plan: ReadPlan) -> int:
    """How many rows a plan without a condition has.

    Raises OperationalError: the files were given back meanwhile; CorruptionError, DiskError: they
    cannot be read.
    """
    tokens = [_without_columns(token).to_json() for token in plan.scan.tokens]
    rows = read_tokens(location, tokens, plan.scan.lease_path, OpenedRowSets())
    return sum(batch.num_rows for batch in rows)


def _without_columns(token: ScanToken) -> ScanToken:
    """A token of the same rows; one that brings its rows stays as it is."""
    return replace(token, columns=()) if isinstance(token.share, RowSetShare) else token
