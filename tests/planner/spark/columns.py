"""A scope with a column of each kind of type, without the name of a source."""

from pykudu_sql.planner.spark.spark_scope import SparkScope
from pykudu_sql.planner.spark.spark_types import ValueType

SCOPE = SparkScope(
    {},
    sources={
        "": {
            "i": ValueType.INT,
            "n": ValueType.BIGINT,
            "x": ValueType.DOUBLE,
            "f": ValueType.FLOAT,
            "d": ValueType.DECIMAL,
            "s": ValueType.TEXT,
            "day": ValueType.DATE,
            "ts": ValueType.TIMESTAMP,
            "flag": ValueType.BOOLEAN,
        }
    },
)
