"""Columns of a result as arrays of numpy."""

from typing import Any

import numpy as np
import pyarrow as pa


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
