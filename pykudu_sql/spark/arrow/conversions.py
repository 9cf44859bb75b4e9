"""What a column takes of a DataFrame, whoever writes it: `write_table`, `df.write` or `load`.

A type of another family is refused before anything runs: a bool is no number, a number no text. Of
the same family a value goes in if it stays what it is: a DOUBLE of 2.0 into an INT, not one of 2.5;
a moment into a DATE, if it is a whole day; a DECIMAL with no more digits than the column has. FLOAT
and DOUBLE have no decimal digits of their own and are rounded to those of a DECIMAL; a text is cut
to the length of a VARCHAR, as by INSERT.
"""

from collections.abc import Mapping

import pyarrow as pa
from pyspark.sql import types as t

from pykudu_sql.files.reading.typed_values import (
    check_days,
    check_digits,
    check_whole_numbers,
    loses_digits,
)
from pykudu_sql.spark.arrow.arrow_types import spark_type
from pykudu_sql.storage.common.coercion.coercion import coerce
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Kind
from pykudu_sql.storage.errors import InvalidSchemaError

_TIMES = (t.DateType, t.TimestampType, t.TimestampNTZType)
_TEXTS = (t.StringType, t.VarcharType, t.CharType)
_FAMILIES: Mapping[Kind, tuple[type[t.DataType], ...]] = {
    Kind.BOOL: (t.BooleanType,),
    Kind.DATE: _TIMES,
    Kind.UNIXTIME_MICROS: _TIMES,
    Kind.VARCHAR: _TEXTS,
    Kind.STRING: _TEXTS,
    Kind.BINARY: (t.BinaryType,),
}


def check_type(column: ColumnSchema, source: t.DataType) -> None:
    """See that values of a type may be values of a column.

    `source`: type of the DataFrame's column. Raises InvalidSchemaError: it is of another family.
    """
    if not isinstance(source, (*_FAMILIES.get(column.type.kind, (t.NumericType,)), t.NullType)):
        spark_type_name = spark_type(column.type).simpleString()
        raise InvalidSchemaError(
            f"column '{column.name}' is {column.type}, and {source.simpleString():.80} is written "
            "to it",
            hint=f"cast it, if that is intended: col('{column.name}').cast('{spark_type_name}')",
        )


def converted(values: pa.ChunkedArray, column: ColumnSchema) -> pa.Array:
    """Values of a DataFrame as those of a column.

    `values`: of a type that `check_type` takes. Raises InvalidValueError: one of them would lose a
    part; ValueOutOfRangeError: one of them is out of the range of the column.
    """
    if loses_digits(values.type, column):
        hint = f"round it, if that is intended: round('{column.name}', {column.type.scale})"
        check_digits(values, column, hint)
    if column.type.kind is Kind.DATE and pa.types.is_timestamp(values.type):
        hint = f"cut it, if that is intended: col('{column.name}').cast('date')"
        check_days(values, column, hint)
    if column.type.is_floating:
        hint = f"round it, if that is intended: col('{column.name}').cast('double')"
        check_whole_numbers(values, column, hint)
    return coerce(values, column.type, column.name)
