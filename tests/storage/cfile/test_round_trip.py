"""What is written to a CFile is what is read from it, for every type, encoding and compression."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.cfile.cfile_writer import EncodedCFile, encode_column
from pykudu_sql.storage.cfile.encoding.type_encodings import encodings_of
from pykudu_sql.storage.common.types.arrays import array_to_cells, plain
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Compression, DataType, Encoding
from pykudu_sql.storage.common.types.validity_array import validity_array
from pykudu_sql.storage.errors import (
    CorruptionError,
    InvalidSchemaError,
    InvalidValueError,
    ValueTooLargeError,
)

NAMES = (
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "DATE",
    "TIMESTAMP",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(7,2)",
    "DECIMAL(15,2)",
    "DECIMAL(38,10)",
    "VARCHAR(20)",
    "STRING",
    "BINARY",
)
TYPES = [parse_type(name) for name in NAMES]
COMPRESSIONS = [c for c in Compression if c is not Compression.DEFAULT_COMPRESSION]
STRING = parse_type("STRING")
BIGINT = parse_type("BIGINT")


def encode(column_type: Any, values: pa.Array, **options: Any) -> EncodedCFile:
    return encode_column(
        column_type,
        options.get("encoding", Encoding("AUTO_ENCODING")),
        options.get("compression", Compression.NO_COMPRESSION),
        options.get("block_size", 512),
        values,
    )


def same(left: pa.Array, right: pa.Array, column_type: DataType) -> bool:
    """Equal cells, NaN and the sign of zero included."""
    assert plain(left).type == plain(right).type == column_type.arrow
    return repr(array_to_cells(left, column_type)) == repr(array_to_cells(right, column_type))


@pytest.mark.parametrize("column_type", TYPES, ids=str)
@settings(max_examples=30)
@given(data=st.data())
def test_every_type_encoding_and_compression_reads_back_what_was_written(
    files: Any, column: Any, column_type: Any, data: st.DataObject
) -> None:
    encoding = data.draw(
        st.sampled_from(("AUTO_ENCODING", *(one.name for one in encodings_of(column_type))))
    )
    compression = data.draw(st.sampled_from(COMPRESSIONS))
    block_size = data.draw(st.sampled_from((512, 1000, 4096)))
    rows = data.draw(st.sampled_from((0, 1, 7, 8, 9, 63, 64, 65, 128, 300, 513)))
    values = column(
        column_type,
        rows,
        seed=data.draw(st.integers(0, 1 << 32)),
        nulls=data.draw(st.sampled_from((0.0, 0.3, 1.0))),
        distinct=data.draw(st.sampled_from((1, 3, 200, 100_000))),
    )
    encoded = encode(
        column_type, values, encoding=encoding, compression=compression, block_size=block_size
    )
    reader = files.open(files.write({"c": encoded})).cfile("c")
    assert (reader.row_count, reader.null_count) == (rows, values.null_count)
    read = reader.read_all()
    read.validate(full=True)
    assert same(read, values, column_type)
    cells = array_to_cells(read, column_type)
    assert repr([reader.cell(i) for i in range(rows)]) == repr(cells)


@pytest.mark.parametrize("nulls", [0.0, 0.4])
@pytest.mark.parametrize("words", [1, 128, 129, 5000])
def test_a_dictionary_array_is_stored_and_read_without_becoming_strings(
    files: Any, words: int, nulls: float
) -> None:
    random = np.random.default_rng(words)
    codes = random.integers(0, words, 20_000).astype(np.int32)
    codes[:words] = np.arange(words)
    mask = random.random(20_000) < nulls
    mask[:words] = False
    dictionary = pa.array([f"word {i * 7919 % words}" for i in range(words)])
    values = pa.DictionaryArray.from_arrays(pa.array(codes, mask=mask), dictionary)
    encoded = encode(STRING, values, block_size=256 * 1024)
    assert encoded.encoding == "DICT_ENCODING"
    read = files.open(files.write({"c": encoded})).cfile("c").read_all()
    read.validate(full=True)
    width = 8 if words <= 128 else 16
    assert read.type == pa.dictionary(pa.int8() if width == 8 else pa.int16(), pa.string())
    assert read.dictionary.to_pylist() == sorted(dictionary.to_pylist())
    assert same(read, values, STRING)


@pytest.mark.parametrize("last", [None, 0], ids=["null", "word"])
def test_a_dictionary_with_repeated_null_and_unused_words_is_stored_as_what_it_means(
    files: Any, last: int | None
) -> None:
    words = pa.array(["b", None, "a", "b", *(f"unused {i}" for i in range(300))])
    values = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, last], pa.int16()), words)
    assert validity_array(values).is_null().to_pylist() == values.is_null().to_pylist()
    read = files.open(files.write({"c": encode(STRING, values)})).cfile("c").read_all()
    assert read.to_pylist() == ["b", None, "a", "b", None if last is None else "b"]
    assert read.dictionary.to_pylist() == ["a", "b"]


def test_strings_too_varied_for_a_dictionary_block_are_stored_plain(files: Any) -> None:
    values = pa.array([f"{i:020d}" for i in range(1000)])
    encoded = encode(STRING, values)
    assert encoded.encoding == "PLAIN_ENCODING"
    assert encoded.dictionary is None
    assert same(files.open(files.write({"c": encoded})).cfile("c").read_all(), values, STRING)


def test_a_file_that_mixes_dictionary_and_plain_blocks_is_refused(files: Any) -> None:
    words = pa.array(["x", "y"] * 64)
    coded = encode(STRING, words)
    spelled = encode(STRING, words, encoding=Encoding("PLAIN_ENCODING"), block_size=4096)
    assert (len(coded.blocks), len(spelled.blocks)) == (1, 1)
    both = encode(STRING, pa.concat_arrays([words, words]), block_size=512)
    mixed = EncodedCFile(
        both.type,
        both.encoding,
        both.compression,
        both.raw_size,
        (coded.blocks[0], spelled.blocks[0]),
        coded.dictionary,
        both.zone_map,
    )
    assert len(both.blocks) == 2
    reader = files.open(files.write({"c": mixed})).cfile("c")
    assert reader.cell(100) == "x"
    with pytest.raises(CorruptionError, match=r"block 1 .* of a dictionary column"):
        reader.read_all()


def test_chunked_values_are_one_column(files: Any, column: Any) -> None:
    parts = [column(BIGINT, rows, seed=rows, nulls=0.2) for rows in (100, 0, 37)]
    encoded = encode(BIGINT, pa.chunked_array(parts, pa.int64()))
    read = files.open(files.write({"c": encoded})).cfile("c").read_all()
    assert same(read, pa.concat_arrays(parts), BIGINT)


def test_null_slots_leave_no_trace_of_the_bytes_beneath_them() -> None:
    buffers = [pa.py_buffer(b"\x05"), pa.py_buffer(np.array([1, 0x5EC2E7, 3], np.int64))]
    values = pa.Array.from_buffers(pa.int64(), 3, buffers)
    encoded = encode(BIGINT, values, encoding=Encoding("PLAIN_ENCODING"))
    assert b"\xe7\xc2\x5e" not in encoded.blocks[0]
    text = pa.array(["open", "secret", "open"])
    hidden = pa.Array.from_buffers(pa.string(), 3, [pa.py_buffer(b"\x05"), *text.buffers()[1:]])
    spelled = encode(STRING, hidden, encoding=Encoding("PLAIN_ENCODING"))
    assert b"secret" not in spelled.blocks[0]


def test_runs_that_do_not_pay_are_bit_shuffled_instead(files: Any) -> None:
    values = pa.array(np.concatenate((np.zeros(64, np.int64), np.arange(64))))
    encoded = encode(BIGINT, values, encoding=Encoding("RLE"))
    assert [block[0] for block in encoded.blocks] == [3, 2]
    assert same(files.open(files.write({"c": encoded})).cfile("c").read_all(), values, BIGINT)


def test_a_block_is_kept_uncompressed_when_compression_saves_less_than_a_tenth() -> None:
    noise = pa.array(np.random.default_rng(1).integers(-(1 << 62), 1 << 62, 64))
    zeros = pa.array(np.zeros(64, np.int64))
    for compression in COMPRESSIONS[1:]:
        tags = [
            encode(
                BIGINT, values, encoding=Encoding("PLAIN_ENCODING"), compression=compression
            ).blocks[0][2]
            for values in (noise, zeros)
        ]
        assert tags == [0, COMPRESSIONS.index(compression)]


def test_blocks_are_cut_by_their_size_before_encoding(column: Any) -> None:
    numbers = encode(BIGINT, column(BIGINT, 10_000), block_size=4096)
    assert set(numbers.zone_map.row_counts[:-1].tolist()) == {512}
    words = pa.array(["x" * 96] * 1000)
    strings = encode(STRING, words, encoding=Encoding("PLAIN_ENCODING"), block_size=1000)
    assert set(strings.zone_map.row_counts[:-1].tolist()) == {8}


def test_an_encoding_of_another_type_is_refused() -> None:
    with pytest.raises(InvalidSchemaError, match="PREFIX_ENCODING not supported for type BIGINT"):
        encode(BIGINT, pa.array([1]), encoding=Encoding("PREFIX_ENCODING"))
    with pytest.raises(InvalidSchemaError, match="RLE not supported for type DOUBLE"):
        encode(parse_type("DOUBLE"), pa.array([1.0]), encoding=Encoding("RLE"))


def test_values_of_another_arrow_type_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="BIGINT cannot hold Arrow's int32"):
        encode(BIGINT, pa.array([1], pa.int32()))


def test_cells_that_no_block_can_hold_are_refused() -> None:
    giants = pa.array(["x" * (3 << 20)] * 8)
    with pytest.raises(ValueTooLargeError, match="rows 0 to 8 hold 25165856 bytes"):
        encode(STRING, giants, encoding=Encoding("PLAIN_ENCODING"))


@pytest.mark.parametrize("kind", ["SMALLINT", "INT", "BIGINT"])
@settings(max_examples=60)
@given(data=st.data())
def test_integers_close_together_are_narrowed_and_come_back(
    files: Any, kind: str, data: st.DataObject
) -> None:
    column_type = parse_type(kind)
    low, high = column_type.integer_range or (0, 0)
    base = data.draw(st.integers(low, high))
    step = data.draw(st.sampled_from((1, 2, 100, 255, 1 << 20)))
    codes = data.draw(st.lists(st.integers(0, 70_000), min_size=1, max_size=200))
    values = [max(low, min(high, base + step * code)) for code in codes]
    array = pa.array(values, column_type.arrow)
    encoded = encode(column_type, array, block_size=4096)
    read = files.open(files.write({"c": encoded})).cfile("c").read_all()
    assert read.to_pylist() == values


def test_a_column_of_few_different_steps_takes_a_byte_a_value_at_most() -> None:
    random = np.random.default_rng(5)
    prices = pa.array(1 << 40 | random.integers(0, 200, 10_000) * 100)
    assert sum(map(len, encode(BIGINT, prices, block_size=1 << 17).blocks)) < 10_500


@settings(max_examples=60)
@given(
    st.lists(st.text("ab", max_size=6) | st.none() | st.text(max_size=300), max_size=60),
    st.booleans(),
    st.sampled_from(COMPRESSIONS),
)
def test_values_that_share_prefixes_come_back_sorted_or_not(
    files: Any, values: list[str | None], ascending: bool, compression: Compression
) -> None:
    ordered = sorted(values, key=lambda value: value or "") if ascending else values
    encoded = encode(
        STRING,
        pa.array(ordered, pa.string()),
        encoding=Encoding("PREFIX_ENCODING"),
        compression=compression,
    )
    reader = files.open(files.write({"c": encoded})).cfile("c")
    assert reader.read_all().to_pylist() == ordered
    assert [reader.cell(i) for i in range(len(ordered))] == ordered


def test_sorted_strings_take_less_as_prefixes_than_plain() -> None:
    keys = pa.array([f"customer/{i // 100:06d}/order-{i:010d}" for i in range(40_000)])
    plain_size, prefix_size = (
        sum(map(len, encode(STRING, keys, encoding=encoding, block_size=1 << 16).blocks))
        for encoding in (Encoding("PLAIN_ENCODING"), Encoding("PREFIX_ENCODING"))
    )
    assert prefix_size < plain_size / 2


def test_long_values_share_what_a_length_of_one_byte_can_tell(files: Any) -> None:
    values = pa.array(["x" * length for length in (0, 254, 255, 256, 257, 5000, 60_000, 1)])
    encoded = encode(STRING, values, encoding=Encoding("PREFIX_ENCODING"))
    assert files.open(files.write({"c": encoded})).cfile("c").read_all().equals(values)
