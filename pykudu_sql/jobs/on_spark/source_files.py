"""Files as DataFrames of Spark's readers: CSV, JSON, Parquet, ORC, recognised by their names.

Where the table is known, text is read as text and converted by `row_check`, which can say of each
row why it does not fit; Spark's own readers put NULL in the place of what they cannot read. In CSV
an empty cell is NULL, a quoted one the empty string.

Columns go by their names, in every file: Parquet and ORC files may have different ones, CSV files
whose headers differ are an error.
"""

import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from pykudu_sql.files.formats import named_format
from pykudu_sql.jobs.on_spark.row_check import FILE, NUMBER, START
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import InvalidValueError, OperationalError

FORMATS: Final = ("csv", "parquet", "json", "orc")
TYPED: Final = ("parquet", "orc")
CORRUPT: Final = "_pykudu_corrupt_record"

_PACKED: Final = (".gz", ".bz2", ".zst", ".snappy", ".lz4")
_GLOB: Final = re.compile(r"[\\*?\[\]{}]")
_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_LOCAL_SCHEME: Final = re.compile(r"^file:(//(?=/))?")
_SCHEME: Final = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:")
# Spark confuses a quoted empty cell with one that has the text of `nullValue`: no cell has this.
_NO_CELL: Final = "\0no cell\0"
_CSV: Final = {"header": "true", "escape": '"', "multiLine": "true", "nullValue": _NO_CELL}
_TEXT: Final = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
_DEFAULTS: Final[Mapping[str, Mapping[str, str]]] = {
    "csv": {**_CSV, **_TEXT, "enforceSchema": "false"},
    "json": _TEXT,
    "parquet": {"mergeSchema": "true"},
    "orc": {"mergeSchema": "true"},
}


def format_of(sources: Sequence[str]) -> str:
    """The one format that the names of files imply.

    Raises InvalidValueError: they imply none, or several.
    """
    by_source = {source: named_format(source, _PACKED) for source in sources}
    unrecognized = [source for source, one in by_source.items() if one not in FORMATS]
    if unrecognized:
        raise InvalidValueError(
            f"the name '{unrecognized[0]:.200}' does not say the format of the file",
            hint="say --format " + "|".join(FORMATS),
        )
    formats = sorted(set(by_source.values()))
    if len(formats) > 1:
        raise InvalidValueError(
            f"the files are of several formats: {', '.join(formats)}",
            hint="load those of each format by themselves, or say which it is: --format",
        )
    return formats[0]


def check_present(sources: Sequence[str], conf: Mapping[str, str]) -> None:
    """See that each source on this host is there, as far as that can be seen without Spark.

    Sources elsewhere are Spark's to find: those of another scheme, and those without one where
    Hadoop is configured, for it may say that they lie in another file system. `sources`: paths,
    folders or globs. Raises OperationalError: one is not, or a glob has no match.
    """
    is_configured = "HADOOP_CONF_DIR" in os.environ or "spark.hadoop.fs.defaultFS" in conf
    for source in sources:
        path = _LOCAL_SCHEME.sub("", source)
        if path == source and (is_configured or _SCHEME.match(source)):
            continue
        if not os.path.lexists(path) and not _matches(path):
            raise OperationalError(f"no file matches '{source:.200}'", sqlstate="58P01")


def _matches(pattern: str) -> bool:
    """Whether a glob of Hadoop's has a match; one with an escape is taken to have."""
    return "\\" in pattern or any(
        next(glob.iglob(one.replace("[^", "[!"), include_hidden=True), None) is not None
        for one in _alternatives(pattern)
    )


def _alternatives(pattern: str) -> Iterator[str]:
    """The globs without braces that one with braces expands to."""
    braces = _BRACES.search(pattern)
    if braces is None:
        yield pattern
        return
    for part in braces[1].split(","):
        yield from _alternatives(pattern[: braces.start()] + part + pattern[braces.end() :])


