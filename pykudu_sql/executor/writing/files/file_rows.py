"""The rows of files as values of a table's columns; those that do not fit are reported.

A batch whose values all fit is converted column by column. Only when one does not are the rows at
fault looked for, by halving (`collecting`).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.files.file_access import PermittedFile
from pykudu_sql.files.formats import FileKind
from pykudu_sql.files.reading.column_rows import ColumnRows
from pykudu_sql.files.reading.csv_rows import CsvRows
from pykudu_sql.files.reading.json_rows import JsonRows
from pykudu_sql.files.reading.partitioned_rows import open_partitioned
from pykudu_sql.files.reading.row_files import FileBatch, RowFile
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.column_defaults import default_array
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import plain, stored_numbers
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Kind
from pykudu_sql.storage.errors import DataError, InterfaceError, UndefinedColumnError

_OPENERS: Mapping[str, type[CsvRows | JsonRows]] = {"csv": CsvRows, "json": JsonRows}

RowFault = DataError | InterfaceError
# Finds rows that cannot be converted: see `collecting.faults` and `first_fault`.
FindFaults = Callable[[int, Callable[[int, int], object]], Mapping[int, RowFault]]


@dataclass(frozen=True, slots=True)
class UnfitRow:
    """A row that does not fit.

    Attributes:
        record: its number in the file, from 0.
        error: why.
        cells: as the file has them, by column name; None where its record is no row.
        text: that record as a whole.
    """

    record: int
    error: RowFault | UndefinedColumnError
    cells: Mapping[str, object] | None
    text: str = ""

    def key(self, table: TableInfo) -> str:
        """The row's key as the file has it: `(id) = (x)`; empty where it is not known."""
        if self.cells is None:
            return ""
        texts = {name: _as_text(value) for name, value in self.cells.items()}
        key = [column.name for column in table.schema.key_columns if column.name in texts]
        return f"({', '.join(key)}) = ({', '.join(str(texts[name]) for name in key)})"

    def reject_text(self) -> str:
        """The row as JSON, or the text of a record that is no row."""
        return self.text if self.cells is None else json_row(self.cells)


def json_row(cells: Mapping[str, object]) -> str:
    """Cells as one JSON object; what JSON has no value for as text."""
    texts = {name: _as_text(value) for name, value in cells.items()}
    return json.dumps(texts, ensure_ascii=False, separators=(",", ":"), default=str)


def _as_text(value: object) -> object:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


Refuse = Callable[[UnfitRow], None]


@dataclass(frozen=True, slots=True)
class FittingRows:
    """Rows of a file that fit.

    `rows`: values by the names of the table's columns; `records`: the number of each in the file.
    """

    rows: pa.RecordBatch
    records: "np.ndarray[Any, np.dtype[np.int64]]"


def open_rows(
    file: PermittedFile,
    kind: FileKind,
    table: TableInfo,
    requested_columns: Sequence[ColumnSchema] | None,
) -> RowFile:
    """Open a file whose rows are for a table.

    `requested_columns`: None for all that the file has. Raises DataError: it is damaged;
    UndefinedColumnError, InvalidSchemaError: its columns are not those of the table.
    """
    opener = _OPENERS.get(kind.format, ColumnRows)
    if not file.partitions:
        return opener(file, kind, table, requested_columns)
    names_columns = kind.format != "json" and (kind.format != "csv" or kind.options.header)
    return open_partitioned(
        file, table, requested_columns, names_columns, lambda rest: opener(file, kind, table, rest)
    )


def fitting_rows(
    file: RowFile,
    find: FindFaults,
    time: StatementTime,
    cancel_check: Callable[[], None],
    refuse: Refuse,
) -> Iterator[FittingRows]:
    """All rows of a file that fit.

    Args:
        file: just opened.
        find: the faults of a batch, all or the first.
        time: of the statement, for defaults of what a row lacks.
        cancel_check: called for each batch; may raise.
        refuse: told each row that does not fit, by their order within a batch; may raise.

    Raises DataError: the file is damaged; or what `refuse` raises.
    """
    for batch in file.batches():
        cancel_check()
        yield _fitting(file, batch, find, time, refuse)


def _fitting(
    file: RowFile, batch: FileBatch, find: FindFaults, time: StatementTime, refuse: Refuse
) -> FittingRows:
    bad: Mapping[int, RowFault] = {}
    try:
        places = range(len(file.columns))
        arrays = [_values(file, batch, place, slice(None), time) for place in places]
    except DataError:
        bad = _bad_rows(file, batch, find, time)
        if not bad:
            raise
    unfit = [UnfitRow(one.record, one.error, None, one.text) for one in batch.torn]
    unfit += [
        UnfitRow(int(batch.records[row]), error, _cells(file, batch, row))
        for row, error in bad.items()
    ]
    for one in sorted(unfit, key=lambda each: each.record):
        refuse(one)
    if not bad:
        names = [column.name for column in file.columns]
        return FittingRows(pa.record_batch(arrays, names), batch.records)
    rows = np.setdiff1d(np.arange(len(batch.records)), np.fromiter(bad, np.int64, len(bad)))
    rows_array = pa.array(rows)
    rest = FileBatch(
        [array.take(rows_array) for array in batch.arrays],
        batch.records[rows],
        (),
        {place: mask.take(rows_array) for place, mask in batch.absent.items()},
    )
    return _fitting(file, rest, find, time, refuse)


def _values(
    file: RowFile, batch: FileBatch, place: int, rows: slice, time: StatementTime
) -> pa.Array:
    column = file.columns[place]
    values = plain(file.values(batch.arrays[place][rows], column))
    absent = batch.absent.get(place)
    if absent is None:
        return values
    default = plain(default_array(column, time, len(values)))
    if column.type.kind is Kind.DECIMAL and column.type.width < 16:
        # Arrow has no kernels for narrow decimals.
        numbers = (stored_numbers(each, column.type) for each in (default, values))
        return pc.if_else(absent[rows], *numbers).view(column.type.arrow)
    return pc.if_else(absent[rows], default, values)


def _bad_rows(
    file: RowFile, batch: FileBatch, find: FindFaults, time: StatementTime
) -> Mapping[int, RowFault]:
    bad: dict[int, RowFault] = {}
    for place in range(len(file.columns)):

        def attempt(start: int, stop: int, place: int = place) -> object:
            return _values(file, batch, place, slice(start, stop), time)

        for row, error in find(len(batch.records), attempt).items():
            bad.setdefault(row, error)
    return bad


def _cells(file: RowFile, batch: FileBatch, row: int) -> dict[str, object]:
    columns = zip(file.columns, batch.arrays, strict=True)
    return {column.name: array[row].as_py() for column, array in columns}
