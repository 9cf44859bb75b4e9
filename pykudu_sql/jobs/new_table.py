"""CREATE TABLE for files whose table does not exist yet: their columns, the user's key."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from pykudu_sql.jobs.source_files import CORRUPT
from pykudu_sql.planner.parse.lexer import quote_name
from pykudu_sql.storage.errors import InvalidSchemaError, UndefinedColumnError

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


@dataclass(frozen=True, slots=True)
class TableLayout:
    """What the files do not define of a table.

    Attributes:
        primary_key: column names, in key order.
        hashes: the text between HASH and a comma of PARTITION BY, such as `(id) PARTITIONS 4`.
        ranges: the text behind RANGE, such as `(day) (PARTITION VALUES < '2026-01-01')`, or None.
    """

    primary_key: tuple[str, ...]
    hashes: tuple[str, ...] = ()
    ranges: str | None = None


NO_LAYOUT: Final = TableLayout(())


def create_statement(table: str, rows: DataFrame, layout: TableLayout) -> str:
    """The CREATE TABLE statement for the columns of a DataFrame; the layout has a key.

    Raises InvalidSchemaError: a column's type is none of ours; UndefinedColumnError: the key names
    a column that the files do not have.
    """
    fields = {field.name.lower(): field.dataType for field in rows.schema if field.name != CORRUPT}
    for name in layout.primary_key:
        if name.lower() not in fields:
            raise UndefinedColumnError(
                f"the files have no column '{name:.80}' for the primary key",
                hint="their columns are " + ", ".join(fields),
            )
    key = {name.lower() for name in layout.primary_key}
    columns = [
        f"{quote_name(name)} {_sql_type(name, kind)}" + (" NOT NULL" if name in key else "")
        for name, kind in fields.items()
    ]
    columns.append(f"PRIMARY KEY ({', '.join(quote_name(n.lower()) for n in layout.primary_key)})")
    parts = [f"HASH {text}" for text in layout.hashes]
    if layout.ranges is not None:
        parts.append(f"RANGE {layout.ranges}")
    partitions = f" PARTITION BY {', '.join(parts)}" if parts else ""
    name = ".".join(map(quote_name, table.split(".")))
    return f"CREATE TABLE {name} ({', '.join(columns)}){partitions}"


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


def names_of(text: str) -> Sequence[str]:
    """The names in a text with commas between."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
