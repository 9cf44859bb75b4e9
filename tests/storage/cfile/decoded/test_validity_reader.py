"""Where cells are NULL is read of the blocks that have a NULL, and kept for whole columns."""

from typing import Any

import pyarrow as pa

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.cfile_writer import encode_column
from pykudu_sql.storage.cfile.decoded.validity_reader import ValidityReader
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Compression, Encoding

ROWS = 400


def test_blocks_without_a_null_are_not_read_and_the_whole_column_is_kept(files: Any) -> None:
    values = pa.array([None if i in (90, 310) else f"text {i}" for i in range(ROWS)])
    encoded = encode_column(
        parse_type("STRING"), Encoding("PLAIN_ENCODING"), Compression.NO_COMPRESSION, 400, values
    )
    cfile = files.open(files.write({"c": encoded})).cfile("c")
    cache, stats = BlockCache(1 << 20), ScanStats()
    reader = ValidityReader(cfile._blocks, cache, ("file", "c", "validity"))
    assert cfile.block_count > 5
    assert reader.read(150, 250, stats).null_count == 0
    assert (stats.blocks_decoded, cache.entries) == (0, 0)
    assert reader.read(300, 320, stats).null_count == 1
    assert (stats.blocks_decoded, cache.entries) == (1, 0)
    whole = reader.read(0, ROWS, stats)
    assert whole.is_valid().to_pylist() == values.is_valid().to_pylist()
    assert (stats.blocks_decoded, cache.entries) == (3, 1)
    assert reader.read(300, 320, stats).null_count == 1
    assert stats.blocks_decoded == 3
