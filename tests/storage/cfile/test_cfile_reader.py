"""All ways to read a CFile give the same rows, whatever the cache holds."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.cfile_reader import CFileReader
from pykudu_sql.storage.cfile.cfile_writer import encode_column
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.arrays import array_to_cells, from_fixed
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Compression, DataType, Encoding, Kind
from pykudu_sql.storage.errors import InternalError

ROWS = 400
TYPES = [parse_type(name) for name in ("BIGINT", "BOOLEAN", "DECIMAL(9,2)", "DECIMAL(30,2)")]
STRINGS = [(parse_type("STRING"), 50), (parse_type("STRING"), 100_000), (parse_type("BINARY"), 9)]


def reader_of(
    files: Any, column: Any, column_type: DataType, distinct: int, cache: BlockCache
) -> tuple[CFileReader, pa.Array]:
    values = column(column_type, ROWS, seed=5, nulls=0.1, distinct=distinct)
    encoded = encode_column(
        column_type, Encoding("AUTO_ENCODING"), Compression.NO_COMPRESSION, 400, values
    )
    return files.open(files.write({"c": encoded}), cache).cfile("c"), values


@pytest.mark.parametrize(
    ("column_type", "distinct"), [*((t, 100) for t in TYPES), *STRINGS], ids=str
)
@settings(max_examples=30)
@given(data=st.data())
def test_ranges_rows_and_cells_are_those_of_the_whole_column(
    files: Any, column: Any, column_type: DataType, distinct: int, data: st.DataObject
) -> None:
    capacity = data.draw(st.sampled_from((0, 1500, 1 << 26)))
    reader, values = reader_of(files, column, column_type, distinct, BlockCache(capacity))
    expected = values.to_pylist()
    if data.draw(st.booleans()):
        assert reader.read_all().to_pylist() == expected
    start = data.draw(st.integers(0, ROWS))
    stop = data.draw(st.integers(start, ROWS))
    assert reader.read_range(start, stop).to_pylist() == expected[start:stop]
    assert reader.read_once(start, stop).to_pylist() == expected[start:stop]
    present = [cell is not None for cell in expected[start:stop]]
    assert reader.validity(start, stop).is_valid().to_pylist() == present
    some = sorted(data.draw(st.lists(st.integers(0, ROWS - 1), max_size=20)))
    taken = reader.take(np.array(some, np.int64))
    assert taken.to_pylist() == [expected[i] for i in some]
    assert reader.take_once(np.array(some, np.int64)).to_pylist() == taken.to_pylist()
    number = data.draw(st.integers(0, reader.block_count - 1))
    first, end = reader.zone_map.first_ordinals[number : number + 2].tolist()
    assert reader.read_block(number).to_pylist() == expected[first:end]


def test_only_the_blocks_touched_are_read(files: Any, column: Any) -> None:
    cache = BlockCache(1 << 26)
    reader, _ = reader_of(files, column, TYPES[0], 100, cache)
    assert reader.block_count == 9
    reader.read_range(0, 10)
    reader.cell(3)
    assert cache.entries == 1
    reader.take(np.array([5, 300]))
    assert cache.entries == 2


@pytest.mark.parametrize("encoding", ["PLAIN_ENCODING", "PREFIX_ENCODING"])
@pytest.mark.parametrize("type_name", ["STRING", "BINARY"])
def test_a_block_of_text_is_kept_when_the_second_of_its_cells_is_read(
    files: Any, column: Any, type_name: str, encoding: str
) -> None:
    column_type = parse_type(type_name)
    values = column(column_type, ROWS, seed=5, nulls=0.1, distinct=100_000)
    encoded = encode_column(
        column_type, Encoding(encoding), Compression.NO_COMPRESSION, 2_000, values
    )
    cache = BlockCache(1 << 26)
    reader = files.open(files.write({"c": encoded}), cache).cfile("c")
    expected = array_to_cells(values, column_type)
    starts = reader.zone_map.first_ordinals[:-1].tolist()
    assert len(starts) > 1
    assert [reader.cell(start + 1) for start in starts] == [expected[s + 1] for s in starts]
    assert cache.entries == 0
    for start in starts:
        reader.cell(start)
    assert cache.entries == len(starts)
    assert [reader.cell(row) for row in range(ROWS)] == expected


def test_once_the_column_is_cached_whole_ranges_share_its_memory(files: Any, column: Any) -> None:
    reader, _ = reader_of(files, column, TYPES[0], 100, BlockCache(1 << 26))
    whole = reader.read_all()
    for part in (reader.read_range(100, 200), reader.read_block(3), reader.read_all()):
        assert part.buffers()[1].address == whole.buffers()[1].address


def test_reading_most_blocks_reads_the_column_whole(files: Any, column: Any) -> None:
    cache = BlockCache(1 << 26)
    reader, _ = reader_of(files, column, TYPES[0], 100, cache)
    reader.read_range(10, ROWS - 10)
    assert cache.entries == 1
    misses = cache.misses
    reader.read_all()
    assert cache.misses == misses


def test_rows_that_are_read_once_are_not_cached(files: Any, column: Any) -> None:
    cache = BlockCache(1 << 26)
    reader, _ = reader_of(files, column, TYPES[0], 100, cache)
    assert len(reader.read_once(10, ROWS - 10)) == ROWS - 20
    assert cache.entries == 0


def test_rows_that_are_taken_once_are_not_cached_where_most_blocks_are_read(
    files: Any, column: Any
) -> None:
    cache = BlockCache(1 << 26)
    reader, values = reader_of(files, column, TYPES[0], 100, cache)
    expected = values.to_pylist()
    many, few = np.arange(7, ROWS - 7, 3), np.array([0, ROWS - 1])
    assert reader.take_once(many).to_pylist() == [expected[i] for i in many]
    assert cache.entries == 0
    assert reader.take_once(few).to_pylist() == [expected[i] for i in few]
    assert cache.entries > 0


def test_rows_that_are_read_once_come_from_a_cached_column(files: Any, column: Any) -> None:
    reader, _ = reader_of(files, column, TYPES[0], 100, BlockCache(1 << 26))
    whole = reader.read_all()
    assert reader.read_once(100, 200).buffers()[1].address == whole.buffers()[1].address


def test_rows_that_are_not_there_are_refused(files: Any, column: Any) -> None:
    reader, _ = reader_of(files, column, TYPES[0], 100, BlockCache(0))
    for ask in (
        lambda: reader.cell(ROWS),
        lambda: reader.cell(-1),
        lambda: reader.read_range(5, ROWS + 1),
        lambda: reader.read_range(5, 4),
        lambda: reader.read_once(5, ROWS + 1),
        lambda: reader.take(np.array([ROWS])),
        lambda: reader.take(np.array([4, 3])),
    ):
        with pytest.raises(InternalError, match="CFile 'c'"):
            ask()


def test_decoded_rows_outlive_the_closed_file(files: Any, column: Any) -> None:
    values = column(TYPES[0], ROWS)
    encoded = encode_column(
        TYPES[0], Encoding("AUTO_ENCODING"), Compression.NO_COMPRESSION, 400, values
    )
    container = files.open(files.write({"c": encoded}))
    read = container.cfile("c").read_all()
    container.close()
    assert read.equals(values)


def test_threads_that_share_a_reader_and_a_small_cache_read_the_same_rows(
    files: Any, column: Any
) -> None:
    reader, values = reader_of(files, column, TYPES[0], 100, BlockCache(1500))
    expected = values.to_pylist()

    def work(seed: int) -> bool:
        starts = np.random.default_rng(seed).integers(0, ROWS - 50, 200).tolist()
        return all(
            reader.read_range(start, start + 50).to_pylist() == expected[start : start + 50]
            and reader.cell(start) == expected[start]
            for start in starts
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


@pytest.mark.parametrize("column_type", TYPES, ids=str)
def test_the_memory_of_a_column_goes_to_who_takes_it_once_no_array_is_left(
    files: Any, column: Any, column_type: DataType
) -> None:
    reader, values = reader_of(files, column, column_type, 100, BlockCache(1 << 26))
    assert reader.take_memory() is None
    held: Any = reader.read_all().slice(7, 20)
    assert reader.take_memory() is None
    assert reader.read_all().buffers()[1].address == held.buffers()[1].address
    held = reader.cell
    assert held(3) == array_to_cells(values, column_type)[3]
    del held
    memory = reader.take_memory()
    if column_type.kind is Kind.BOOL:
        assert memory is None
        return
    assert memory is not None and reader.take_memory() is None
    cells, valid = memory.numbers(), memory.validity()
    assert from_fixed(cells.copy(), column_type, valid).equals(values)
    cells[:] = 0
    assert reader.read_all().equals(values)


def test_where_cells_are_null_is_read_of_the_blocks_that_have_a_null(files: Any) -> None:
    text = parse_type("STRING")
    values = pa.array([None if i == 310 else f"text {i}" for i in range(ROWS)])
    encoded = encode_column(
        text, Encoding("PLAIN_ENCODING"), Compression.NO_COMPRESSION, 400, values
    )
    reader = files.open(files.write({"c": encoded})).cfile("c")
    stats = ScanStats()
    assert reader.validity(0, ROWS, stats).is_valid().to_pylist() == [i != 310 for i in range(ROWS)]
    assert reader.validity(300, 320, stats).null_count == 1
    assert reader.validity(0, 300, stats).null_count == 0
    assert reader.block_count > 5
    assert stats.blocks_decoded == 1
