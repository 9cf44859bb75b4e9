"""The rows of a table at one moment, to files, in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import pyarrow as pa

from pykudu_sql.database import Database
from pykudu_sql.dataclass import dataclass
from pykudu_sql.jobs.in_process.output_files import write_files
from pykudu_sql.jobs.in_process.reading import opened_to_read, session_of
from pykudu_sql.jobs.options import ExportOptions
from pykudu_sql.jobs.table_layout import quoted
from pykudu_sql.jobs.target_folder import atomic_folder
from pykudu_sql.planner.parse.lexer import quote_name
from pykudu_sql.spark.options import SPLIT_BYTES, ReadOptions, TableLocation, distinct_names
from pykudu_sql.spark.reading.read_plan import ReadPlanner
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, last_before
from pykudu_sql.storage.errors import Error, InternalError

_BATCH_ROWS: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class TableRows:
    """What is exported, planned: the table, its moment and the columns are known to be there.

    Attributes:
        database: open to be read.
        table: its name.
        columns: names.
        where: a condition that was checked, or None.
        bound: of the moment.
        size: bytes to be read, about.
    """

    database: Database
    table: str
    columns: tuple[str, ...]
    where: str | None
    bound: SnapshotBound
    size: int

    @classmethod
    @contextmanager
    def planned(cls, path: str, table: str, options: ExportOptions) -> Iterator["TableRows"]:
        """Plan the export of a table; the files that it reads stay for as long.

        Raises Error: there is no such table, column or moment, or the condition is none.
        """
        names = None if options.columns is None else distinct_names(options.columns)
        read = ReadOptions(
            TableLocation(path, table.lower()), names, options.where, options.as_of, SPLIT_BYTES, 1
        )
        with opened_to_read(path) as database:
            planner = ReadPlanner(database, read)
            columns = planner.columns()
            with planner.plan(columns).leased() as plan:
                column_names = tuple(column.name for column in columns)
                yield cls(database, table, column_names, options.where, planner.bound, plan.size)

    @contextmanager
    def stream(self) -> Iterator[pa.RecordBatchReader]:
        """The rows, computed while they are read."""
        columns = ", ".join(map(quote_name, self.columns))
        # A comment at the end of the condition is not to swallow the parenthesis.
        condition = "" if self.where is None else f" WHERE (\n{self.where}\n)"
        moment = f"FOR SYSTEM_TIME AS OF {last_before(self.bound)}"
        with _located_in_condition(), session_of(self.database) as session:
            outcome = session.execute(
                f"SELECT {columns} FROM {quoted(self.table.lower())} {moment}{condition}"
            )
            if outcome.result is None:
                raise InternalError("a SELECT had no result")
            yield outcome.result.read_batches(_BATCH_ROWS)


@contextmanager
def _located_in_condition() -> Iterator[None]:
    """Errors of the query show their place in the condition, which begins in its second line.

    Raises Error: as it was raised inside.
    """
    try:
        yield
    except Error as error:
        place = error.position
        if place is not None:
            error.position = replace(place, line=place.line - 1) if place.line > 1 else None
        raise


def write_rows(rows: TableRows, target: Path, options: ExportOptions) -> tuple[int, int]:
    """Write rows to a folder, which appears or is replaced when all are there.

    `rows`: planned; `target`: the folder; `options`: how they are written. Returns how many rows
    there were, and bytes of the files.
    """
    with rows.stream() as reader, atomic_folder(target) as folder:
        return write_files(
            reader, reader.schema, folder, options.file_format, options.writer, options.progress
        )
