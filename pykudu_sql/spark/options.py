"""The options of `format("pykudu")`, checked; Spark hands them over in lower case.

| option | for | what it does |
|---|---|---|
| path | both | the database directory, as `load(path)` and `save(path)` give it |
| table | both | its name |
| columns | read | names, with commas between; the others are not read |
| where | read | a condition in our SQL; rows that do not match it do not come |
| asOf | read | a timestamp, a hybrid timestamp, or the name of a snapshot |
| splitBytes | read | about so many bytes of the columns are read by one task, at most |
| tasks | read | that can run at once; no fewer read, unless there is little to be read |
| operation | write | insert, insert_ignore, upsert, update, update_ignore, delete, delete_ignore |
| writeId | write | a name of this write: done at most once, also if it is run again |

`stagingId` is between `tables.write_table` and the writer: who gives it commits the write itself.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import InvalidValueError, NotSupportedError, ProgrammingError

# As Spark does with files (`spark.sql.files.maxPartitionBytes`).
SPLIT_BYTES: Final = 128 << 20
MOST_TASKS: Final = 10_000
OPERATIONS: Final = tuple(kind.lower() for kind in RowOpKind)
# `serialization.format` is Spark's own, for views with USING.
_BOTH: Final = ("path", "table", "serialization.format")
_READ: Final = ("columns", "where", "asOf", "splitBytes", "tasks", "readChangeFeed")
_WRITE: Final = ("operation", "writeId", "stagingId", "checkpointLocation")
# Of the options of a table of its own catalog Spark makes a copy with this in front.
_OF_CATALOG: Final = "option."
# And these it gives instead of options that were not given.
_PROPERTIES: Final = ("owner", "location", "provider", "comment")
_VIEW: Final = (
    "CREATE TEMPORARY VIEW name USING pykudu OPTIONS (table 't', path '/data/my.db') keeps them, "
    "and takes INSERT INTO"
)
_SCHEME: Final = re.compile(r"^file:(//(?=/))?")
_LEAST_SPLIT: Final = 64 << 10


@dataclass(frozen=True, slots=True)
class TableLocation:
    """A table of a database. `path`: of the database directory; `table`: name, lower case."""

    path: str
    table: str

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "TableLocation":
        """The location that options name.

        Raises ProgrammingError: the table or the path is missing; NotSupportedError: both are, as
        of a table of Spark's own catalog.
        """
        path, table = options.get("path"), options.get("table")
        if not path and not table:
            raise NotSupportedError(
                "format 'pykudu' needs the options 'table' and 'path', which Spark's catalog does "
                "not keep of a table made by CREATE TABLE .. USING pykudu",
                hint=f"{_VIEW}; to read without a name: "
                'spark.read.format("pykudu").option("table", "t").load("/data/my.db")',
            )
        if not path or not table:
            missing = "table" if path else "path"
            raise ProgrammingError(
                f"format 'pykudu' needs the option '{missing}'",
                hint='spark.read.format("pykudu").option("table", "t").load("/data/my.db")',
            )
        return cls(_SCHEME.sub("", path), table.lower())


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What is to be read.

    Attributes:
        columns: names, or None for all.
        where: a condition, or None.
        as_of: the moment as the user wrote it, or None for now.
        split_bytes: for one task.
        tasks: that can run at once.
    """

    location: TableLocation
    columns: tuple[str, ...] | None
    where: str | None
    as_of: str | None
    split_bytes: int
    tasks: int

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "ReadOptions":
        """The options as Spark hands them over, names in lower case.

        Raises ProgrammingError: the table or the path is missing, or an option is none;
        InvalidValueError: a value does not fit.
        """
        check_names(options, _READ)
        split = options.get("splitbytes")
        return cls(
            TableLocation.of(options),
            names_option(options),
            options.get("where") or None,
            options.get("asof") or None,
            SPLIT_BYTES
            if split is None
            else max(_LEAST_SPLIT, natural_option(split, "splitBytes", "bytes")),
            tasks_option(options),
        )


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How rows are to be written.

    Attributes:
        write_id: a name under which the write happens once at most, or None.
        staging_id: of the folder of a write that the caller commits; None for one of its own.
        checkpoint: of a stream; None for a batch.
    """

    location: TableLocation
    operation: RowOpKind
    write_id: str | None = None
    staging_id: str | None = None
    checkpoint: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "WriteOptions":
        """The options as Spark hands them over, names in lower case.

        Raises ProgrammingError: the table or the path is missing, or an option is none;
        InvalidValueError: no such operation.
        """
        check_names(options, _WRITE)
        return cls(
            TableLocation.of(options),
            operation_of(options.get("operation", "insert")),
            options.get("writeid") or None,
            options.get("stagingid") or None,
            options.get("checkpointlocation") or None,
        )


def check_names(options: Mapping[str, str], supported: Sequence[str]) -> None:
    """See that there is no option that would be left unseen, such as one of another format.

    `options`: as Spark hands them over; `supported`: the options there are, as they are written.
    Raises ProgrammingError: there is one; NotSupportedError: they are of a table of Spark's own
    catalog.
    """
    if any(name.startswith(_OF_CATALOG) or name in _PROPERTIES for name in options):
        raise NotSupportedError(
            "Spark's catalog does not keep the options of a table made by CREATE TABLE .. USING "
            "pykudu, so it could not be read",
            hint=_VIEW,
        )
    names = {name.lower() for name in (*supported, *_BOTH)}
    for name in options:
        if name not in names:
            raise ProgrammingError(
                f"format 'pykudu' has no option '{name:.60}' here",
                hint="its options are " + ", ".join(("table", *supported)),
            )


def operation_of(text: str) -> RowOpKind:
    """The operation of a name such as `insert_ignore` or `insert-ignore`.

    Raises InvalidValueError: there is none of that name.
    """
    try:
        return RowOpKind(text.upper().replace("-", "_"))
    except ValueError as error:
        raise InvalidValueError(
            f"there is no operation '{text:.40}'", hint="choose one of " + ", ".join(OPERATIONS)
        ) from error


def names_option(options: Mapping[str, str]) -> tuple[str, ...] | None:
    """The names that the option `columns` gives; None when it is not given.

    Raises InvalidValueError: one is given twice.
    """
    columns = options.get("columns")
    if columns is None:
        return None
    return distinct_names([name.strip() for name in columns.split(",")])


def distinct_names(columns: Iterable[str]) -> tuple[str, ...]:
    """Names of columns as the catalog has them. Raises InvalidValueError: one is given twice."""
    names = tuple(name.lower() for name in columns)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidValueError(f"option 'columns' names '{twice:.80}' twice")
    return names


def tasks_option(options: Mapping[str, str]) -> int:
    """The value of the option `tasks`; as many as this host has processors if it is not given.

    Raises InvalidValueError: it is no number above 0.
    """
    tasks = options.get("tasks")
    if tasks is None:
        return os.cpu_count() or 1
    return min(MOST_TASKS, natural_option(tasks, "tasks", "tasks"))


def natural_option(text: str, name: str, unit: str) -> int:
    """The value of an option that is a number above 0.

    `text`: as it was given; `unit`: what is counted, for the message. Raises InvalidValueError: it
    is none.
    """
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise InvalidValueError(
            f"option '{name}' is {text!r:.40}, not a number of {unit}", hint=f"{name}=33554432"
        )
    return int(text)
