"""Rows of files against a table, in tasks: what a load in one process does with them.

Values are read by `files`, and the rules are those of storage; so a row gets in, or is refused for
the same reason, whoever loads it. Only keys are left to `key_check`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import types as t

from pykudu_sql.dataclass import dataclass
from pykudu_sql.executor.writing.collecting import faults
from pykudu_sql.executor.writing.files.file_rows import (
    FittingRows,
    UnfitRow,
    fitting_rows,
    json_row,
)
from pykudu_sql.files.reading.row_files import TORN, RowFile
from pykudu_sql.jobs.rejects import BROKEN, NO_VALUE, rule_reason
from pykudu_sql.spark.arrow.arrow_types import spark_type
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.column_defaults import default_array
from pykudu_sql.storage.common.rows.row_operation import RowOperations
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import DatabaseError
from pykudu_sql.storage.ingest.row_batch import RowBatch, complete
from pykudu_sql.storage.ingest.staging import StageTarget
from pykudu_sql.storage.ingest.validation import Violation, validate, validate_keys

# Columns behind those of the table: the reason why a row is not loaded, and where it stands.
KIND: Final = "_pykudu_kind"
REASON: Final = "_pykudu_reason"
SOURCE: Final = "_pykudu_source"
FILE: Final = "_pykudu_file"
START: Final = "_pykudu_block_start"
NUMBER: Final = "_pykudu_number"
LOCATION: Final = (FILE, START, NUMBER)

Records = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RowCheck:
    """The check of rows for one load. Small, and pickled to tasks.

    `target`: a `StageTarget` as JSON; `column_ids`: of the table's columns that rows have.
    """

    target: str
    column_ids: tuple[int, ...]

    @classmethod
    def of(cls, target: StageTarget, columns: list[ColumnSchema]) -> "RowCheck":
        """The check of rows that have some columns.

        Raises NotNullError, ProgrammingError, ValueOutOfRangeError: see `StageTarget.check`.
        """
        column_ids = tuple(column.id for column in columns)
        target.check(column_ids)
        return cls(json.dumps(target.to_json()), column_ids)

    def read_target(self) -> StageTarget:
        """The table, and what is done with the rows."""
        return StageTarget.from_json(json.loads(self.target))

    def schema(self, table: TableInfo) -> t.StructType:
        """Of checked rows: a column `c0`, `c1` for each of the table's, and those named above."""
        columns = [table.schema.by_id[i] for i in self.column_ids]
        cells = [
            t.StructField(f"c{n}", spark_type(column.type)) for n, column in enumerate(columns)
        ]
        texts = [t.StructField(name, t.StringType()) for name in (KIND, REASON, SOURCE, FILE)]
        numbers = [t.StructField(name, t.LongType()) for name in (START, NUMBER)]
        return t.StructType([*cells, *texts, *numbers])

    def checked(self, rows: RowFile, target: StageTarget) -> Iterator[tuple[Records, pa.Table]]:
        """All rows of a file, batch by batch: their numbers, their cells and why they do not fit.

        `target`: as `read_target` gives it. A cell that does not fit is NULL. Raises DataError: the
        file is damaged.
        """
        unfit: list[UnfitRow] = []
        time = target.statement_time()
        for fitting in fitting_rows(rows, faults, time, lambda: None, unfit.append):
            yield self._checked(target, fitting, unfit)
            unfit.clear()

    def _checked(
        self, target: StageTarget, fitting: FittingRows, unfit: list[UnfitRow]
    ) -> tuple[Records, pa.Table]:
        table, count = target.table, fitting.rows.num_rows
        time = target.statement_time()
        columns = {
            table.schema.by_name[name].id: plain(values)
            for name, values in zip(fitting.rows.schema.names, fitting.rows.columns, strict=True)
        }
        reasons: list[tuple[str, str, str]] = []
        refused = _refused(target, columns, count)
        for row, error in refused.items():
            kind, reason = rule_reason(table, columns, row, error)
            (cells,) = fitting.rows.slice(row, 1).to_pylist()
            reasons.append((kind, reason, json_row(cells)))
        reasons += [_unfit_reason(one) for one in unfit]
        places = np.append(np.fromiter(refused, np.int64), np.arange(count, count + len(unfit)))
        arrays = [
            _spark_array(table.schema.by_id[i], columns.get(i), time, count, len(unfit))
            for i in self.column_ids
        ]
        texts = [_placed([one[n] for one in reasons], places, count + len(unfit)) for n in range(3)]
        names = [*(f"c{n}" for n in range(len(arrays))), KIND, REASON, SOURCE]
        records = np.array([one.record for one in unfit], np.int64)
        numbers: Records = np.concatenate([fitting.records, records])
        return numbers, pa.table([*arrays, *texts], names=names)


def _placed(texts: list[str], places: Records, count: int) -> pa.Array:
    """Texts at distinct places among so many; all others are NULL."""
    index = np.zeros(count, np.int64)
    index[places] = np.arange(len(texts))
    absent = np.ones(count, np.bool_)
    absent[places] = False
    return pa.array(texts, pa.string()).take(pa.array(index, mask=absent))


def located(rows: pa.Table, file: pa.Array, start: pa.Array, numbers: Records) -> pa.RecordBatch:
    """Checked rows as Spark takes them. The others are their `LOCATION`."""
    location = (file, start, pa.array(numbers, pa.int64()))
    for name, values in zip(LOCATION, location, strict=True):
        rows = rows.append_column(name, values)
    (batch,) = rows.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], rows.schema)]
    return batch


def _refused(
    target: StageTarget, columns: Mapping[int, pa.Array], count: int
) -> Mapping[int, DatabaseError]:
    """The rows that the rules of a table refuse, by index, and why."""
    errors: dict[int, DatabaseError] = {}

    def refuse(batch: RowBatch, violation: Violation) -> RowBatch:
        for row in np.flatnonzero(violation.mask).tolist():
            errors[int(batch.positions[row])] = violation.reason(row)
        return batch.take(np.flatnonzero(~violation.mask))

    if count:
        operations = RowOperations(target.kind, target.with_counter(columns, count), count)
        batch = complete(target.table, operations, target.statement_time())
        validate_keys(validate(batch, refuse), refuse)
    return errors


def _unfit_reason(row: UnfitRow) -> tuple[str, str, str]:
    """Of a row that is none, or has a value that does not fit."""
    is_torn = row.error.sqlstate == TORN
    reason = ("the line cannot be taken apart: " if is_torn else "") + row.error.message
    return (BROKEN if row.cells is None else NO_VALUE), reason, row.reject_text()


def _spark_array(
    column: ColumnSchema, values: pa.Array | None, time: StatementTime, count: int, more: int
) -> pa.ChunkedArray:
    """A column of a batch, with NULL in some rows more; its default where the file has it not."""
    cells = default_array(column, time, count) if values is None else values
    kind = column.type.arrow
    if pa.types.is_decimal(kind):
        kind = pa.decimal128(column.type.precision, column.type.scale)
    return pa.chunked_array([plain(cells).cast(kind), pa.nulls(more, kind)])
