"""Scalars of numpy are recognized, in a process without numpy as well."""

import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest

from pykudu_sql.storage.common.types.numpy_scalars import (
    is_numpy_bool,
    is_numpy_datetime,
    is_numpy_float,
    is_numpy_integer,
    is_numpy_number,
    is_numpy_scalar,
)

SCALARS = [np.bool_(True), np.int8(1), np.uint64(2), np.float32(0.5), np.datetime64("2026-01-31")]


@pytest.mark.parametrize(
    ("is_of_class", "positions"),
    [
        (is_numpy_bool, [0]),
        (is_numpy_integer, [1, 2]),
        (is_numpy_float, [3]),
        (is_numpy_number, [1, 2, 3]),
        (is_numpy_datetime, [4]),
        (is_numpy_scalar, [0, 1, 2, 3, 4]),
    ],
)
def test_scalars_are_recognized_by_class(
    is_of_class: Callable[[object], bool], positions: list[int]
) -> None:
    assert [i for i, scalar in enumerate(SCALARS) if is_of_class(scalar)] == positions
    assert not any(map(is_of_class, (True, 1, 0.5, Decimal(1), "1", None)))


def test_single_values_of_every_type_become_cells_without_numpy() -> None:
    program = """
import sys, datetime, decimal
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.types import DataType, Kind
values = {Kind.BOOL: True, Kind.INT32: "7", Kind.DOUBLE: 1, Kind.FLOAT: 0.1, Kind.STRING: 5,
          Kind.DATE: datetime.date(2026, 1, 31), Kind.BINARY: b"x"}
print([to_cell(value, DataType(kind)) for kind, value in values.items()], "numpy" in sys.modules)
"""
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert process.stdout == ("[True, 7, 1.0, 0.10000000149011612, '5', 20484, b'x'] False\n")
