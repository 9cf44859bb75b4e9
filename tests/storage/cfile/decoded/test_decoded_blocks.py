"""Blocks are decoded once while the cache has them, and single cells do not keep them alive."""

from typing import Any

import pyarrow as pa
import pytest

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.cfile_writer import encode_column
from pykudu_sql.storage.cfile.decoded.decoded_blocks import DecodedBlocks
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Compression, Encoding

BIGINT = parse_type("BIGINT")
ROWS = 4000


@pytest.fixture
def cache() -> BlockCache:
    return BlockCache(1 << 20)


@pytest.fixture
def decoded(files: Any, cache: BlockCache) -> DecodedBlocks:
    values = pa.array(range(ROWS), pa.int64())
    encoded = encode_column(
        BIGINT, Encoding("PLAIN_ENCODING"), Compression.NO_COMPRESSION, 4096, values
    )
    cfile = files.open(files.write({"c": encoded})).cfile("c")
    return DecodedBlocks(cfile._blocks, BIGINT, cache, ("file", "c"))


def test_a_block_is_decoded_once_while_the_cache_has_it(decoded: DecodedBlocks) -> None:
    stats = ScanStats()
    first = decoded.block(1, stats)
    assert decoded.block(1, stats) is first
    assert stats.blocks_decoded == 1
    assert decoded.cached_whole() is None
    whole = decoded.whole(stats)
    assert whole is decoded.whole(stats) is decoded.cached_whole()
    assert whole.array.to_pylist() == list(range(ROWS))
    assert stats.blocks_decoded == 1 + len(decoded.memos)


def test_a_cell_finds_a_block_only_while_it_is_in_memory(
    decoded: DecodedBlocks, cache: BlockCache
) -> None:
    assert decoded.block_for_cell(1) is None
    decoded.block(1)
    for _ in range(40):  # past the cache and through it
        block = decoded.block_for_cell(1)
        assert block is not None
    assert block.read_cell(0) == block.array[0].as_py()
    del block
    cache.forget("file")
    assert decoded.block_for_cell(1) is None


def test_who_takes_the_memory_of_a_column_has_it_alone(decoded: DecodedBlocks) -> None:
    assert decoded.take_memory() is None
    array = decoded.whole().array
    assert decoded.take_memory() is None
    assert decoded.whole().array.to_pylist() == array.to_pylist()
    del array
    memory = decoded.take_memory()
    assert memory is not None
    assert memory.numbers().tolist() == list(range(ROWS))
    assert decoded.cached_whole() is None
