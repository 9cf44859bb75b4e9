"""Columns of a result as arrays of numpy."""

from typing import Any

import numpy as np
import pyarrow as pa


def numpy_columns(table: pa.Table) -> dict[str, Any]:
    """The columns of a table by their names; a name that is there already gets a number, as in
    DuckDB: `a`, `a_1`, `a_2`."""
    arrays: dict[str, Any] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        numbered = (f"{name}_{number}" for number in range(1, len(arrays) + 1))
        free = name if name not in arrays else next(n for n in numbered if n not in arrays)
        arrays[free] = numpy_column(column)
    return arrays


def numpy_column(column: pa.ChunkedArray) -> Any:
    """The values of a column; a masked array where some are NULL.

    Numbers, truth and times have the types of numpy that are like theirs, all else is objects.
    """
    if not column.null_count:
        return column.to_numpy()
    mask = column.is_null().to_numpy()
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        column = column.fill_null(False if pa.types.is_boolean(kind) else 0)
    return np.ma.masked_array(column.to_numpy(), mask)
