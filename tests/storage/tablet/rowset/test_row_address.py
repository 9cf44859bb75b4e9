"""Row addresses: a batch falls apart into the rows of each rowset, every row once."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.tablet.rowset.row_address import located, shares
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5) | st.integers(0, 2**31)))


def addresses_of(rows: list[tuple[int, int]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    blocks = [
        located(RowBlock([pa.array([ordinal], pa.int64())], 1), place) for place, ordinal in rows
    ]
    return np.array([block.columns[-1][0].as_py() for block in blocks], np.int64)


@given(ROWS)
def test_of_a_row_named_several_times_the_last_cell_counts(rows: list[tuple[int, int]]) -> None:
    cells = pa.array(range(len(rows)))
    found: dict[tuple[int, int], int] = {}
    for share in shares(addresses_of(rows)):
        assert (np.diff(share.ordinals) > 0).all()
        pairs = zip(share.ordinals.tolist(), share.cells(cells).to_pylist(), strict=True)
        found |= {(share.rowset_index, ordinal): cell for ordinal, cell in pairs}
    assert found == {row: number for number, row in enumerate(rows)}


@given(ROWS)
def test_each_rowset_comes_once(rows: list[tuple[int, int]]) -> None:
    places = [share.rowset_index for share in shares(addresses_of(rows))]
    assert places == sorted({place for place, _ in rows})


def test_only_the_last_column_of_a_block_turns_into_addresses() -> None:
    block = RowBlock([pa.array(["a", "b"]), pa.array([4, 7])], 2)
    moved = located(block, 3)
    assert moved.columns[0] is block.columns[0]
    assert moved.columns[1].to_pylist() == [(3 << 40) + 4, (3 << 40) + 7]
