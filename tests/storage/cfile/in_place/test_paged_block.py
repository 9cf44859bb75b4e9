"""Any stretch of a block comes as it was written, and no page is read twice in a row."""

from typing import Any

import pytest

from pykudu_sql.storage.cfile.block_file import BlockFile, FileIdentity
from pykudu_sql.storage.cfile.in_place.page_checksums import (
    PAGE_BYTES,
    PageChecksums,
    page_checksums,
)
from pykudu_sql.storage.cfile.in_place.paged_block import PagedBlock
from pykudu_sql.storage.errors import CorruptionError

IDENTITY = FileIdentity(b"database-id-0001", "tablet-1", "base", 7)
BLOCKS = [bytes(range(251)) * 100, b"short", bytes(reversed(range(256))) * 96]


def open_block(files: Any, number: int) -> PagedBlock:
    file = BlockFile(files.env.open_random(files.put(b"head" + b"".join(BLOCKS))), IDENTITY)
    lengths = [len(block) for block in BLOCKS]
    blob = page_checksums(IDENTITY.checksum_seed(), BLOCKS, PAGE_BYTES)
    pages = PageChecksums.from_bytes(memoryview(blob), lengths)
    return PagedBlock(file, 4 + sum(lengths[:number]), lengths[number], number, pages)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_every_stretch_is_what_was_written(files: Any, number: int) -> None:
    block, written = open_block(files, number), BLOCKS[number]
    edges = [0, 1, 5, PAGE_BYTES - 1, PAGE_BYTES, PAGE_BYTES + 1, 3 * PAGE_BYTES, len(written)]
    edges = [edge for edge in edges if edge <= len(written)]
    for start in edges:
        for stop in edges:
            if start <= stop:
                assert block.read(start, stop) == written[start:stop]


def test_pages_read_last_are_kept(files: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    block = open_block(files, 0)
    block.read(0, 12)
    monkeypatch.setattr(BlockFile, "read_pages", None)
    assert block.read(100, PAGE_BYTES) == BLOCKS[0][100:PAGE_BYTES]


@pytest.mark.parametrize(("start", "stop"), [(0, 6), (6, 7), (4, 3), (-1, 2)])
def test_what_lies_outside_a_block_is_no_part_of_it(files: Any, start: int, stop: int) -> None:
    block = open_block(files, 1)
    with pytest.raises(CorruptionError, match="a block of 5 bytes ends before"):
        block.read(start, stop)


def test_pages_of_another_file_are_refused(files: Any) -> None:
    other = FileIdentity(b"database-id-0001", "tablet-1", "base", 8)
    file = BlockFile(files.env.open_random(files.put(BLOCKS[0])), other)
    blob = page_checksums(IDENTITY.checksum_seed(), BLOCKS[:1], PAGE_BYTES)
    pages = PageChecksums.from_bytes(memoryview(blob), [len(BLOCKS[0])])
    with pytest.raises(CorruptionError, match="checksum of the page at 8192 does not match"):
        PagedBlock(file, 0, len(BLOCKS[0]), 0, pages).read(PAGE_BYTES, PAGE_BYTES + 1)