def _suffix(source: str) -> str:
    name = source.lower()
    for suffix in _PACKED:
        name = name.removesuffix(suffix)
    return name.rpartition(".")[2]


def read_files(
    spark: SparkSession,
    sources: Sequence[str],
    file_format: str,
    columns: Sequence[ColumnSchema] | None,
    options: Mapping[str, str],
) -> DataFrame:
    """The rows of files. Rows of text that cannot be taken apart have `CORRUPT` set.

    Where the table is known, the `LOCATION` of rows are columns, too: the file, the block of that,
    and a number that grows by 1 from row to row within a block, and from each block to the next.

    Args:
        sources: paths, folders or globs.
        file_format: one of `FORMATS`.
        columns: of the table, when it is known: text is then read as text. None infers types.
        options: of Spark's reader, over the defaults here.

    Raises InvalidValueError: files without a header have more columns than the table; or the name
    of a CSV file looks like a glob.
    """
    paths = [_literal(source, file_format) for source in sources]
    reader_options = _options(file_format, sources, options)
    if file_format in TYPED:
        typed = spark.read.format(file_format).options(**reader_options).load(paths)
        return typed if columns is None else _placed(typed)
    if columns is None:
        inferring = {**reader_options, "inferschema": "true", "preferdate": "true"}
        return spark.read.format(file_format).options(**inferring).load(paths)
    names = _own_names(spark, paths, file_format, columns, reader_options)
    fields = [t.StructField(name, t.StringType()) for name in (*names, CORRUPT)]
    reader = spark.read.format(file_format).schema(t.StructType(fields))
    return _placed(reader.options(**reader_options).load(paths))


def _placed(rows: DataFrame) -> DataFrame:
    """The rows of a reader with their `LOCATION`, which Spark gives only right above it."""
    own = f.col("_metadata")
    number = f.monotonically_increasing_id()
    location = {FILE: own["file_path"], START: own["file_block_start"], NUMBER: number}
    return rows.withColumns(location)


def _literal(source: str, file_format: str) -> str:
    """A source as Spark takes it: a file whose name looks like a glob is that file."""
    if not os.path.lexists(source) or not _GLOB.search(source):
        return source
    if file_format == "csv":
        raise InvalidValueError(
            f"Spark takes the name '{source:.200}' for a glob", hint="rename the file"
        )
    return _GLOB.sub(r"\\\g<0>", source)


def _options(
    file_format: str, sources: Sequence[str], options: Mapping[str, str]
) -> dict[str, str]:
    """Options of a reader, names in lower case: defaults, overridden by the user's."""
    defaults = dict(_DEFAULTS[file_format])
    if file_format == "csv" and all(_suffix(source) == "tsv" for source in sources):
        defaults["sep"] = "\t"
    if "delimiter" in map(str.lower, options):
        defaults.pop("sep", None)
    return {name.lower(): value for each in (defaults, options) for name, value in each.items()}


def _own_names(
    spark: SparkSession,
    paths: Sequence[str],
    file_format: str,
    columns: Sequence[ColumnSchema],
    options: Mapping[str, str],
) -> Sequence[str]:
    """The columns that text files have, in their order and spelling; the table's if they are empty.

    Raises InvalidValueError: there is no header, and more columns than the table has.
    """
    names = [column.name for column in columns]
    plain = {name: value for name, value in options.items() if name != "mode"}
    if file_format == "json":
        # All lines are looked at, for any may have a column that no other has.
        plain["primitivesasstring"] = "true"
    headers = [
        name
        for name in spark.read.format(file_format).options(**plain).load(list(paths)).columns
        if name != CORRUPT
    ]
    if file_format == "csv" and options["header"].lower() == "false":
        if len(headers) > len(names):
            raise InvalidValueError(
                f"the files have {len(headers)} columns, the table has {len(names)}",
                hint="without a header, columns are those of the table, in its order",
            )
        return names[: len(headers)]
    return headers or names
