"""Cursors (PEP 249): statements in, rows out, as Python values or as Arrow."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, Self

from pykudu_sql.dbapi.exceptions import InterfaceError, NotSupportedError, ProgrammingError
from pykudu_sql.dbapi.foreign_attributes import ROW_FACTORY, ForeignAttribute
from pykudu_sql.dbapi.open_batches import OpenBatches
from pykudu_sql.error_boundary import guarded
from pykudu_sql.results.type_objects import SqlType
from pykudu_sql.storage.common.types.value_text import quote_value
from pykudu_sql.storage.errors import RowPositionError

if TYPE_CHECKING:
    import pyarrow as pa

    from pykudu_sql.results.result import Outcome, Result
    from pykudu_sql.session.session import Session
    from pykudu_sql.storage.common.rows.row_result import RowError

_MAX_REPR_ROWS = 20

Parameters = Sequence[Any] | Mapping[str, Any] | None
Column = tuple[str, SqlType, None, None, int | None, int | None, None]
Row = tuple[Any, ...]


class CursorOwner(Protocol):
    """The connection of a cursor, as far as PEP 249 describes it."""

    def commit(self) -> None:
        """Make the changes of the transaction permanent."""

    def rollback(self) -> None:
        """Give up the changes of the transaction."""

    def close(self) -> None:
        """Close the connection and with it its cursors."""


class Cursor:
    """Runs statements one after the other and holds the rows of the last one.

    Attributes:
        arraysize: how many rows `fetchmany` gives by default.
        connection: that it belongs to.
        lastrowid: always None; rows have keys instead.
    """

    row_factory = ForeignAttribute(ROW_FACTORY)

    # Of a cursor that has run nothing: many run one statement that gives one row.
    arraysize: int = 1
    lastrowid: None = None
    _outcome: "Outcome | None" = None
    _rows: "Result | None" = None
    _rowcount = -1
    _described: tuple[object, object, list[Column]] = (None, None, [])

    def __init__(self, connection: CursorOwner, session: "Session") -> None:
        """Made by `Connection.cursor`."""
        self.connection = connection
        self._session: Session | None = session

    def execute(self, sql: str, parameters: Parameters = None) -> Self:
        """Run one statement.

        Args:
            sql: with `?` or `:name` where parameters go.
            parameters: a sequence for `?`, a mapping for `:name`.

        Raises Error: it failed, and changed nothing.
        """
        session = self._session
        if session is None or not session.process.is_current:
            session = self._opened()
        self._outcome = self._rows = None
        self._outcome = outcome = session.execute(sql, () if parameters is None else parameters)
        self._rows = outcome.result
        return self

    def executemany(self, sql: str, parameter_rows: Iterable[Parameters]) -> Self:
        """Run a writing statement once for each set of parameters, as one batch, all or nothing.

        Raises ProgrammingError: the statement returns rows or changes no rows; Error: it failed for
        one of them.
        """
        session = self._opened()
        self._outcome = self._rows = None
        self._outcome = session.execute_many(sql, parameter_rows)
        return self

    @property
    def description(self) -> list[Column] | None:
        """Name, type code, None, None, precision, scale, None of each column; None without rows."""
        rows = self._rows
        if rows is None:
            return None
        names, types = rows.names, rows.types
        # Runs of one plan have the same header.
        if names is not self._described[0] or types is not self._described[1]:
            columns = [_column(name, each) for name, each in zip(names, types, strict=True)]
            self._described = names, types, columns
        return list(self._described[2])

    @property
    def rowcount(self) -> int:
        """Rows that the last statement changed or found, also behind `close`; -1 without meaning.

        Libraries close a cursor that has no rows to fetch, and ask then.
        """
        return self._rowcount if self._outcome is None else self._outcome.rowcount

    @property
    def rownumber(self) -> int | None:
        """Rows fetched so far; None without rows."""
        return None if self._rows is None else self._rows.position

    @property
    def message(self) -> str | None:
        """What the last statement did, in words; None for a query."""
        return None if self._outcome is None else self._outcome.message

    @property
    def row_errors(self) -> "tuple[RowError, ...]":
        """Rows that the last statement left out, under `SET row_errors = 'collect'`."""
        return () if self._outcome is None else self._outcome.row_errors

    @guarded
    def fetchone(self) -> Row | None:
        """The next row, or None at the end."""
        rows, session = self._rows, self._session
        if rows is None or session is None or session.is_closed or not session.process.is_current:
            rows = self._result()
        fetched = rows.fetch(1)
        return fetched[0] if fetched else None

    @guarded
    def fetchmany(self, size: int | None = None) -> list[Row]:
        """The next rows, `arraysize` of them by default; fewer at the end."""
        count = self.arraysize if size is None else size
        if not isinstance(count, int) or count < 0:
            raise ProgrammingError(f"cannot fetch {quote_value(count)} rows", sqlstate="22023")
        return self._result().fetch(min(count, sys.maxsize))

    @guarded
    def fetchall(self) -> list[Row]:
        """All rows not fetched yet."""
        return self._result().fetch(sys.maxsize)

    @guarded
    def fetch_dicts(self, size: int = sys.maxsize) -> list[dict[str, Any]]:
        """The next rows by the names of their columns, all of them by default.

        Of columns with equal names the last counts.
        """
        result = self._result()
        return [dict(zip(result.names, row, strict=True)) for row in self.fetchmany(size)]

    @guarded
    def fetch_arrow_table(self) -> "pa.Table":
        """All rows not fetched yet, as an Arrow table."""
        return self._result().read_table()

    @guarded
    def fetch_record_batch(self, rows_per_batch: int = 100_000) -> "pa.RecordBatchReader":
        """All rows not fetched yet, as a reader of Arrow batches.

        Those of a large result are computed while they are read; another statement of this cursor
        does not end that, closing the connection does. Raises ProgrammingError: a batch is to have
        no rows.
        """
        if not isinstance(rows_per_batch, int) or rows_per_batch < 1:
            raise ProgrammingError(
                f"cannot fetch batches of {quote_value(rows_per_batch)} rows",
                hint="give the most rows that a batch may have, 1 or more",
                sqlstate="22023",
            )
        import pyarrow as pa

        reader = self._result().read_batches(min(rows_per_batch, sys.maxsize))
        batches = OpenBatches(reader, self._check_connection)
        return pa.RecordBatchReader.from_batches(reader.schema, batches)

    @guarded
    def fetch_df(self) -> Any:
        """All rows not fetched yet, as a pandas frame.

        Raises NotSupportedError: pandas is not installed.
        """
        table = self._result().read_table()
        try:
            return table.to_pandas()
        except ImportError as error:
            raise NotSupportedError(
                "pandas is not installed", hint="pip install pandas, or use fetch_arrow_table"
            ) from error

    def arrow(self) -> "pa.Table":
        """`fetch_arrow_table`, by DuckDB's name."""
        return self.fetch_arrow_table()

    def df(self) -> Any:
        """`fetch_df`, by DuckDB's name."""
        return self.fetch_df()

    @guarded
    def fetchnumpy(self) -> dict[str, Any]:
        """All rows not fetched yet, as numpy arrays by the names of their columns, as in DuckDB.

        A column with NULLs is a masked array; DECIMALs and texts are objects, HUGEINTs doubles.
        """
        from pykudu_sql.results.numpy_columns import numpy_columns

        result = self._result()
        return numpy_columns(result.read_table(), result.types)

    @guarded
    def pl(self) -> Any:
        """All rows not fetched yet, as a polars frame.

        Raises NotSupportedError: polars is not installed, or a column is an INTERVAL.
        """
        result = self._result()
        for name, sql_type, *_ in self.description or ():
            if sql_type == "INTERVAL":
                raise NotSupportedError(
                    f"column '{name:.80}' is INTERVAL, which polars has not",
                    hint="CAST it to STRING, or use fetch_arrow_table",
                )
        table = result.read_table()
        try:
            polars = import_module("polars")
        except ImportError as error:
            raise NotSupportedError(
                "polars is not installed", hint="pip install polars, or use fetch_arrow_table"
            ) from error
        return polars.from_arrow(table)

    def _repr_html_(self) -> str | None:
        """The first rows as a table for notebooks, without fetching them; None without rows.

        Of a result that is computed while it is fetched only the columns are shown.
        """
        from pykudu_sql.results.html_table import html_table

        rows = self._rows
        if rows is None or self._session is None:
            return None
        if rows.length is None:
            return html_table(rows.names, rows.types, (), None)
        place = rows.position
        rows.seek(0)
        try:
            return html_table(rows.names, rows.types, rows.fetch(_MAX_REPR_ROWS), rows.length)
        finally:
            rows.seek(place)

    @guarded
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The whole result through Arrow's C interface: `pa.table(cursor)` and others.

        Rows that were fetched come too, and fetching goes on where it was. A large result, which is
        computed while it is fetched, is handed over once and before its first row is fetched.
        Raises InterfaceError: a large result was fetched from or exported before;
        NotSupportedError: the rows are wanted in a schema that they do not fit.
        """
        table = self._result().export()
        try:
            return table.__arrow_c_stream__(requested_schema)
        except (ValueError, TypeError, NotImplementedError) as error:
            raise NotSupportedError(
                "the rows do not fit the requested schema",
                hint="take them as they are, and cast the table",
            ) from error

    @guarded
    def __arrow_c_schema__(self) -> object:
        """The columns of the result through Arrow's C interface, without its rows."""
        return self._result().schema.__arrow_c_schema__()

    @guarded
    def scroll(self, value: int, mode: str = "relative") -> None:
        """Move to another row.

        `value`: how far, or where to; `mode`: "relative" or "absolute". Raises RowPositionError:
        there is no such row; the cursor stays where it is. It is an IndexError too, as PEP 249
        wants; ProgrammingError: there is no such mode, or the value is no whole number.
        """
        rows = self._result()
        if not isinstance(value, int):
            raise ProgrammingError(f"cannot scroll by {value!r}", sqlstate="22023")
        if mode not in ("relative", "absolute"):
            raise ProgrammingError(f"scroll knows no mode {mode!r}", sqlstate="22023")
        target = value + (rows.position if mode == "relative" else 0)
        if rows.length is not None and not 0 <= target <= rows.length:
            raise RowPositionError(
                f"row {quote_value(target)} is outside the result of {rows.length} rows"
            )
        rows.seek(target)

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """Does nothing, as PEP 249 allows: parameters carry their own types."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Does nothing, as PEP 249 allows: values come whole."""

    def nextset(self) -> None:
        """None: a statement has one result."""
        self._result()

    def close(self) -> None:
        """Forget the rows; those that are still to be computed are not. Closing twice is allowed.

        Readers that `fetch_record_batch` gave raise InterfaceError if rows of theirs are left.
        """
        if self._rows is not None:
            self._rows.close()
        self._rowcount = self.rowcount
        self._session = self._outcome = self._rows = None

    def _opened(self) -> "Session":
        session = self._session
        if session is None:
            raise InterfaceError("the cursor is closed")
        if not session.process.is_current:
            session.process.check()
        return session

    def _check_connection(self) -> None:
        if self._opened().is_closed:
            raise InterfaceError("the connection is closed")

    def _result(self) -> "Result":
        rows = self._rows
        self._check_connection()
        if rows is None:
            raise ProgrammingError(
                "there are no rows to fetch",
                hint="execute a query first; executemany keeps no rows",
                sqlstate="24000",
            )
        return rows

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Row:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def _column(name: str, sql_type: SqlType) -> Column:
    precision, scale = sql_type.decimal or (None, None)
    return name, sql_type, None, None, precision, scale, None
