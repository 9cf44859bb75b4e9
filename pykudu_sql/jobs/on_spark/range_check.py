"""Whether range partitions cover a row, as an expression of Spark."""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as f

from pykudu_sql.spark.arrow.arrow_types import spark_type
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.common.partition.range_bound import Bound
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell, Kind

_WRITTEN = (Kind.DATE, Kind.UNIXTIME_MICROS)


def covered(table: TableInfo, cells: Mapping[int, Column]) -> Column | None:
    """Whether some range partition of a table covers a row; None if one covers every row.

    `cells`: of the row, by id, with the types of the table.
    """
    ids = table.partition_schema.range_column_ids
    if not ids or not cells.keys() >= set(ids):
        return None
    columns = [table.schema.by_id[i] for i in ids]
    cells_of_key = [cells[i] for i in ids]
    is_covered = f.lit(False)
    for span in table.partition_schema.covering_ranges:
        within = f.lit(True)
        if span.lower is not None:
            within = ~_below(cells_of_key, columns, span.lower)
        if span.upper is not None:
            within = within & _below(cells_of_key, columns, span.upper)
        is_covered = is_covered | within
    return is_covered


def _below(cells: list[Column], columns: list[ColumnSchema], bound: Bound) -> Column:
    """Whether cells come before those of a bound."""
    below = f.lit(False)
    for cell, column, limit in reversed(list(zip(cells, columns, bound, strict=True))):
        value = _literal(limit, column)
        below = (cell < value) | ((cell == value) & below)
    return below


def _literal(cell: Cell, column: ColumnSchema) -> Column:
    value = cells_to_array([cell], column.type)[0].as_py()
    # A time of Python's becomes a moment of its own time zone, a text becomes what it says.
    literal_value = str(value) if column.type.kind in _WRITTEN else value
    return f.lit(literal_value).cast(spark_type(column.type))
