"""Single cells are those of the column, wherever they come from, and keep their block in use."""

from bisect import bisect_left, bisect_right
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.cfile_writer import encode_column
from pykudu_sql.storage.cfile.decoded.column_cells import ColumnCells
from pykudu_sql.storage.common.types.arrays import array_to_cells, cells_to_array
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Compression, DataType, Encoding

ROWS = 400
BIGINT = parse_type("BIGINT")
TYPES = [parse_type(name) for name in ("BIGINT", "DECIMAL(9,2)", "DECIMAL(30,2)", "STRING")]


def reader_of(
    files: Any, cells: list[Any], column_type: DataType, block_size: int, cache: BlockCache
) -> Any:
    encoded = encode_column(
        column_type,
        Encoding("AUTO_ENCODING"),
        Compression.NO_COMPRESSION,
        block_size,
        cells_to_array(cells, column_type),
    )
    reader = files.open(files.write({"c": encoded}), cache).cfile("c")
    assert isinstance(reader.cell.__self__, ColumnCells)
    return reader


def ascending(column: Any, column_type: DataType, distinct: int) -> list[Any]:
    return sorted(array_to_cells(column(column_type, ROWS, seed=1, distinct=distinct), column_type))


@pytest.mark.parametrize("column_type", TYPES, ids=str)
@settings(max_examples=30)
@given(data=st.data())
def test_a_search_in_ascending_rows_finds_where_a_cell_belongs(
    files: Any, column: Any, column_type: DataType, data: st.DataObject
) -> None:
    cells = ascending(column, column_type, data.draw(st.sampled_from((2, 60, 100_000))))
    reader = reader_of(files, cells, column_type, 512, BlockCache(1 << 26))
    if data.draw(st.booleans()):
        reader.read_all()
    start = data.draw(st.integers(0, ROWS))
    stop = data.draw(st.integers(start, ROWS))
    cell = data.draw(st.sampled_from(cells))
    left, right = (bisect(cells, cell, start, stop) for bisect in (bisect_left, bisect_right))
    assert reader.search(cell, start, stop, "left") == left
    assert reader.search(cell, start, stop, "right") == right


def test_a_cell_is_looked_for_in_memory_only_where_its_block_is(files: Any) -> None:
    reader = reader_of(files, list(range(0, 2 * ROWS, 2)), BIGINT, 512, BlockCache(1 << 26))
    start, stop = reader.first_ordinals[1:3]
    assert reader.find_in_memory(2 * start, start, stop) is None
    reader.cell(start)
    assert reader.find_in_memory(2 * start + 2, start, stop) == start + 1
    assert reader.cell_at(1, 1) == 2 * start + 2
    assert reader.find_in_memory(2 * start + 1, start, stop) == -1
    assert reader.find_in_memory(2 * start, start, start) == -1
    assert reader.find_in_memory(2 * start, start, ROWS) is None  # more than that block
    reader.read_all()
    assert reader.find_in_memory(2 * (ROWS - 1), start, ROWS) == ROWS - 1


def test_cells_that_are_read_keep_their_block_in_the_cache(files: Any, column: Any) -> None:
    """The short way to a block passes by the cache, which hears of it often enough all the same."""
    expected = ascending(column, BIGINT, 100)
    sizes = BlockCache(1 << 26)
    reader = reader_of(files, expected, BIGINT, 400, sizes)
    reader.cell(0)
    cache = BlockCache(3 * sizes.used)
    reader = reader_of(files, expected, BIGINT, 400, cache)
    firsts = reader.zone_map.first_ordinals[:-1].tolist()
    for first in firsts[1:]:
        for _ in range(20):
            assert reader.cell(0) == expected[0]
        assert reader.cell(first) == expected[first]
    misses = cache.misses
    reader.cell(0)
    assert cache.misses == misses
    reader.cell(firsts[1])
    assert cache.misses == misses + 1
