"""The types of a table for files, as Spark infers them."""

from collections.abc import Mapping
from types import MappingProxyType

from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from pykudu_sql.jobs.on_spark.source_files import CORRUPT
from pykudu_sql.storage.errors import InvalidSchemaError

_SIMPLE = MappingProxyType(
    {
        spark.BooleanType(): "BOOLEAN",
        spark.ByteType(): "TINYINT",
        spark.ShortType(): "SMALLINT",
        spark.IntegerType(): "INT",
        spark.LongType(): "BIGINT",
        spark.DateType(): "DATE",
        spark.TimestampType(): "TIMESTAMP",
        spark.TimestampNTZType(): "TIMESTAMP",
        spark.FloatType(): "FLOAT",
        spark.DoubleType(): "DOUBLE",
        spark.StringType(): "STRING",
        spark.BinaryType(): "BINARY",
        spark.NullType(): "STRING",
    }
)


def column_types(rows: DataFrame) -> Mapping[str, str]:
    """The SQL types for the columns of a DataFrame, by their names in lower case.

    Raises InvalidSchemaError: a column's type is none of ours.
    """
    fields = {field.name.lower(): field.dataType for field in rows.schema if field.name != CORRUPT}
    return {name: _sql_type(name, kind) for name, kind in fields.items()}


def _sql_type(name: str, kind: spark.DataType) -> str:
    if isinstance(kind, spark.DecimalType):
        return f"DECIMAL({kind.precision},{kind.scale})"
    type_name = _SIMPLE.get(kind)
    if type_name is None:
        raise InvalidSchemaError(
            f"column '{name:.80}' of the files is {kind.simpleString():.80}, which no table takes",
            hint="create the table first, or flatten the column in Spark",
        )
    return type_name
