"""Cells that a type has, and those that only damage can have written."""

from typing import Any

import pytest

from pykudu_sql.storage.common.types.cell_check import is_cell_of
from pykudu_sql.storage.common.types.type_names import parse_type


@pytest.mark.parametrize(
    ("name", "cells", "others"),
    [
        ("TINYINT", [-128, 127], [128, -129, True, 1.0, "1"]),
        ("DECIMAL(3,1)", [999, -999], [1000, 1.5]),
        ("DATE", [0], ["2020-01-01", False]),
        ("BOOLEAN", [True, False], [0, 1]),
        ("DOUBLE", [1.5, float("nan")], [1, "x"]),
        ("STRING", ["", "a"], [b"a", 1]),
        ("BINARY", [b"", b"a"], ["a"]),
    ],
)
def test_a_cell_is_a_stored_value_of_its_type(
    name: str, cells: list[Any], others: list[Any]
) -> None:
    column_type = parse_type(name)
    assert all(is_cell_of(cell, column_type) for cell in [None, *cells])
    assert not any(is_cell_of(cell, column_type) for cell in others)
