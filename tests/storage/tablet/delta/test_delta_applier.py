"""Patches of any form of a column come to what setting the cells one by one comes to."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.types.arrays import cells_to_array, plain
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.tablet.delta.delta_applier import apply_patches
from pykudu_sql.storage.tablet.delta.delta_store import ColumnPatch

ROWS = 24
START = 100
CELLS: dict[DataType, st.SearchStrategy[Cell]] = {
    DataType(Kind.INT16): st.integers(-9, 9),
    DataType(Kind.BOOL): st.booleans(),
    DataType(Kind.DECIMAL, 30, 2): st.integers(-(10**25), 10**25),
    DataType(Kind.STRING): st.sampled_from(["", "a", "b", "a text of some size"]),
    DataType(Kind.BINARY): st.sampled_from([b"", b"\xff" * 20]),
}


@given(st.data(), st.sampled_from(list(CELLS)), st.booleans(), st.booleans(), st.booleans())
def test_later_layers_win_over_earlier_ones_and_over_the_base(
    data: st.DataObject,
    column_type: DataType,
    base_has_nulls: bool,
    changes_have_nulls: bool,
    is_coded: bool,
) -> None:
    cell = CELLS[column_type]
    of_base = cell | st.none() if base_has_nulls else cell
    of_changes = cell | st.none() if changes_have_nulls else cell
    before = data.draw(st.integers(0, 3))  # cells of a base that is part of an array
    cells = data.draw(st.lists(of_base, min_size=before + ROWS, max_size=before + ROWS))
    base = cells_to_array(cells, column_type)
    if is_coded and column_type.is_variable:
        encoded = base.dictionary_encode()
        codes = encoded.indices.cast(pa.int8())
        base = pa.DictionaryArray.from_arrays(codes, encoded.dictionary)
    base, expected = base[before:], cells[before:]
    untouched = plain(base).to_pylist()
    layers = []
    rows = st.lists(st.integers(0, ROWS + 5), min_size=1, max_size=9, unique=True)
    for _ in range(data.draw(st.integers(0, 4))):
        changed = sorted(data.draw(rows))
        values = [data.draw(of_changes) for _ in changed]
        ordinals = np.array(changed, np.int64) + START
        layers.append(ColumnPatch(ordinals, cells_to_array(values, column_type)))
        for row, value in zip(changed, values, strict=True):
            if row < ROWS:
                expected[row] = value
    patched = apply_patches(base, START, layers, column_type)
    assert plain(patched).equals(cells_to_array(expected, column_type))
    assert plain(base).to_pylist() == untouched


def test_decimals_without_a_value_are_nulls() -> None:
    wide = DataType(Kind.DECIMAL, 30, 2)
    base = pa.array([Decimal(1), None, Decimal(3)], wide.arrow)
    patch = ColumnPatch(np.array([0, 1]), pa.array([None, Decimal(2)], wide.arrow))
    assert apply_patches(base, 0, (patch,), wide).to_pylist() == [None, 2, 3]
