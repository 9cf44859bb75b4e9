"""Single cells of decoded arrays, also of slices, of dictionaries and beside NULLs."""

from typing import Any

import pyarrow as pa
import pytest

from pykudu_sql.storage.cfile.cell_access import cell_reader
from pykudu_sql.storage.common.types.type_names import parse_type


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("BOOLEAN", [True, False, None, True]),
        ("INT", [1, -7, None, 2]),
        ("STRING", ["", "ä", None, "word"]),
        ("BINARY", [b"", b"\xff", None, b"x"]),
    ],
)
def test_a_slot_has_the_cell_of_the_array(name: str, cells: list[Any]) -> None:
    kind = parse_type(name)
    array = pa.array([None, *cells, None], kind.arrow).slice(1, len(cells))
    read = cell_reader(array, kind)
    assert [read(slot) for slot in range(len(cells))] == cells


def test_a_code_is_read_as_its_word() -> None:
    array = pa.array(["b", None, "a", "b"]).dictionary_encode().slice(1)
    read = cell_reader(array, parse_type("STRING"))
    assert [read(slot) for slot in range(3)] == [None, "a", "b"]
