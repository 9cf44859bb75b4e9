"""Data of Python's tools as columns by name: Arrow's arrays, or lists of Python values.

Taken are Arrow tables and batches, pandas frames and dicts of columns; what offers Arrow's C stream
beside these is read as one (`is_stream`). In a pandas frame, NaN and NaT are missing values and
become NULL.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any, TypeAlias

import pyarrow as pa

from pykudu_sql.storage.common.types.value_text import with_article
from pykudu_sql.storage.errors import InterfaceError, ProgrammingError

Values: TypeAlias = "pa.Array | pa.ChunkedArray | list[Any]"
Columns = Mapping[Any, Values]


def columns_of_data(data: Any) -> Columns:
    """Data as columns by name. Raises InterfaceError: no rows can be made of it."""
    if isinstance(data, Mapping):
        return {name: _values_of(values, name) for name, values in data.items()}
    if isinstance(data, pa.Table | pa.RecordBatch):
        return columns_by_name(data.schema.names, data.columns)
    if _is_pandas(data) and hasattr(data, "columns"):
        names = [str(name) for name in data.columns]
        return columns_by_name(names, [_from_numpy(values) for _, values in data.items()])
    raise not_appended(data)


def not_appended(data: object) -> InterfaceError:
    """The error for data of which no rows can be made."""
    return InterfaceError(
        f"cannot append {with_article(type(data).__name__)}",
        hint="give an Arrow table, a frame, a dict of columns, a path, or dicts, tuples or batches "
        "in a list or an iterator",
        sqlstate="07006",
    )


def is_stream(data: object) -> bool:
    """Whether data is none of what `columns_of_data` takes, and offers Arrow's C stream."""
    is_columnar = isinstance(data, Mapping | pa.Table | pa.RecordBatch)
    return not is_columnar and not _is_pandas(data) and hasattr(data, "__arrow_c_stream__")


def _is_pandas(data: object) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas"


def columns_by_name(names: Sequence[str], columns: Sequence[Values]) -> Columns:
    """Columns by their names. Raises ProgrammingError: two have the same."""
    for name in names:
        if names.count(name) > 1:
            raise ProgrammingError(f"column '{name}' is given twice", sqlstate="42701")
    return dict(zip(names, columns, strict=True))


def _values_of(values: Any, name: object) -> Values:
    """Values as an Arrow array where that keeps what they are, else as a list."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    is_single = isinstance(values, str | bytes) or getattr(values, "ndim", 1) == 0
    if hasattr(values, "__array__") and not is_single:
        return _from_numpy(values)
    if is_single or not hasattr(values, "__iter__"):
        raise InterfaceError(
            f"column '{name}' needs a sequence of values, not {type(values).__name__}",
            sqlstate="07006",
        )
    return list(values)


def _from_numpy(values: Any) -> Values:
    """The values of an array of numpy or pandas, as `_values_of` gives them."""
    with suppress(pa.ArrowException, ValueError, TypeError, OverflowError):
        array = pa.array(values, from_pandas=_is_pandas(values))
        # An extension type is Arrow's for objects, as periods and UUIDs: what it stores says less.
        # Of objects that are times Arrow cuts nanoseconds.
        is_cut = pa.types.is_timestamp(array.type) and values.dtype == object
        if not isinstance(array.type, pa.BaseExtensionType) and not is_cut:
            return array
    # Objects, mixed or such as Arrow has no rule for: value by value, with an error that names the
    # row.
    is_missing = values.isna() if _is_pandas(values) else repeat(False)
    return [None if missing else v for v, missing in zip(values, is_missing, strict=False)]
