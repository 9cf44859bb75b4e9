"""Files as DataFrames: CSV, JSON, Parquet, ORC, told apart by their names.

Where the table is known, text is read as text and converted by `row_check`, which can say of each
row why it does not fit; Spark's own readers put NULL in the place of what they cannot read.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as t

from pykudu_sql.storage.errors import InvalidValueError

FORMATS: Final = ("csv", "parquet", "json", "orc")
CORRUPT: Final = "_corrupt_record"

_SUFFIXES: Final = {"tsv": "csv", "jsonl": "json", "ndjson": "json", "pq": "parquet"}
_PACKED: Final = (".gz", ".bz2", ".zst", ".snappy", ".lz4")


def format_of(source: str) -> str:
    """The format that a file's name tells.

    Raises:
        InvalidValueError: it tells none.
    """
    name = source.lower()
    for suffix in _PACKED:
        name = name.removesuffix(suffix)
    suffix = name.rpartition(".")[2]
    found = _SUFFIXES.get(suffix, suffix)
    if found not in FORMATS:
        raise InvalidValueError(
            f"the name '{source:.200}' does not tell the format of the file",
            hint="say --format " + "|".join(FORMATS),
        )
    return found


def read_files(
    spark: SparkSession,
    sources: Sequence[str],
    file_format: str,
    columns: Sequence[str] | None,
    options: Mapping[str, str],
) -> DataFrame:
    """The rows of files. Rows of text that cannot be taken apart have `CORRUPT` set.

    Args:
        spark: the session.
        sources: paths, folders or globs.
        file_format: one of `FORMATS`.
        columns: of text files, when they are known: all are then read as text. None infers types.
        options: of Spark's reader, over the defaults here.
    """
    reader = spark.read.format(file_format)
    if file_format == "csv":
        reader = reader.options(header="true", escape='"', multiLine="true")
    if file_format in ("csv", "json"):
        reader = reader.options(mode="PERMISSIVE", columnNameOfCorruptRecord=CORRUPT)
        if columns is None:
            reader = reader.options(inferSchema="true", preferDate="true")
    reader = reader.options(**options)
    if columns is not None and file_format in ("csv", "json"):
        names = _csv_header(spark, sources, options) if file_format == "csv" else columns
        fields = [t.StructField(name, t.StringType()) for name in (*names, CORRUPT)]
        reader = reader.schema(t.StructType(fields))
    return reader.load(list(sources))


def _csv_header(
    spark: SparkSession, sources: Sequence[str], options: Mapping[str, str]
) -> Sequence[str]:
    """The columns of CSV files in their own order."""
    header = spark.read.options(header="true", escape='"', multiLine="true", **options)
    return header.csv(list(sources)).columns
