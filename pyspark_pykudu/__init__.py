"""How Spark finds `format("pykudu")`: it imports every module whose name starts with `pyspark_`."""

from pykudu_sql.spark.data_source import PykuduDataSource as DefaultSource

__all__ = ["DefaultSource"]
