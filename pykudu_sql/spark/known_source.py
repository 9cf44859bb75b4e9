"""This package's data source, made known to Spark where Spark did not find it.

Spark asks a Python worker once, for as long as the JVM lives, which sources are installed. If that
worker was killed, or did not start in time, `format("pykudu")` is unknown from then on, whatever is
installed. So a call that Spark refuses for that is made again, once Spark has been told.
"""

from collections.abc import Callable
from typing import TypeVar

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from pykudu_sql.spark.data_source import PykuduDataSource
from pykudu_sql.spark.failures import lacks_source

T = TypeVar("T")


def with_known_source(spark: SparkSession, call: Callable[[], T]) -> T:
    """The result of a call that names the source.

    Raises PySparkException, Py4JError: what the call raised.
    """
    try:
        return call()
    except (PySparkException, Py4JError) as error:
        if not lacks_source(str(error)):
            raise
    spark.dataSource.register(PykuduDataSource)
    return call()
