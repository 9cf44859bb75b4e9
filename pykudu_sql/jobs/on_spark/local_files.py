"""Files that tasks read as a load in one process does: all but those that only Spark reads.

A large file is read in parts where that can be done: JSON by lines, Parquet by row groups. A row's
number is that of its file times 2**44, and its place there: of its part, and within that.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from pykudu_sql.dataclass import dataclass
from pykudu_sql.files.formats import named_format
from pykudu_sql.files.reading.json_array import begins_array
from pykudu_sql.files.reading.source_stream import lines_before
from pykudu_sql.jobs.in_process.source_files import (
    SourceFile,
    find_files,
    json_keys,
    spark_only_feature,
    with_keys,
)
from pykudu_sql.jobs.on_spark.row_check import RowCheck, located
from pykudu_sql.jobs.options import LoadOptions
from pykudu_sql.spark.reading.token_frame import mapped_in_arrow, parallelism
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import InvalidSchemaError
from pykudu_sql.storage.ingest.staging import StageTarget

PART_BYTES: Final = 128 << 20
PLACE_BITS: Final = 44
_SPARK_PACKED: Final = (".bz2", ".snappy", ".lz4", ".deflate")
_SPARK_GLOB: Final = re.compile(r"[{}\\]|\[\^")
_TASKS_PER_PROCESSOR: Final = 4


@dataclass(frozen=True, slots=True)
class Part:
    """What one task reads at a time.

    `source`: the file, with the span of this part; `number`: of its first row; `start`: the place
    in the file, by which numbers count.
    """

    source: SourceFile
    number: int
    start: int


def local_files(
    database: str, sources: Sequence[str], options: LoadOptions
) -> Sequence[SourceFile] | None:
    """The files of a load, if they are read here as by a load in one process; None if by Spark.

    Raises Error: see `find_files`.
    """
    is_elsewhere = "HADOOP_CONF_DIR" in os.environ or "spark.hadoop.fs.defaultFS" in options.conf
    if is_elsewhere or spark_only_feature(sources, options.reader) is not None:
        return None
    if any(_SPARK_GLOB.search(one) and not os.path.lexists(one) for one in sources):
        return None
    if options.file_format is None and any(
        named_format(one, ()) in [packed[1:] for packed in _SPARK_PACKED] for one in sources
    ):
        return None
    files = find_files(database, sources, options.file_format, options.reader)
    if any(one.file.path.lower().endswith(_SPARK_PACKED) for one in files):
        return None
    return files


def keyed_files(
    spark: SparkSession, files: Sequence[SourceFile], table: TableInfo, kind: RowOpKind
) -> Sequence[SourceFile]:
    """Files of JSON with the keys of their objects, where columns that none has are left alone.

    `kind`: what is done with the rows. Raises DataError: see `json_keys`.
    """
    if kind.numbers or files[0].kind.format != "json":
        return files
    parts = [part.source for number, one in enumerate(files) for part in _parts(one, number)]
    tasks = spark.sparkContext.parallelize(parts, len(parts))
    return with_keys(files, table, tasks.map(lambda one: json_keys(one, table)).collect())


def columns_of(
    files: Sequence[SourceFile], table: TableInfo, kind: RowOpKind
) -> list[ColumnSchema]:
    """The columns of a table that files have, in the order in which they come; none if no file has.

    `kind`: what is done with the rows. Raises DataError: a file is damaged; UndefinedColumnError:
    it has a column that the table has not; InvalidSchemaError: the columns do not fit, or are not
    the same in all files, and rows that are there would keep what a file has not.
    """
    columns: dict[int, ColumnSchema] = {}
    for one in files:
        if one.is_empty:
            continue
        with closing(one.open(table)) as rows:
            own = {column.id: column for column in rows.columns}
        if columns and columns.keys() != own.keys() and not kind.numbers:
            raise InvalidSchemaError(
                f"the files have different columns, and '{one.file.name:.200}' is to leave others "
                "alone than those before",
                hint="load those with the same columns by themselves, or with --engine local",
            )
        columns |= own
    return list(columns.values())


def checked_files(
    spark: SparkSession, files: Sequence[SourceFile], check: RowCheck, table: TableInfo
) -> DataFrame:
    """The rows of files, checked. See `RowCheck.schema`."""
    parts = [part for number, one in enumerate(files) for part in _parts(one, number)]

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        target = check.read_target()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from _checked_part(parts[number], check, target)

    most = max(_TASKS_PER_PROCESSOR * parallelism(spark), _bytes(files) // PART_BYTES)
    numbers = spark.range(0, len(parts), 1, max(1, min(len(parts), most)))
    return mapped_in_arrow(numbers, read, check.schema(table), "rows of files")


def _checked_part(part: Part, check: RowCheck, target: StageTarget) -> Iterator[pa.RecordBatch]:
    source = part.source
    if source.is_empty:
        return
    with closing(source.open(target.table)) as rows:
        for records, cells in check.checked(rows, target):
            count = len(records)
            file = pa.repeat(pa.scalar(source.file.path, pa.string()), count)
            start = pa.repeat(pa.scalar(part.start, pa.int64()), count)
            yield located(cells, file, start, part.number + records)


def _parts(source: SourceFile, number: int) -> Iterator[Part]:
    """A file as the parts that tasks read. `number`: of the file."""
    for span, place in _spans(source):
        first = (number << PLACE_BITS) + place
        yield Part(replace(source, file=replace(source.file, span=span)), first, place)


def _spans(source: SourceFile) -> Iterator[tuple[tuple[int, int] | None, int]]:
    """The parts of a file, see `PermittedFile.span`, and the place of each in it."""
    size = source.file.size
    if size > PART_BYTES and source.kind.format == "json" and not _is_one_piece(source):
        for start in range(0, size, PART_BYTES):
            yield (start, min(start + PART_BYTES, size)), start
    elif size > PART_BYTES and source.kind.format == "parquet":
        yield from _row_groups(source.file.path)
    else:
        yield None, 0


def _is_one_piece(source: SourceFile) -> bool:
    """Whether a file of JSON is packed, or one array."""
    if source.kind.compression != "none":
        return True
    with open(source.file.path, "rb") as file:
        return begins_array(file.read(1 << 16))


def _row_groups(path: str) -> Iterator[tuple[tuple[int, int], int]]:
    from pyarrow.parquet import read_metadata

    metadata = read_metadata(path)
    first = rows = before = size = 0
    for group in range(metadata.num_row_groups):
        size += metadata.row_group(group).total_byte_size
        rows += metadata.row_group(group).num_rows
        if size >= PART_BYTES or group == metadata.num_row_groups - 1:
            yield (first, group + 1), before
            first, before, size = group + 1, rows, 0


def first_record(source: SourceFile, start: int) -> int:
    """The number within its file, from 0, of the first row of a part. `start`: of its `LOCATION`.

    Raises OSError: the file is there no more.
    """
    if source.kind.format == "json" and start:
        return lines_before(source.file.path, start)
    return start


def lines_of_records(
    source: SourceFile, table: TableInfo, records: Sequence[int]
) -> Mapping[int, int]:
    """The lines at which records begin, as far as they can be determined; reads up to the last."""
    if not source.kind.is_text:
        return {}
    with closing(source.open(table)) as rows:
        last = max(records)
        for _ in rows.batches():
            if rows.count > last:
                break
        return rows.lines(records)


def _bytes(files: Sequence[SourceFile]) -> int:
    return sum(one.file.size for one in files)
