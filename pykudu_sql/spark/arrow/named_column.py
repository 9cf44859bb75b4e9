"""Columns of a DataFrame by their names, whatever these are made of."""

from pyspark.sql import Column
from pyspark.sql import functions as f


def cell(name: str) -> Column:
    """The column of a name, in which a dot or a backtick means nothing else."""
    return f.col("`" + name.replace("`", "``") + "`")
