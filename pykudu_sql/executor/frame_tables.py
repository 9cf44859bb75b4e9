"""Frames of the program as tables that its queries read.

What is in memory is taken as it is at that moment: pandas frames, whose cells may change, are
copied, and so are numpy's arrays; Arrow tables and polars frames never change and are shared.
Lazy frames and datasets are read anew by each statement, batch by batch; a reader can be read once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any

import pyarrow as pa

from pykudu_sql.executor.frames import arrow_of, check_columns
from pykudu_sql.files.inferred_table import schema_columns
from pykudu_sql.files.reading.typed_values import read_values
from pykudu_sql.planner.plan.frame_table import FrameTable, frame_table
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import InvalidSchemaError, OperationalError

_ROWS_SUPPOSED = 1_000_000  # of what does not say
_BATCH_ROWS = 65_536
Open = Callable[[Sequence[str]], Iterator[pa.RecordBatch]]


class StreamedFrame:
    """Rows that each reading asks their source for; see `FrameRows`."""

    def __init__(
        self,
        columns: Sequence[ColumnSchema],
        sources: Sequence[str],
        row_count: int,
        opened: Open,
        is_read_once: bool = False,
    ) -> None:
        """Nothing is read yet.

        Args:
            columns: of the table.
            sources: what the source calls them.
            row_count: about how many rows there are.
            opened: begins a reading of the columns of some names.
            is_read_once: whether it does so only once.
        """
        self.schema = pa.schema([column.field for column in columns])
        self.row_count = row_count
        self.is_read_once = is_read_once
        self._columns = columns
        self._sources = sources
        self._opened = opened

    def batches(self, columns: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """See `FrameRows`. Raises DataError: a value is none of its column's type."""
        requested_columns = [self._columns[place] for place in columns]
        for batch in self._opened([self._sources[place] for place in columns]):
            yield _converted(batch, requested_columns)


def frame_of(name: str, data: Any) -> FrameTable:
    """A frame as a table.

    Args:
        name: by which queries read it, lower case.
        data: an Arrow table, batch, reader or dataset, a pandas or polars frame (lazy ones too), a
            dict of columns, a list of dicts, or anything with `__arrow_c_stream__`.

    Raises InterfaceError: it is none of these; InvalidSchemaError: a column has no name or is
    there twice, or none is of a type that tables have; DataError: a value is none of its column's
    type.
    """
    if _is_dataset(data):
        rows = _rows_of_dataset(data)
        return _streamed(name, data.schema, rows, partial(_dataset_batches, data))
    if _is_lazy(data):
        schema = data.head(0).collect().to_arrow().schema
        return _streamed(name, schema, _ROWS_SUPPOSED, partial(_lazy_batches, data))
    if isinstance(data, pa.RecordBatchReader):
        once = _Once(name, data)
        return _streamed(name, data.schema, _ROWS_SUPPOSED, once.batches, is_read_once=True)
    materialized = arrow_of(_copied(data))
    table = (
        materialized.read_all() if isinstance(materialized, pa.RecordBatchReader) else materialized
    )
    unreadable = _unreadable(table.schema)
    for place in unreadable:
        texts = pa.nulls(len(table), pa.string())  # that nobody reads
        table = table.set_column(place, table.schema.names[place], texts)
    columns = _columns(table.schema)
    batches = [_converted(batch, columns) for batch in table.to_batches()]
    schema = pa.schema([column.field for column in columns])
    return frame_table(name, columns, pa.Table.from_batches(batches, schema), unreadable)


def is_frame(data: object) -> bool:
    """Whether an object that somebody has named is meant as rows, not a value of another kind."""
    if isinstance(data, pa.Table | pa.RecordBatch | pa.RecordBatchReader) or _is_dataset(data):
        return True
    if isinstance(data, list):
        return bool(data) and all(isinstance(row, Mapping) for row in data)
    kind = type(data)
    library = kind.__module__.partition(".")[0]
    return library in ("pandas", "polars") and kind.__name__ in ("DataFrame", "LazyFrame")


def _streamed(
    name: str, schema: pa.Schema, row_count: int, opened: Open, *, is_read_once: bool = False
) -> FrameTable:
    unreadable = _unreadable(schema)
    for place in unreadable:
        schema = schema.set(place, pa.field(schema.names[place], pa.string()))
    columns = _columns(schema)
    rows = StreamedFrame(columns, schema.names, row_count, opened, is_read_once)
    return frame_table(name, columns, rows, unreadable)


def _unreadable(schema: pa.Schema) -> Mapping[int, str]:
    """What the columns are that no table has a type for, by their places; unless all are so."""
    types = {}
    for place, column in enumerate(schema):
        try:
            schema_columns(pa.schema([column]))
        except InvalidSchemaError:
            types[place] = str(column.type)
    return types if len(types) < len(schema) else {}


def _columns(schema: pa.Schema) -> list[ColumnSchema]:
    """The columns of a frame, with the types that tables have for their values."""
    try:
        types = schema_columns(schema)
    except InvalidSchemaError as error:
        error.hint = "leave that column out, rename it or cast it"
        raise
    if not types or not all(types):
        raise InvalidSchemaError("a frame has columns, and each of them a name")
    return [ColumnSchema(i, name, parse_type(types[name])) for i, name in enumerate(types)]


def _converted(batch: pa.RecordBatch, columns: Sequence[ColumnSchema]) -> pa.RecordBatch:
    """Cells as tables have them: texts without dictionaries, moments in microseconds, ..."""
    cells = [
        plain(read_values(cells, column))
        for cells, column in zip(batch.columns, columns, strict=True)
    ]
    schema = pa.schema([column.field for column in columns])
    return pa.RecordBatch.from_arrays(cells, schema=schema)


def _copied(data: Any) -> Any:
    """Data whose cells nobody changes."""
    if type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns"):
        return data.copy()
    if isinstance(data, Mapping):
        check_columns(data)
        return {name: copy(cells) for name, cells in data.items()}
    return data


def _is_dataset(data: object) -> bool:
    return type(data).__module__.startswith("pyarrow") and hasattr(data, "scanner")


def _is_lazy(data: object) -> bool:
    return type(data).__module__.startswith("polars") and hasattr(data, "collect")


def _rows_of_dataset(dataset: Any) -> int:
    """How many rows a dataset has, where its files say so."""
    file_format = getattr(dataset, "format", None)
    has_row_count = file_format is not None and file_format.default_extname in (
        "parquet",
        "feather",
    )
    return int(dataset.count_rows()) if has_row_count else _ROWS_SUPPOSED


def _dataset_batches(dataset: Any, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    yield from dataset.scanner(columns=list(columns)).to_batches()


def _lazy_batches(frame: Any, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    requested_columns = frame.select(list(columns))
    if hasattr(requested_columns, "collect_batches"):
        parts = requested_columns.collect_batches(chunk_size=_BATCH_ROWS)
    else:  # polars before 1.34
        parts = requested_columns.collect(engine="streaming").iter_slices(_BATCH_ROWS)
    for part in parts:
        yield from part.to_arrow().to_batches()


class _Once:
    """An Arrow reader, whose rows can be read only once."""

    def __init__(self, name: str, reader: pa.RecordBatchReader) -> None:
        self._name = name
        self._reader: pa.RecordBatchReader | None = reader

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Some columns of the rows. Raises OperationalError: they were read already."""
        reader, self._reader = self._reader, None
        if reader is None:
            raise OperationalError(
                f"the reader '{self._name}' was read already",
                hint="register a table of its rows, reader.read_all(), to read them again",
                sqlstate="55000",
            )
        for batch in reader:
            yield batch.select(list(columns))
