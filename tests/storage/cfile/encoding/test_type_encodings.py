"""The table of encodings, and each of its kernels by itself: values, boundaries, damaged bytes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.catalog.table_info import new_table
from pykudu_sql.storage.cfile import block, block_decoder
from pykudu_sql.storage.cfile.cfile_writer import encode_column
from pykudu_sql.storage.cfile.encoding.traits import EncodingTraits
from pykudu_sql.storage.cfile.encoding.type_encodings import (
    BY_TAG,
    ENCODINGS,
    SQL_NAMES,
    SUPPORTED_FEATURES,
    encodings_of,
    features_of,
    resolve_encoding,
)
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.types.arrays import array_to_cells, from_fixed, plain
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import AUTO_ENCODING, Compression, DataType, Encoding
from pykudu_sql.storage.errors import CorruptionError, InvalidSchemaError

NAMES = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "DATE", "TIMESTAMP", "FLOAT", "DOUBLE",
    "DECIMAL(7,2)", "DECIMAL(15,2)", "DECIMAL(38,10)", "VARCHAR(20)", "STRING", "BINARY",
)  # fmt: skip
TYPES = [parse_type(name) for name in NAMES]
CASES = [(kind, encoding) for kind in TYPES for encoding in encodings_of(kind)]
IDS = [f"{kind}-{encoding}" for kind, encoding in CASES]


def boundaries(kind: DataType) -> list[Any]:
    """Cells at the ends of what a type has."""
    if kind.is_text:
        return ["", "a", "a" * 300, "ab\U0001f600", "\x00", "\uffff"]
    if kind.is_variable:
        return [b"", b"\x00", b"\xff" * 300, b"ab"]
    if kind.is_floating:
        return [0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1.5]
    if kind.integer_range is None:
        return [False, True]
    low, high = kind.integer_range
    return [low, low + 1, -1, 0, 1, high - 1, high]


def column_of(kind: DataType, cells: list[Any]) -> pa.Array:
    """Cells as an array of the type."""
    valid = np.array([cell is not None for cell in cells], np.bool_)
    if kind.is_variable:
        return pa.array(cells, kind.arrow)
    filled = [0 if cell is None else cell for cell in cells]
    if kind.width == 16:
        words = [(v & (1 << 64) - 1, v >> 64 & (1 << 64) - 1) for v in map(int, filled)]
        return from_fixed(np.array(words, np.uint64).reshape(-1, 2), kind, valid)
    values: npt.NDArray[Any] = np.array(filled, kind.numpy)
    return from_fixed(values, kind, valid)


def blocks_of(
    kind: DataType, encoding: EncodingTraits, values: pa.Array
) -> tuple[list[block.Block], pa.Array | None]:
    """The opened blocks of a column, and its dictionary."""
    encoded = encode_column(kind, encoding.name, Compression.NO_COMPRESSION, 512, values)
    opened = [block.unpack(np.frombuffer(data, np.uint8), None) for data in encoded.blocks]
    if encoded.dictionary is None:
        return opened, None
    words = block.unpack(np.frombuffer(encoded.dictionary, np.uint8), None)
    return opened, block_decoder.decode([words], kind, None)


def cells_strategy(kind: DataType) -> st.SearchStrategy[list[Any]]:
    """Few different values in long runs, many different ones, boundaries, NULLs."""
    edges = st.sampled_from(boundaries(kind))
    if kind.integer_range is not None:
        low, high = kind.integer_range
        any_cell: st.SearchStrategy[Any] = edges | st.integers(low, high)
    elif kind.is_text:
        any_cell = edges | st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
    elif kind.is_variable:
        any_cell = edges | st.binary(max_size=20)
    elif kind.is_floating:
        any_cell = edges | st.floats(width=32)
    else:
        any_cell = edges
    runs = st.lists(st.tuples(any_cell | st.none(), st.integers(1, 70)), min_size=1, max_size=12)
    repeated = runs.map(lambda pairs: [cell for cell, count in pairs for _ in range(count)])
    return repeated | st.lists(any_cell | st.none(), min_size=1, max_size=200)


@pytest.mark.parametrize(("kind", "encoding"), CASES, ids=IDS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_block_decodes_to_the_values_that_were_encoded(
    kind: DataType, encoding: EncodingTraits, data: st.DataObject
) -> None:
    values = column_of(kind, data.draw(cells_strategy(kind)))
    blocks, words = blocks_of(kind, encoding, values)
    decoded = block_decoder.decode(blocks, kind, words)
    decoded.validate(full=True)
    assert repr(array_to_cells(decoded, kind)) == repr(array_to_cells(values, kind))


@pytest.mark.parametrize(("kind", "encoding"), CASES, ids=IDS)
def test_the_ends_of_a_types_range_survive_beside_each_other(
    kind: DataType, encoding: EncodingTraits
) -> None:
    edges = boundaries(kind)
    for cells in (edges, edges[::-1], edges * 40, [edges[0], edges[-1]] * 70, [None, *edges]):
        values = column_of(kind, cells)
        blocks, words = blocks_of(kind, encoding, values)
        decoded = plain(block_decoder.decode(blocks, kind, words))
        assert repr(array_to_cells(decoded, kind)) == repr(array_to_cells(values, kind))


@pytest.mark.parametrize(("kind", "encoding"), CASES, ids=IDS)
def test_null_slots_decode_to_zeros(kind: DataType, encoding: EncodingTraits) -> None:
    if kind.is_variable or kind.integer_range is None:
        return
    cells = [7, None, 9, 11, None] * 30
    blocks, words = blocks_of(kind, encoding, column_of(kind, cells))
    decoded = block_decoder.decode(blocks, kind, words)
    bare = pa.Array.from_buffers(kind.arrow, len(decoded), [None, decoded.buffers()[1]])
    assert array_to_cells(bare, kind) == [0 if cell is None else cell for cell in cells]


def damaged(payload: bytes) -> Iterator[bytes]:
    """A payload cut short, made longer, and with each byte of its beginning changed."""
    for length in {0, 1, len(payload) // 2, len(payload) - 1}:
        yield payload[:length]
    yield payload + b"\x00"
    for place in range(min(len(payload), 72)):
        for change in (0x01, 0x80, 0xFF):
            yield payload[:place] + bytes([payload[place] ^ change]) + payload[place + 1 :]


@pytest.mark.parametrize(("kind", "encoding"), CASES, ids=IDS)
def test_damaged_payloads_are_refused_or_decode_to_values_of_the_type(
    kind: DataType, encoding: EncodingTraits
) -> None:
    cells = (boundaries(kind)[:2] * 8 + boundaries(kind)[-1:] * 48) * 2
    if kind.integer_range is not None:
        cells = list(range(64)) + [64] * 64
    blocks, words = blocks_of(kind, encoding, column_of(kind, cells))
    refused = 0
    for one in blocks:
        for payload in damaged(bytes(one.payload)):
            hostile = block.Block(
                one.encoding, one.rows, one.validity, np.frombuffer(payload, np.uint8)
            )
            try:
                decoded = block_decoder.decode([hostile], kind, words)
            except CorruptionError:
                refused += 1
                continue
            decoded.validate(full=True)
            assert len(decoded) == one.rows
    assert refused


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_a_block_in_an_encoding_that_does_not_fit_the_type_is_refused(kind: DataType) -> None:
    payload = np.zeros(64, np.uint8)
    for encoding in ENCODINGS:
        if encoding.fits(kind):
            continue
        with pytest.raises(CorruptionError, match=r"cannot be encoded as|has no dictionary"):
            block_decoder.decode([block.Block(encoding, 8, None, payload)], kind, None)


def test_each_encoding_has_a_tag_and_a_name_of_its_own_and_kernels_for_what_it_fits() -> None:
    assert len(BY_TAG) == len(ENCODINGS) == len({one.name for one in ENCODINGS})
    for encoding in ENCODINGS:
        assert 0 < encoding.tag < 256
        for kind in filter(encoding.fits, TYPES):
            if kind.is_variable:
                assert encoding.binary or encoding.codes
            else:
                assert (
                    encoding.boolean
                    if kind.integer_range is None and not kind.is_floating
                    else encoding.fixed
                )
        for fallback in encoding.fallback:
            assert not fallback.fallback
    aliases = [alias for one in ENCODINGS for alias in (one.name, *one.aliases)]
    assert len(SQL_NAMES) == len(aliases) + 2


def test_tags_of_released_encodings_never_change() -> None:
    tags = {str(one): one.tag for one in ENCODINGS}
    released = {"PLAIN_ENCODING": 1, "BIT_SHUFFLE": 2, "RLE": 3, "DICT_ENCODING": 4}
    assert tags.items() >= {**released, "PREFIX_ENCODING": 5}.items()
    assert features_of(Encoding(name) for name in released) == 0
    assert features_of(one.name for one in ENCODINGS) == SUPPORTED_FEATURES


def test_types_have_the_defaults_and_the_encodings_of_kudu() -> None:
    def default(name: str) -> str:
        return resolve_encoding(parse_type(name), AUTO_ENCODING).name

    assert default("STRING") == default("BINARY") == "DICT_ENCODING"
    assert default("INT") == default("DOUBLE") == default("DECIMAL(38,2)") == "BIT_SHUFFLE"
    assert default("BOOLEAN") == "RLE"
    for name, encoding in (("DOUBLE", "RLE"), ("DECIMAL(38,2)", "RLE"), ("INT", "PREFIX_ENCODING")):
        with pytest.raises(InvalidSchemaError, match=f"{encoding} not supported for type") as told:
            resolve_encoding(parse_type(name), Encoding(encoding))
        assert told.value.hint and "BIT_SHUFFLE" in told.value.hint
    with pytest.raises(InvalidSchemaError, match="unknown encoding HUFFMAN"):
        resolve_encoding(parse_type("INT"), Encoding("HUFFMAN"))


def test_a_table_whose_column_has_an_encoding_of_another_type_is_not_made() -> None:
    column = ColumnSchema(0, "a", parse_type("INT"), False, Encoding("DICT_ENCODING"))
    schema = create_schema([column], ["a"])
    with pytest.raises(InvalidSchemaError, match="DICT_ENCODING not supported for type INT"):
        new_table("t", schema, PartitionSchema(), "", {})
