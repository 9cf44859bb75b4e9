"""Rows as Python's data tools hold them, as Arrow tables, streams or columns.

Besides what `append` takes as it is: lists of dicts or of tuples, polars' lazy frames, datasets of
Arrow, and paths of files, which the program names and so permits.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from pykudu_sql.error_boundary import check_text
from pykudu_sql.files.file_access import FileAccess
from pykudu_sql.files.formats import FileOptions, file_kind
from pykudu_sql.files.inferred_table import InferredTable, infer_columns, schema_columns
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.errors import InterfaceError, InvalidSchemaError, ProgrammingError


def opened(data: Any) -> Any:
    """Data ready to be read: lazy frames collected, datasets as Arrow readers."""
    module = type(data).__module__
    if module.startswith("polars") and hasattr(data, "collect"):
        return data.collect()
    if module.startswith("pyarrow") and hasattr(data, "scanner"):
        return data.scanner().to_reader()
    return data


def columns_of_rows(
    rows: object, names: Sequence[str], first: int = 0
) -> Mapping[str, list[Any]] | None:
    """A list of dicts or tuples as columns; None if it is none.

    Args:
        rows: perhaps of these.
        names: of the columns that tuples are of, in order.
        first: how many rows are before these.

    Raises ProgrammingError: the rows are of different shapes.
    """
    if not isinstance(rows, list | tuple):
        return None
    if not rows:
        return {name: [] for name in names}
    if all(isinstance(row, Mapping) for row in rows):
        keys = list(rows[0])
        for position, row in enumerate(rows, first):
            if row.keys() != rows[0].keys():
                other = next(iter(row.keys() ^ rows[0].keys()))
                raise _shapes(position, f"only one of it and the first has the key {other!r:.80}")
        return {str(key): [row[key] for row in rows] for key in keys}
    if all(isinstance(row, list | tuple) for row in rows):
        width = len(rows[0])
        if width > len(names):
            columns = noun_count(len(names), "column")
            raise _shapes(first, f"it has {noun_count(width, 'value')}, the table has {columns}")
        for position, row in enumerate(rows, first):
            if len(row) != width:
                raise _shapes(
                    position, f"it has {noun_count(len(row), 'value')}, the first has {width}"
                )
        by_column = zip(*rows, strict=True)
        return {name: list(values) for name, values in zip(names, by_column, strict=False)}
    if all(isinstance(row, Mapping | list | tuple) for row in rows):
        is_dict = isinstance(rows[0], Mapping)
        other = next(i for i, row in enumerate(rows) if isinstance(row, Mapping) != is_dict)
        why = "it is not a dict, the first is one" if is_dict else "it is a dict, the first is not"
        raise _shapes(first + other, why)
    return None


def _shapes(position: int, why: str) -> ProgrammingError:
    return ProgrammingError(
        f"row {position + 1} does not fit: {why}",
        hint="give each row the same columns, None where a value is missing",
        sqlstate="07001",
    )


def table_of(data: Any) -> tuple[Any, InferredTable]:
    """Data for a new table, and that table without a key.

    What can be read once is still to be read. Raises InterfaceError: it has no names of columns;
    InvalidSchemaError: a column is of a type that no table has; Error: files cannot be read.
    """
    if isinstance(data, str | os.PathLike):
        path = os.fspath(data)
        files = FileAccess(True, None, False).to_read(path)
        kinds = [(one, file_kind(one.path, FileOptions())) for one in files]
        return path, InferredTable(infer_columns(kinds), ())
    if isinstance(data, Iterator) and not hasattr(data, "__arrow_c_stream__"):
        data = list(data)
    rows = arrow_of(opened(data))
    return rows, InferredTable(schema_columns(rows.schema), ())


def table_to_create(name: str, data: Any, key: Sequence[str]) -> tuple[Any, str]:
    """Data as an Arrow table, and the statement that creates a table for it.

    Args:
        name: of the table, quoted.
        data: with names of columns.
        key: names of its columns.

    Raises InterfaceError: the key is no list of names; Error: see `table_of`.
    """
    if not isinstance(key, Sequence):
        raise InterfaceError(
            f"the key is a list of names of columns, not {type(key).__name__}",
            hint="such as key=['id']",
            sqlstate="07006",
        )
    names = [key] if isinstance(key, str) else key
    for each in names:
        check_text(each, "the name of a key's column")
    arrow_table, inferred = table_of(data)
    return arrow_table, inferred.with_key(names).create_statement(name)


def check_columns(columns: Mapping[Any, Any]) -> None:
    """See that each column of a dict has values. Raises InterfaceError: one is a single value."""
    for name, values in columns.items():
        try:
            len(values)
        except TypeError:
            raise InterfaceError(
                f"column '{name!s:.80}' is of type {type(values).__name__}, which has no length",
                hint="give a list or an array for each column",
                sqlstate="07006",
            ) from None


def arrow_of(data: Any) -> "pa.Table | pa.RecordBatchReader":
    """Data with names of columns, as a table or a reader of Arrow.

    Raises InterfaceError: it has none; InvalidSchemaError: values of a column have no one type.
    """
    if isinstance(data, pa.Table | pa.RecordBatchReader):
        return data
    if isinstance(data, Mapping):
        check_columns(data)
    try:
        if isinstance(data, Mapping):
            return pa.table({str(name): values for name, values in data.items()})
        if isinstance(data, list | tuple) and data and all(isinstance(r, Mapping) for r in data):
            return pa.table(columns_of_rows(data, ()) or {})
        if type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns"):
            return pa.Table.from_pandas(data, preserve_index=False)
        if isinstance(data, pa.RecordBatch):
            return pa.Table.from_batches([data])
        if hasattr(data, "__arrow_c_stream__"):
            return reader_of_stream(data)
    except (pa.ArrowException, OverflowError) as error:
        raise InvalidSchemaError(
            "a column has values of several types, or of one that Arrow has not",
            hint="create the table first",
        ) from error
    raise _no_columns(data)


def reader_of_stream(data: Any) -> "pa.RecordBatchReader":
    """A reader of what offers Arrow's C stream.

    Raises InterfaceError: its values are those of one column without a name, as of a Series;
    InvalidSchemaError: a column is of a type that Arrow has not.
    """
    try:
        return pa.RecordBatchReader.from_stream(data)
    except pa.ArrowInvalid as error:
        if "non-struct type" in str(error):
            raise _no_columns(data) from None
        if "format string" in str(error):
            raise InvalidSchemaError(
                "a column is of a type that Arrow has not, such as an integer of 128 bits",
                hint="cast it in the program, or leave it out",
            ) from None
        raise


def _no_columns(data: object) -> InterfaceError:
    return InterfaceError(
        f"an object of type '{type(data).__name__}' has no names and types of columns",
        hint="give an Arrow table, a frame, a dict of columns, a list of dicts or a path",
        sqlstate="07006",
    )
