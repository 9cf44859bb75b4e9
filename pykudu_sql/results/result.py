"""Results: rows for Python or for Arrow.

A result is read forward; as a whole it is exported beside that. `table_result.TableResult` holds
Arrow, from the engine, and makes Python values a batch at a time; `RowResult` holds a few finished
rows, from key look-ups and SHOW.

Python values are those of `storage.common.types`: date, naive UTC datetime, Decimal, bytes; wide
integer sums are int.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pykudu_sql.dataclass import dataclass
from pykudu_sql.results.type_objects import SqlType
from pykudu_sql.storage.common.rows.row_result import RowError
from pykudu_sql.storage.common.types.types import DataType, Kind

if TYPE_CHECKING:
    import pyarrow as pa

Row = tuple[Any, ...]


class Result(Protocol):
    """Rows that are read forward."""

    @property
    def names(self) -> tuple[str, ...]:
        """Column names; they may repeat."""

    @property
    def types(self) -> tuple[SqlType, ...]:
        """Column types."""

    @property
    def position(self) -> int:
        """Rows read so far."""

    @property
    def length(self) -> int | None:
        """Rows in all; None as long as that is not known."""

    def seek(self, position: int) -> None:
        """Go on reading at a row, 0 to `length`."""

    def fetch(self, count: int) -> list[Row]:
        """The next rows, at most `count`, as Python values.

        Raises ValueOutOfRangeError: Python has no value for one of them.
        """

    def read_table(self) -> "pa.Table":
        """All rows not read yet."""

    def read_batches(self, most: int) -> "pa.RecordBatchReader":
        """All rows not read yet, in batches of at most so many, which may be computed late."""

    @property
    def schema(self) -> "pa.Schema":
        """Of the rows as Arrow."""

    def export(self) -> "pa.Table":
        """All rows of the result, also those that were read; reading goes on where it was.

        Raises InterfaceError: a result that is streamed was read or exported before.
        """

    def close(self) -> None:
        """Give up rows that have not been computed."""


@dataclass(slots=True)
class Outcome:
    """The result of a statement.

    Attributes:
        result: its rows, None for a statement that has none.
        rowcount: rows changed or found; -1 where that has no meaning.
        message: what was done, for people.
        row_errors: rows that were left out (`row_errors = 'collect'`).
        changes_rows: whether it counts changed rows if it has a message.
    """

    result: Result | None = None
    rowcount: int = -1
    message: str | None = None
    row_errors: tuple[RowError, ...] = ()
    changes_rows: bool = True


@dataclass(frozen=True, slots=True)
class Header:
    """Columns of a `RowResult`."""

    names: tuple[str, ...]
    data_types: tuple[DataType, ...]
    types: tuple[SqlType, ...]


def result_type(stored: DataType) -> DataType:
    """The type of a column in a result: lengths of text are forgotten, as engines forget them."""
    return DataType(Kind.STRING) if stored.is_text else stored


def header(*columns: tuple[str, DataType]) -> Header:
    """The header of columns given by name and type; see `result_type`."""
    return Header(
        tuple(name for name, _ in columns),
        tuple(data_type for _, data_type in columns),
        tuple(SqlType(result_type(data_type)) for _, data_type in columns),
    )


def header_of(columns: str) -> Header:
    """The header of columns given as `name type, ...`; see `system_catalog.listed_columns`."""
    from pykudu_sql.storage.catalog.system_catalog import listed_columns

    return header(*listed_columns(columns))


class RowResult:
    """Finished rows; a `Result`."""

    __slots__ = ("_header", "_rows", "position")

    def __init__(self, columns: Header, rows: Sequence[Row]) -> None:
        """Rows of Python values that fit the columns."""
        self._header = columns
        self._rows = rows
        self.position = 0

    @property
    def names(self) -> tuple[str, ...]:
        return self._header.names

    @property
    def types(self) -> tuple[SqlType, ...]:
        return self._header.types

    @property
    def length(self) -> int:
        return len(self._rows)

    def seek(self, position: int) -> None:
        self.position = position

    def fetch(self, count: int) -> list[Row]:
        start = self.position
        rows = list(self._rows[start : start + count])
        self.position = start + len(rows)
        return rows

    def read_table(self) -> "pa.Table":
        start, self.position = self.position, len(self._rows)
        return self.export().slice(start)

    def read_batches(self, most: int) -> "pa.RecordBatchReader":
        return self.read_table().to_reader(most)

    @property
    def schema(self) -> "pa.Schema":
        import pyarrow as pa

        types = (data_type.arrow for data_type in self._header.data_types)
        return pa.schema(list(zip(self._header.names, types, strict=True)))

    def export(self) -> "pa.Table":
        import pyarrow as pa

        arrays = [
            pa.array([row[i] for row in self._rows], data_type.arrow)
            for i, data_type in enumerate(self._header.data_types)
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def close(self) -> None:
        """See Result; all rows are there."""
