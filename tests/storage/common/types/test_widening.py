"""Which types widen which, and arrays of one type read as another."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.types.arrays import array_to_cells, cells_to_array
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.common.types.widening import (
    holds_all_of,
    in_one_type,
    in_type,
    is_related,
    widens,
    wider_types,
)

LADDERS = (
    ("TINYINT", "SMALLINT", "INT", "BIGINT"),
    ("FLOAT", "DOUBLE"),
    ("DECIMAL(4,2)", "DECIMAL(9,2)", "DECIMAL(10,2)", "DECIMAL(18,2)", "DECIMAL(38,2)"),
    ("VARCHAR(3)", "VARCHAR(4)", "STRING"),
    ("DECIMAL(9,3)",), ("BOOLEAN",), ("DATE",), ("TIMESTAMP",), ("BINARY",),
)  # fmt: skip
TYPES = [(parse_type(name), ladder) for ladder in LADDERS for name in ladder]
STEPS = [
    (parse_type(ladder[low]), parse_type(ladder[high]))
    for ladder in LADDERS[:3]
    for high in range(len(ladder))
    for low in range(high + 1)
]


def test_only_types_further_up_a_ladder_widen_one() -> None:
    for place, (old, ladder) in enumerate(TYPES):
        for later, (new, other) in enumerate(TYPES):
            assert widens(old, new) == (ladder is other and place <= later), (old, new)
            assert is_related(old, new) == (ladder is other)


def test_what_a_type_may_become_is_told() -> None:
    told = {str(old): wider_types(old) for old, _ in TYPES}
    assert told["SMALLINT"] == "INT or BIGINT"
    assert told["FLOAT"] == "DOUBLE"
    assert told["VARCHAR(3)"] == "a longer VARCHAR or STRING"
    assert "scale" not in told["DECIMAL(4,2)"] and "(p,2)" in told["DECIMAL(4,2)"]
    assert {told["BIGINT"], told["DATE"], told["STRING"]} == {"no other type"}


def cells_of(kind: DataType) -> st.SearchStrategy[Cell]:
    if kind.is_floating:
        return st.none() | st.floats(width=32, allow_nan=False)
    low, high = kind.integer_range or (0, 0)
    return st.none() | st.sampled_from([low, -1, 0, high]) | st.integers(low, high)


@given(st.data())
def test_cells_are_the_same_in_a_wider_type_and_back(data: st.DataObject) -> None:
    old, new = data.draw(st.sampled_from(STEPS))
    cells = data.draw(st.lists(cells_of(old), max_size=9))
    start = data.draw(st.integers(0, len(cells)))
    narrow = cells_to_array(cells, old).slice(start)
    wide = in_type(narrow, new.arrow)
    wide.validate(full=True)
    assert wide.type == new.arrow and array_to_cells(wide, new) == cells[start:]
    assert array_to_cells(wide, old) == array_to_cells(narrow, new) == cells[start:]
    back = in_type(wide.slice(len(wide) // 2), old.arrow)
    assert back.equals(narrow.slice(len(narrow) // 2))


def test_what_a_narrower_type_does_not_have_is_cut_off() -> None:
    assert in_type(pa.array([1, 300, -(2**40)]), pa.int8()).to_pylist() == [1, 44, 0]
    assert in_type(pa.array([1e300, 0.5]), pa.float32()).to_pylist() == [np.inf, 0.5]


def test_texts_and_arrays_of_the_type_are_not_copied() -> None:
    for values in (pa.array(["a"]).dictionary_encode(), pa.array([1, 2]), pa.array([True])):
        kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        assert in_type(values, kind) is values


def test_arrays_are_brought_to_their_widest_type() -> None:
    parts = [cells_to_array([1, None], parse_type(f"DECIMAL({p},1)")) for p in (3, 12, 38, 9)]
    joined = pa.concat_arrays(in_one_type(parts))
    assert joined.type == pa.decimal128(38, 1)
    assert array_to_cells(joined, parse_type("DECIMAL(38,1)")) == [1, None] * 4


@pytest.mark.parametrize(
    ("kind", "fitting", "others"),
    [
        (DataType(Kind.INT32), [pa.int8(), pa.int32()], [pa.int64(), pa.uint8(), pa.date32()]),
        (DataType(Kind.DOUBLE), [pa.float32(), pa.float64()], [pa.int8(), pa.float16()]),
        (DataType(Kind.FLOAT), [pa.float32()], [pa.float64()]),
        (DataType(Kind.STRING), [pa.string()], [pa.binary()]),
        (DataType(Kind.DATE), [pa.date32()], [pa.int8()]),
        (
            parse_type("DECIMAL(12,2)"),
            [pa.decimal32(4, 2), pa.decimal64(12, 2)],
            [pa.decimal32(4, 1), pa.decimal64(13, 2), pa.int32()],
        ),
    ],
)
def test_records_may_have_arrays_of_narrower_types(
    kind: DataType, fitting: list[pa.DataType], others: list[pa.DataType]
) -> None:
    assert all(holds_all_of(kind, each) for each in fitting)
    assert not any(holds_all_of(kind, each) for each in others)
