"""Rows gathered out of pieces of columns."""

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.tablet.history.row_slice import ColumnGather, ColumnsInMemory, gather


class ReadColumns(Mapping[int, pa.Array]):
    """A piece that is read: it notes how many rows it was asked for."""

    def __init__(self, values: pa.Array, read: list[int]) -> None:
        self.rows = len(values)
        self._values = values
        self._read = read

    def __getitem__(self, column_id: int, /) -> pa.Array:
        self._read.append(self.rows)
        return self._values

    def __iter__(self) -> Iterator[int]:
        return iter((0,))

    def __len__(self) -> int:
        return 1

    def slice(self, start: int, stop: int) -> "ReadColumns":
        return ReadColumns(self._values.slice(start, stop - start), self._read)


@given(st.data())
def test_a_part_of_gathered_rows_has_those_rows(data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    total = sum(lengths)
    ends = np.cumsum(lengths).tolist()
    pieces = [
        ColumnsInMemory({0: pa.array(range(end - length, end))})
        for end, length in zip(ends, lengths, strict=True)
    ]
    places = data.draw(
        st.none() | st.lists(st.integers(0, total - 1), min_size=1, max_size=20).map(np.array)
    )
    rows = ColumnGather(pieces, places)
    expected = rows[0].to_pylist()
    start = data.draw(st.integers(0, len(expected) - 1))
    stop = data.draw(st.integers(start + 1, len(expected)))
    part = rows.part(start, stop)
    assert part[0].to_pylist() == expected[start:stop]
    last = data.draw(st.integers(start, stop - 1)) - start
    assert part.part(last, stop - start)[0].to_pylist() == expected[start + last : stop]
    assert gather([part, rows])[0].to_pylist() == expected[start:stop] + expected


@pytest.mark.parametrize("places", [None, np.arange(100)])
def test_a_part_reads_no_more_of_a_piece_than_its_rows(places: np.ndarray | None) -> None:
    read: list[int] = []
    pieces = [ReadColumns(pa.array(range(50)), read), ReadColumns(pa.array(range(50, 100)), read)]
    rows = ColumnGather(pieces, places)
    assert rows.part(0, 10)[0].to_pylist() == list(range(10))
    assert rows.part(40, 60)[0].to_pylist() == list(range(40, 60))
    assert read == [10, 10, 10]
