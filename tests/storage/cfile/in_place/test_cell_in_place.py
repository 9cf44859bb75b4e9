"""One cell of a block of text is read by the pages that it takes, and is the cell written."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.cfile.block import HEADER_BYTES, pack, read_header
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.block_file import BlockFile, Section
from pykudu_sql.storage.cfile.cfile_writer import encode_column
from pykudu_sql.storage.cfile.encoding.plain import PLAIN_ENCODING
from pykudu_sql.storage.cfile.in_place import cell_places
from pykudu_sql.storage.cfile.in_place.cell_in_place import locate_cells, read_cell, value_reader
from pykudu_sql.storage.cfile.in_place.page_checksums import PAGE_BYTES, blob_name
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Cell, Compression, Encoding
from pykudu_sql.storage.errors import CorruptionError

ROWS = 900
STRING, BINARY = parse_type("STRING"), parse_type("BINARY")
_WORDS = ("of", "and", "to", "in", "that", "for", "was", "with", "not", "his", "but", "are")


def _random(generator: np.random.Generator, length: int) -> str:
    return bytes(generator.integers(97, 123, length, dtype=np.uint8)).decode()


def texts(shape: str) -> list[str | None]:
    generator = np.random.default_rng(3)
    lengths = generator.integers(0, 300, ROWS).tolist()
    if shape == "random":
        return [_random(generator, length) for length in lengths]
    if shape == "one length":
        return [_random(generator, 100) for _ in range(ROWS)]
    if shape == "words":
        return ["".join(generator.choice(_WORDS, length)) + str(length) for length in lengths]
    return [
        None if number % 3 == 0 else _random(generator, 0 if number % 7 else 3 * PAGE_BYTES)
        for number in range(ROWS // 10)
    ]


SOME = {shape: [str(value) for value in texts(shape)[:64]] for shape in ("random", "words")}


def encode(values: list[str | None], block_size: int = 64 * 1024, **kind: Any) -> Any:
    column_type = kind.pop("type", STRING)
    array = pa.array(values, pa.string()).cast(column_type.arrow)
    compression = kind.pop("compression", Compression.NO_COMPRESSION)
    return encode_column(column_type, Encoding("PLAIN_ENCODING"), compression, block_size, array)


@pytest.fixture
def no_whole_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads all of a data block fails."""
    read_run = BlockFile.read_run

    def read_others(file: BlockFile, section: Section, *place: Any) -> Any:
        assert section is not Section.DATA
        return read_run(file, section, *place)

    monkeypatch.setattr(BlockFile, "read_run", read_others)


@pytest.mark.parametrize("block_size", [64 * 1024, 1 << 20])
@pytest.mark.parametrize("shape", ["random", "one length", "words", "nulls and long ones"])
@pytest.mark.usefixtures("no_whole_blocks")
def test_each_cell_is_read_without_the_rest_of_its_block(
    files: Any, shape: str, block_size: int
) -> None:
    values = texts(shape)
    path = files.write(
        {"c": encode(values, block_size), "d": encode(values, block_size, type=BINARY)}
    )
    for name in "cd":
        found: list[Cell] = []
        for row in range(len(values)):
            if row % 3 == 0:
                reader = files.open(path, BlockCache(0)).cfile(name)
            found.append(reader.cell(row))
        written = values if name == "c" else [v if v is None else v.encode() for v in values]
        assert found == written


@pytest.mark.parametrize(("shape", "by_pages"), [("one length", 96), ("random", 96), ("words", 6)])
def test_a_block_is_kept_once_its_cells_are_read_often_and_once_more_after_it_was_evicted(
    files: Any, shape: str, by_pages: int
) -> None:
    values = texts(shape)
    cache = BlockCache(1 << 26)
    reader = files.open(files.write({"c": encode(values, 1 << 20)}), cache).cfile("c")
    kept = []
    for _ in range(2):
        for row in range(by_pages + 2):
            assert reader.cell(row) == values[row]
            kept.append(cache.used > 50_000)
        cache.clear()
    assert kept == [*[False] * by_pages, True, True] * 2


