"""Rows of a DataFrame, counted while something else reads it."""

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as f


class RowCounter:
    """Counts the rows of a DataFrame while something else reads it."""

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self._observation = Observation()

    def watch(self, rows: DataFrame) -> DataFrame:
        """The same rows, counted by the next action on them."""
        return rows.observe(self._observation, f.count(f.lit(1)).alias("rows"))

    @property
    def rows(self) -> int:
        """How many there were; waits for the action."""
        return int(self._observation.get["rows"])
