"""Rows that Spark's own readers take from files, checked like those that our readers take.

For what only Spark reads: files of other file systems, and options of its readers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t

from pykudu_sql.dataclass import dataclass
from pykudu_sql.files.reading.row_files import FileBatch, torn_row
from pykudu_sql.files.reading.text_values import read_texts
from pykudu_sql.files.reading.typed_values import read_values
from pykudu_sql.jobs.on_spark.row_check import LOCATION, RowCheck, located
from pykudu_sql.jobs.on_spark.source_files import CORRUPT, TYPED
from pykudu_sql.spark.arrow.conversions import check_type
from pykudu_sql.spark.arrow.named_column import cell
from pykudu_sql.spark.reading.token_frame import mapped_in_arrow
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import InvalidSchemaError, UndefinedColumnError

_NESTED = (t.ArrayType, t.MapType, t.StructType, t.VariantType)


@dataclass(slots=True)
class ReaderRows:
    """A batch of Spark's as rows of a file; a `RowFile`.

    Attributes:
        columns: of the table, that its first columns fill.
        file_format: of the files.
        batch: those columns, and then the text of a line that could not be taken apart.
        torn: whether it has that.
        count: records, once they are read.
    """

    columns: Sequence[ColumnSchema]
    file_format: str
    batch: pa.RecordBatch
    torn: bool
    count: int = 0
    bytes_read: int = field(default=0)

    def batches(self) -> Iterator[FileBatch]:
        self.count = self.batch.num_rows
        records = np.arange(self.count)
        if not self.torn:
            yield FileBatch(self.batch.columns, records)
            return
        texts = self.batch.column(len(self.columns))
        is_torn = texts.is_valid().to_numpy(zero_copy_only=False)
        whole = np.flatnonzero(~is_torn)
        yield FileBatch(
            [self.batch.column(n).take(pa.array(whole)) for n in range(len(self.columns))],
            whole,
            [
                torn_row(int(row), "Spark finds no row in it", str(texts[row]))
                for row in np.flatnonzero(is_torn)
            ],
        )

    def values(self, array: pa.Array, column: ColumnSchema) -> pa.Array:
        if self.file_format in TYPED:
            return read_values(array, column)
        return read_texts(array, column, blank_is_null=self.file_format == "csv")

    def lines(self, records: Sequence[int]) -> Mapping[int, int]:
        return {}

    def close(self) -> None:
        """Nothing is open."""


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
        if one.name in (CORRUPT, *LOCATION):
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


def checked_rows(
    rows: DataFrame,
    file_format: str,
    columns: Sequence[ColumnSchema],
    check: RowCheck,
    table: TableInfo,
) -> DataFrame:
    """Rows of Spark's readers, checked. See `RowCheck.schema`.

    `columns`: of the table, that the rows have.
    """
    torn = CORRUPT in rows.columns
    names = [name for name in rows.columns if name not in (CORRUPT, *LOCATION)]
    cells = [_as_sent(rows, name).alias(f"c{n}") for n, name in enumerate(names)]
    others = [cell(name) for name in ((CORRUPT,) if torn else ()) + LOCATION]
    width = len(cells) + torn

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        target = check.read_target()
        for batch in batches:
            own = ReaderRows(columns, file_format, batch.select(range(width)), torn)
            file, start, number = (batch.column(width + n) for n in range(len(LOCATION)))
            for records, values in check.checked(own, target):
                at = pa.array(records, pa.int64())
                numbers = number.take(at).to_numpy()
                yield located(values, file.take(at), start.take(at), numbers)

    sent = rows.select(*cells, *others)
    return mapped_in_arrow(sent, read, check.schema(table), "rows of files")


def _as_sent(rows: DataFrame, name: str) -> Column:
    """A column as tasks get it: moments as times of UTC, which ours are."""
    kind = rows.schema[name].dataType
    if isinstance(kind, t.TimestampType):
        return f.to_utc_timestamp(cell(name), f.current_timezone()).cast("timestamp_ntz")
    return cell(name)
