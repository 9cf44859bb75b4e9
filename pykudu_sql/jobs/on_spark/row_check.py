"""Rows of files against the columns of a table: which fit, and why the others do not.

The check is one expression over all columns, so Spark runs it beside reading the files. What fits
is what `conversions` says: nothing is cut off unseen but the length of a VARCHAR, as in any INSERT.
A text is read as the value that it writes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t

from pykudu_sql.jobs.on_spark.range_check import covered
from pykudu_sql.jobs.on_spark.source_files import CORRUPT, ROW_LOCATION
from pykudu_sql.jobs.rejects import BROKEN, NO_VALUE, NULL, OUTSIDE
from pykudu_sql.spark.arrow.arrow_types import spark_type
from pykudu_sql.spark.arrow.conversions import check_type
from pykudu_sql.spark.arrow.named_column import cell
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import InvalidSchemaError, UndefinedColumnError

REASON: Final = "_pykudu_reason"

_NESTED: Final = (t.ArrayType, t.MapType, t.StructType, t.VariantType)
_FRACTIONS: Final = (t.FloatType, t.DoubleType, t.DecimalType)
_TIMES: Final = (t.TimestampType, t.TimestampNTZType)
_BYTES: Final = r"^\\x([0-9A-Fa-f]{2})*$"
_MOST_DIGITS: Final = 38


def columns_in_files(
    rows: DataFrame, columns: Sequence[ColumnSchema], table: str, typed: bool
) -> list[ColumnSchema]:
    """The columns of the table that files have, in the files' order.

    Args:
        rows: of the files.
        table: its name.
        typed: whether the files have types, so that a text is no way to write a number.

    Raises UndefinedColumnError: a file has a column that the table has not; InvalidSchemaError: a
    column is there twice, or is nested, or of another family of types.
    """
    by_name = {column.name: column for column in columns}
    schema_columns: list[ColumnSchema] = []
    for one in rows.schema.fields:
        if one.name in (CORRUPT, *ROW_LOCATION):
            continue
        column = by_name.get(one.name.lower())
        if column is None:
            raise UndefinedColumnError(
                f"the files have a column '{one.name:.80}' that table '{table}' has not",
                hint="its columns are " + ", ".join(by_name),
            )
        if column in schema_columns:
            raise InvalidSchemaError(f"the files have the column '{column.name}' twice")
        if isinstance(one.dataType, _NESTED):
            raise InvalidSchemaError(
                f"column '{one.name:.80}' of the files is {one.dataType.simpleString():.80}, "
                f"not {column.type}",
                hint="flatten the column in Spark, and write the DataFrame",
            )
        if typed:
            check_type(column, one.dataType)
        schema_columns.append(column)
    return schema_columns


@dataclass(frozen=True, slots=True)
class RowCheck:
    """The check of rows of files against a table.

    Attributes:
        columns: of the table that the files have, in the files' order.
        types: of the files' columns, by the table's names.
        torn: whether rows may be lines that could not be taken apart.
    """

    table: TableInfo
    columns: Sequence[ColumnSchema]
    types: Mapping[str, t.DataType]
    torn: bool

    @classmethod
    def of(cls, rows: DataFrame, table: TableInfo, columns: Sequence[ColumnSchema]) -> "RowCheck":
        """The check of the rows of a DataFrame."""
        types = {one.name.lower(): one.dataType for one in rows.schema.fields}
        return cls(table, columns, types, CORRUPT in rows.columns)

    def problems(self) -> list[tuple[str, Column]]:
        """Kinds of problems, and for each what is wrong with a row; NULL if nothing is."""
        problems = []
        if self.torn:
            torn = f.col(CORRUPT).isNotNull()
            problems.append((BROKEN, f.when(torn, f.lit("the line cannot be taken apart"))))
        for column in self.columns:
            problems.append((NO_VALUE, _wrong(column, self.types[column.name])))
            if not column.nullable:
                empty = cell(column.name).isNull()
                message = f.lit(f"column '{column.name}' must not be NULL")
                problems.append((NULL, f.when(empty, message)))
        inside = covered(self.table, self.cells())
        if inside is not None:
            message = f.concat(f.lit("no range partition covers "), self.key_text(self._ranged()))
            problems.append((OUTSIDE, f.when(~inside, message)))
        return problems

    def _ranged(self) -> list[ColumnSchema]:
        schema = self.table.schema
        return [schema.by_id[i] for i in self.table.partition_schema.range_column_ids]

    def cells(self) -> dict[int, Column]:
        """The cells of a row with the types of the table, by column id."""
        return {one.id: _converted(one, self.types[one.name]) for one in self.columns}

    def key_text(self, columns: Sequence[ColumnSchema]) -> Column:
        """`(a, b) = (1, x)` of a row of the files."""
        names = ", ".join(column.name for column in columns)
        texts = [f.coalesce(cell(one.name).cast("string"), f.lit("NULL")) for one in columns]
        return f.concat(f.lit(f"({names}) = ("), f.concat_ws(", ", *texts), f.lit(")"))

    def with_reasons(self, rows: DataFrame) -> DataFrame:
        """The rows with a column `REASON`: why a row does not fit, empty if it does."""
        texts = (text for _, text in self.problems())
        return rows.withColumn(REASON, f.concat_ws("; ", *texts))

    def fitting(self, checked: DataFrame, *more: str) -> DataFrame:
        """The rows that fit, with the types of the table.

        `checked`: rows `with_reasons`; `more`: other columns of it to be kept.
        """
        cells = self.cells()
        converted_cells = [cells[column.id].alias(column.name) for column in self.columns]
        return checked.where(f.col(REASON) == "").select(*converted_cells, *more)

    def kind(self) -> Column:
        """The kind of the first problem of a row."""
        return f.coalesce(
            *(f.when(text.isNotNull(), f.lit(kind)) for kind, text in self.problems())
        )

    def source_text(self, checked: DataFrame) -> Column:
        """A row as it came: the line where it could not be taken apart, else JSON."""
        internal = (CORRUPT, REASON, *ROW_LOCATION)
        names = [name for name in checked.columns if name not in internal]
        row = f.to_json(f.struct(*map(cell, names)), {"ignoreNullFields": "false"})
        return f.coalesce(f.col(CORRUPT), row) if self.torn else row


def _converted(column: ColumnSchema, source: t.DataType) -> Column:
    """The cell as the table has it; NULL when it cannot be that."""
    source_cell = cell(column.name)
    if column.type.kind is Kind.BINARY and isinstance(source, t.StringType):
        as_bytes = f.unhex(f.substring(source_cell, 3, 2**31 - 1))
        return f.when(source_cell.rlike(_BYTES), as_bytes).otherwise(source_cell.cast("binary"))
    converted = source_cell.try_cast(spark_type(column.type))
    return (
        f.substring(converted, 1, column.type.length)
        if column.type.kind is Kind.VARCHAR
        else converted
    )


def _wrong(column: ColumnSchema, source: t.DataType) -> Column:
    """Why a cell does not fit; NULL when it does."""
    source_cell, converted = cell(column.name), _converted(column, source)
    excerpt = f.substring(source_cell.cast("string"), 1, 40)
    wrong = source_cell.isNotNull() & converted.isNull()
    if _may_be_cut(source, spark_type(column.type)):
        wrong = wrong | (converted.cast(source) != source_cell)
    if column.type.kind is Kind.DECIMAL and isinstance(source, (t.StringType, t.DecimalType)):
        wrong = wrong | _has_more_digits(source_cell, converted, column.type)
    return f.when(
        wrong,
        f.concat(f.lit(f"column '{column.name}': '"), excerpt, f.lit(f"' is no {column.type}")),
    )


def _has_more_digits(source_cell: Column, converted: Column, target: DataType) -> Column:
    """Whether a number has more digits behind the point than a DECIMAL keeps."""
    before = target.precision - target.scale
    wide = source_cell.try_cast(t.DecimalType(_MOST_DIGITS, _MOST_DIGITS - before))
    digits = rf"^\s*[+-]?\d*\.\d{{{target.scale}}}\d*[1-9]\d*\s*$"
    return (wide != converted) | source_cell.cast("string").rlike(digits)


def _may_be_cut(source: t.DataType, target: t.DataType) -> bool:
    """Whether Spark's cast drops a part of a value without a word."""
    if isinstance(target, t.IntegralType):
        return isinstance(source, _FRACTIONS)
    return isinstance(target, t.DateType) and isinstance(source, _TIMES)
