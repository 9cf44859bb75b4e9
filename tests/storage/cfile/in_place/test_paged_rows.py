"""The cells of a row that are read in one pass are those that single columns give."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.block_file import BlockFile
from pykudu_sql.storage.cfile.cfile_reader import CFileReader
from pykudu_sql.storage.cfile.cfile_writer import EncodedCFile, encode_column
from pykudu_sql.storage.cfile.decoded.column_cells import ColumnCells
from pykudu_sql.storage.cfile.in_place.paged_rows import PagedRows
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Cell, Compression, Encoding
from pykudu_sql.storage.errors import CorruptionError

ROWS, BLOCK_ROWS = 1_000, 400
STRING, BINARY = parse_type("STRING"), parse_type("BINARY")
_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789", np.uint8)


def _texts(seed: int, lengths: list[int]) -> list[str]:
    generator = np.random.default_rng(seed)
    return [generator.choice(_LETTERS, length).tobytes().decode() for length in lengths]


EQUAL = _texts(1, [100] * ROWS)
SHORT = _texts(2, [40] * ROWS)
# Of one length in the first block alone.
MIXED: list[str | None] = [*_texts(3, [100] * BLOCK_ROWS), *_texts(4, [40, 160] * 300)]
MIXED[-1] = None


def _encode(values: Any, block_size: int, kind: Any = STRING) -> EncodedCFile:
    array = pa.array(values, kind.arrow)
    plain = Encoding("PLAIN_ENCODING")
    return encode_column(kind, plain, Compression.NO_COMPRESSION, block_size, array)


@pytest.fixture
def path(files: Any) -> str:
    blocks = 104 * BLOCK_ROWS  # values, and a length for each
    written: str = files.write(
        {
            "equal": _encode(EQUAL, blocks),
            "bytes": _encode([text.encode() for text in EQUAL], blocks, BINARY),
            "short": _encode(SHORT, 44 * BLOCK_ROWS),
            "mixed": _encode(MIXED, blocks),
        }
    )
    return written


def _columns(container: Any) -> list[CFileReader]:
    columns = [container.cfile(name) for name in ("equal", "bytes", "short", "mixed")]
    assert {tuple(column.first_ordinals[:2]) for column in columns} == {(0, BLOCK_ROWS)}
    return columns


def _row(ordinal: int) -> list[Cell]:
    return [EQUAL[ordinal], EQUAL[ordinal].encode(), SHORT[ordinal], MIXED[ordinal]]


def test_each_row_is_the_cells_of_its_columns(files: Any, path: str) -> None:
    rows = PagedRows(_columns(files.open(path, BlockCache(0))))
    found = [rows.read(*divmod(ordinal, BLOCK_ROWS)) for ordinal in range(2 * BLOCK_ROWS)]
    assert found == [_row(ordinal) for ordinal in range(2 * BLOCK_ROWS)]


def test_a_cell_of_one_length_takes_one_page_and_no_other_call(
    files: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = _columns(files.open(path, BlockCache(1 << 26)))[:3]
    rows = PagedRows(columns)
    monkeypatch.setattr(ColumnCells, "cell_at", None)
    monkeypatch.setattr(BlockFile, "read_page", None)
    monkeypatch.setattr(BlockFile, "read_pages", None)
    assert rows.read(1, 7) == _row(BLOCK_ROWS + 7)[:3]
    assert [column.touches[1] for column in columns] == [1, 1, 1]


def test_blocks_that_are_read_often_are_kept_and_read_in_memory(
    files: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = BlockCache(1 << 26)
    rows = PagedRows(_columns(files.open(path, cache))[:3])
    kept = []
    for slot in range(100):
        assert rows.read(0, slot) == _row(slot)[:3]
        kept.append(cache.entries)
    assert kept[:96] == [0] * 96
    assert kept[96:] == [3] * 4
    monkeypatch.setattr(BlockFile, "read_page", None)
    assert rows.read(0, 300) == _row(300)[:3]


def test_blocks_that_a_scan_has_decoded_are_read_in_memory(
    files: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = _columns(files.open(path, BlockCache(1 << 26)))
    rows = PagedRows(columns)
    monkeypatch.setattr(BlockFile, "read_page", None)
    for column in columns:
        column.read_range(0, 10)
    assert rows.read(0, 300) == _row(300)
    for column in columns:
        column.read_all()
    assert rows.read(1, 300) == _row(BLOCK_ROWS + 300)


def test_touches_are_those_of_the_first_column_however_often_its_block_is_evicted(
    files: Any, path: str
) -> None:
    cache = BlockCache(1 << 26)
    columns = _columns(files.open(path, cache))[:3]
    rows = PagedRows(columns)
    for _ in range(12):
        for slot in range(100):
            assert rows.read(0, slot) == _row(slot)[:3]
        columns[1].read_range(0, 10)  # stays decoded
        cache.pop((path, "equal", 0))
        assert max(column.touches[0] for column in columns) <= 96


@pytest.mark.parametrize(("name", "place"), [("equal", 0), ("bytes", 1), ("short", 2)])
def test_a_flipped_bit_is_an_error_that_names_column_and_block(
    files: Any, path: str, name: str, place: int
) -> None:
    wanted = _row(BLOCK_ROWS + 90)[place]
    raw = wanted if isinstance(wanted, bytes) else str(wanted).encode()
    data = files.env.read_file(path)
    where = data.index(raw) if name != "bytes" else data.index(raw, data.index(raw) + 1)
    files.env.open_writable(path).write_at(where, bytes([raw[0] ^ 1]), point="test")
    rows = PagedRows(_columns(files.open(path, BlockCache(0))))
    assert rows.read(0, 90) == _row(90)
    with pytest.raises(CorruptionError, match=rf"block 1 of CFile '{name}' .* checksum"):
        rows.read(1, 90)


def test_text_that_is_none_is_an_error_that_names_column_and_block(files: Any) -> None:
    values = [text.encode() + b"\xff" for text in EQUAL]  # bounds are of the first 64 bytes
    encoded = replace(_encode(values, 1 << 20, BINARY), type=STRING)
    rows = PagedRows([files.open(files.write({"c": encoded})).cfile("c")])
    with pytest.raises(CorruptionError, match=r"block 0 of CFile 'c' .* not UTF-8"):
        rows.read(0, 5)