def test_a_cell_of_stored_bytes_is_one_page_once_it_is_known_where_cells_lie(
    files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = texts("random")
    cache = BlockCache(1 << 26)
    reader = files.open(files.write({"c": encode(values, 1 << 20)}), cache).cfile("c")
    assert reader.cell(0) == values[0]
    assert 4 * ROWS <= cache.used <= 5 * ROWS
    reads = []
    read_page = BlockFile.read_page
    monkeypatch.setattr(BlockFile, "read_pages", None)
    monkeypatch.setattr(
        BlockFile, "read_page", lambda *place: (reads.append(place), read_page(*place))[1]
    )
    assert [reader.cell(row) for row in range(10)] == values[:10]
    assert len(reads) == sum(values[row] != "" for row in range(10))


def test_a_cell_of_one_length_is_one_page_from_the_first_on(
    files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = texts("one length")
    cache = BlockCache(1 << 26)
    container = files.open(files.write({"c": encode(values, 20_000)}), cache)
    assert container.blob_names() == ("pages:c", "places:c")
    reader = container.cfile("c")
    assert reader.block_count > 3
    assert reader.cell(0) == values[0]  # and reads the blobs
    reads = []
    read_page = BlockFile.read_page
    monkeypatch.setattr(
        BlockFile, "read_page", lambda *place: (reads.append(place), read_page(*place))[1]
    )
    assert [reader.cell(row) for row in range(10, ROWS, 60)] == values[10::60]
    assert len(reads) == len(range(10, ROWS, 60))
    assert not cache.entries


def test_blocks_of_other_lengths_are_read_by_their_own_heads(files: Any) -> None:
    generator = np.random.default_rng(4)
    values = [_random(generator, 100 if row < 576 else row % 190) for row in range(ROWS)]
    for nulls in (0, 1):
        values[:nulls] = [None] * nulls
        container = files.open(files.write({"c": encode(values, 20_000)}), BlockCache(1 << 26))
        reader = container.cfile("c")
        assert [reader.cell(row) for row in range(ROWS)] == values
        widths = np.frombuffer(container.blob("places:c"), "<u4").reshape(-1, 2)[:, 1].tolist()
        assert widths[nulls:2] == [100] * (2 - nulls)
        assert widths[0] == (0 if nulls else 100)
        assert widths[-1] == 0
        for number in range(reader.block_count):
            reader.check_pages(number)


@pytest.mark.parametrize("shape", ["random", "words", "nulls and long ones"])
def test_columns_of_several_lengths_have_no_places(files: Any, shape: str) -> None:
    container = files.open(files.write({"c": encode(texts(shape), 20_000)}))
    assert container.blob_names() == ("pages:c",)


def test_a_file_without_places_is_read_by_the_heads_of_its_blocks(
    files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = texts("one length")
    monkeypatch.setattr(cell_places, "cell_places", lambda *_: None)
    container = files.open(files.write({"c": encode(values, 20_000)}))
    assert container.blob_names() == ("pages:c",)
    assert [container.cfile("c").cell(row) for row in range(ROWS)] == values


@pytest.mark.parametrize(
    ("places", "problem"),
    [
        (b"", "0 bytes for the places"),
        (np.array([200, 100], "<u4").tobytes(), "block 0"),
        (np.array([34, 0xFFFF], "<u4").tobytes(), "block 0"),
    ],
)
def test_places_of_other_blocks_are_refused(
    files: Any, monkeypatch: pytest.MonkeyPatch, places: bytes, problem: str
) -> None:
    monkeypatch.setattr(cell_places, "cell_places", lambda *_: places)
    reader = files.open(files.write({"c": encode(texts("one length"), 1 << 20)})).cfile("c")
    with pytest.raises(CorruptionError, match=rf"blob 'places:c' .*{problem}"):
        reader.cell(0)


def test_places_that_lie_elsewhere_in_the_block_are_found_by_a_check(
    files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = texts("one length")
    (block,) = encode(values, 1 << 20).blocks
    start, width = cell_places.place_of(STRING, block)
    assert block[start : start + width].decode() == values[0]
    wrong = np.array([start - 7, width], "<u4").tobytes()
    monkeypatch.setattr(cell_places, "cell_places", lambda *_: wrong)
    reader = files.open(files.write({"c": encode(values, 1 << 20)})).cfile("c")
    with pytest.raises(CorruptionError, match="do not lie where they are said to"):
        reader.check_pages(0)


def test_a_flipped_bit_is_found_by_the_cells_of_its_page_and_by_no_other(files: Any) -> None:
    values = texts("one length")
    path = files.write({"c": encode(values, 1 << 20)})
    file = files.env.open_writable(path)
    original = files.env.read_file(path)
    wanted = str(values[500]).encode()
    place = original.index(wanted) + 50
    file.write_at(place, bytes([original[place] ^ 4]), point="test")
    assert files.open(path, BlockCache(0)).cfile("c").cell(100) == values[100]
    with pytest.raises(CorruptionError, match=r"block 0 of CFile 'c' .* checksum of the page"):
        files.open(path, BlockCache(0)).cfile("c").cell(500)
    with pytest.raises(CorruptionError, match="checksum"):
        files.open(path, BlockCache(0)).cfile("c").check_pages(0)


@pytest.mark.parametrize("blob", [b"", b"\0\0\0\0", (8192).to_bytes(4, "little") + bytes(8)])
def test_checksums_of_other_pages_are_refused(files: Any, blob: bytes) -> None:
    encoded = encode(texts("one length"), 1 << 20, compression=Compression.SNAPPY)
    reader = files.open(files.write({"c": encoded}, {blob_name("c"): blob})).cfile("c")
    with pytest.raises(CorruptionError, match="blob 'pages:c'"):
        reader.cell(0)


def test_a_file_without_checksums_of_pages_is_read_by_whole_blocks(files: Any) -> None:
    values = texts("words")
    encoded = encode(values, 1 << 20, compression=Compression.ZSTD)
    container = files.open(files.write({"c": encoded}))
    assert container.blob_names() == ()
    assert [container.cfile("c").cell(row) for row in (0, 7, 899)] == [
        values[row] for row in (0, 7, 899)
    ]


@given(data=st.data(), slot=st.integers(0, 63), shape=st.sampled_from(sorted(SOME)))
def test_a_block_that_contradicts_itself_gives_an_error_or_a_cell(
    data: st.DataObject, slot: int, shape: str
) -> None:
    values = SOME[shape]
    raw = np.frombuffer("".join(values).encode(), np.uint8)
    lengths = np.array([len(value) for value in values], np.uint32)
    codec = PLAIN_ENCODING.binary
    assert codec is not None
    payload = codec.encode(lengths, raw, compressed=True)
    stored = bytearray(pack(PLAIN_ENCODING, Compression.NO_COMPRESSION, 64, None, payload))
    for _ in range(data.draw(st.integers(0, 3))):
        place = data.draw(st.integers(0, 250) | st.integers(0, len(stored) - 1))
        stored[place] = data.draw(st.integers(0, 255))
    block = bytes(stored)

    def read(start: int, stop: int) -> bytes:
        assert 0 <= start <= stop <= len(block)
        return block[start:stop]

    try:
        header = read_header(read(0, HEADER_BYTES), 64)
        read_value = value_reader(header, STRING)
        if read_value is not None:
            cell = read_cell(read, len(block), header, read_value, STRING, slot)
            assert cell is None or isinstance(cell, str)
        stored = locate_cells(read, len(block), header, STRING)
        if stored is not None:
            assert len(stored.ends) == 64
            assert list(stored.ends) == sorted(stored.ends)
            assert stored.start + stored.ends[-1] == len(block)
    except CorruptionError:
        assert block != bytes(pack(PLAIN_ENCODING, Compression.NO_COMPRESSION, 64, None, payload))
