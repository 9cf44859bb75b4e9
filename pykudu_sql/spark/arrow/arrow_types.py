"""Types of columns as Spark's, and batches of a scan as Spark takes them.

Spark compares the Arrow schema of each batch with its own to the letter: decimals are decimal128,
strings plain, a TIMESTAMP without zone is TIMESTAMP_NTZ. A column may also be read as
TIMESTAMP, Spark's moments in time: our times are then those of UTC. VARCHAR is STRING, for Spark
takes no lengths from a source.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa
from pyspark.sql import types as spark

from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import (
    InvalidSchemaError,
    NotNullError,
    UndefinedColumnError,
    ValueOutOfRangeError,
)

_SIMPLE = MappingProxyType(
    {
        Kind.BOOL: spark.BooleanType(),
        Kind.INT8: spark.ByteType(),
        Kind.INT16: spark.ShortType(),
        Kind.INT32: spark.IntegerType(),
        Kind.INT64: spark.LongType(),
        Kind.DATE: spark.DateType(),
        Kind.UNIXTIME_MICROS: spark.TimestampNTZType(),
        Kind.FLOAT: spark.FloatType(),
        Kind.DOUBLE: spark.DoubleType(),
        Kind.VARCHAR: spark.StringType(),
        Kind.STRING: spark.StringType(),
        Kind.BINARY: spark.BinaryType(),
    }
)
_ARROW: Mapping[spark.DataType, pa.DataType] = {
    spark.TimestampType(): pa.timestamp("us", tz="UTC"),
    spark.TimestampNTZType(): pa.timestamp("us"),
}


def spark_type(column_type: DataType) -> spark.DataType:
    """The Spark type of a column."""
    if column_type.kind is Kind.DECIMAL:
        return spark.DecimalType(column_type.precision, column_type.scale)
    return _SIMPLE[column_type.kind]


def spark_schema(columns: Sequence[ColumnSchema]) -> spark.StructType:
    """The schema of a DataFrame of some columns."""
    fields = [spark.StructField(c.name, spark_type(c.type), c.may_show_null) for c in columns]
    return spark.StructType(fields)


def requested_columns(
    table: str, columns: Sequence[ColumnSchema], schema: spark.StructType
) -> list[ColumnSchema]:
    """The columns that a schema names, in its order.

    `table`: its name, for messages; `schema`: as the user gave it, or as `spark_schema` made it.
    Raises UndefinedColumnError: the table has no column of that name; InvalidSchemaError: it has
    one of another type.
    """
    by_name = {column.name: column for column in columns}
    requested = []
    for field in schema.fields:
        column = by_name.get(field.name.lower())
        if column is None:
            raise UndefinedColumnError(
                f"column '{field.name}' does not exist in table '{table}'",
                hint="its columns are " + ", ".join(by_name),
            )
        _check_type(table, column, field.dataType)
        requested.append(column)
    return requested


def _check_type(table: str, column: ColumnSchema, requested: spark.DataType) -> None:
    own = spark_type(column.type)
    as_moment = own == spark.TimestampNTZType() and requested == spark.TimestampType()
    if requested != own and not as_moment:
        raise InvalidSchemaError(
            f"column '{column.name}' of table '{table}' is read as {own.simpleString()}, "
            f"not as {requested.simpleString()}",
            hint="read it as it is, and cast it in the query",
        )


def arrow_schema(schema: spark.StructType, columns: Sequence[ColumnSchema]) -> pa.Schema:
    """The Arrow schema that Spark expects of batches."""
    fields = [
        pa.field(field.name, _arrow_type(field.dataType, column.type), field.nullable)
        for field, column in zip(schema.fields, columns, strict=True)
    ]
    return pa.schema(fields)


def _arrow_type(requested: spark.DataType, column_type: DataType) -> pa.DataType:
    if column_type.kind is Kind.DECIMAL:
        return pa.decimal128(column_type.precision, column_type.scale)
    return _ARROW.get(requested, column_type.arrow)


def to_spark(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch of a scan with the very schema that Spark expects; columns match by position.

    A decimal that is expected as an integer comes as its digits without the point. Raises
    NotNullError: a cell is NULL in a column declared NOT NULL to Spark, and would read as something
        else; ValueOutOfRangeError: a value is none of the type expected, as after ALTER TABLE gave
        the column a wider one.
    """
    arrays = []
    for name, values, field in zip(batch.schema.names, batch.columns, schema, strict=True):
        if not field.nullable and values.null_count:
            raise NotNullError(
                f"column '{name}' is NULL in a row, and the schema of the DataFrame says NOT NULL",
                hint="let the schema of the DataFrame permit NULL in it",
            )
        try:
            arrays.append(_cast(plain(values), field.type))
        except pa.ArrowInvalid as error:
            raise ValueOutOfRangeError(
                f"a value of column '{name}' does not fit the schema of the DataFrame: {error}",
                hint="if the column was widened, build the DataFrame again with its current schema",
            ) from error
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _cast(values: pa.Array, target: pa.DataType) -> pa.Array:
    if not (pa.types.is_decimal(values.type) and pa.types.is_integer(target)):
        return values.cast(target)
    if values.type.bit_width > 64:  # as it comes out of a residual condition
        values = values.cast(pa.decimal64(values.type.precision, values.type.scale))
    stored = pa.int32() if values.type.bit_width == 32 else pa.int64()
    digits = pa.Array.from_buffers(stored, len(values), values.buffers(), offset=values.offset)
    return digits.cast(target)
