"""Bytes that are not what was written are found and named; they never become a value."""

import json
import struct
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.cfile import footer
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.block_file import FORMAT_VERSION, Section, checksum
from pykudu_sql.storage.cfile.cfile_writer import EncodedCFile, encode_column
from pykudu_sql.storage.cfile.container import ContainerReader, ContainerWriter, FileIdentity
from pykudu_sql.storage.cfile.encoding.delta import DELTA
from pykudu_sql.storage.cfile.encoding.traits import EncodingTraits
from pykudu_sql.storage.cfile.encoding.type_encodings import ENCODINGS
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import AUTO_ENCODING, Compression, Encoding
from pykudu_sql.storage.errors import CorruptionError, FormatVersionError, InternalError

IDENTITY = FileIdentity(b"database-id-0001", "tablet-1", "base", 7)
BIGINT, STRING, BOOLEAN, DOUBLE = map(parse_type, ("BIGINT", "STRING", "BOOLEAN", "DOUBLE"))


def encode(
    column_type: Any,
    values: pa.Array,
    encoding: Encoding = AUTO_ENCODING,
    compression: Compression = Compression.NO_COMPRESSION,
    block_size: int = 512,
) -> EncodedCFile:
    return encode_column(column_type, encoding, compression, block_size, values)


def read_everything(reader: ContainerReader) -> None:
    for name in reader.names():
        reader.cfile(name).read_all()
    for name in reader.blob_names():
        reader.blob(name)


def small_container(files: Any) -> str:
    numbers = encode(BIGINT, pa.array([1, None, 1 << 60] * 24))
    words = encode(STRING, pa.array(["a", "b", None]), compression=Compression.ZSTD)
    path: str = files.write({"1": numbers, "2": words}, {"bloom": b"blob", "empty": b""})
    return path


def test_every_flipped_bit_is_found(files: Any) -> None:
    path = small_container(files)
    file = files.env.open_writable(path)
    original = files.env.read_file(path)
    cache = BlockCache(0)
    for position, byte in enumerate(original):
        for bit in range(8):
            file.write_at(position, bytes((byte ^ 1 << bit,)), point="test")
            with pytest.raises(CorruptionError, match=path):
                read_everything(files.open(path, cache))
        file.write_at(position, bytes((byte,)), point="test")
    read_everything(files.open(path, cache))


def test_every_cut_short_file_is_found(files: Any) -> None:
    original = files.env.read_file(small_container(files))
    for length in range(len(original)):
        with pytest.raises(CorruptionError):
            read_everything(files.open(files.put(original[:length])))
    with pytest.raises(CorruptionError):
        files.open(files.put(original + b"\0"))


@pytest.mark.parametrize(
    "other",
    [
        replace(IDENTITY, database_id=b"database-id-0002"),
        replace(IDENTITY, tablet_id="tablet-2"),
        replace(IDENTITY, file_kind="redo"),
        replace(IDENTITY, file_number=8),
        replace(IDENTITY, database_id=b"database-id-0001t", tablet_id="ablet-1"),
    ],
    ids=str,
)
def test_a_valid_file_in_the_place_of_another_is_found(files: Any, other: FileIdentity) -> None:
    with pytest.raises(CorruptionError, match="another file's"):
        files.open(small_container(files), identity=other)


def test_blocks_that_changed_places_are_found_and_named(files: Any) -> None:
    values = pa.array(np.arange(128))
    path = files.write({"7": encode(BIGINT, values, Encoding("PLAIN_ENCODING"))})
    data = bytearray(files.env.read_file(path))
    length = 12 + 512
    first, second = slice(8, 8 + length), slice(8 + length, 8 + 2 * length)
    data[first], data[second] = data[second], data[first]
    reader = files.open(files.put(bytes(data))).cfile("7")
    where = r"\.base: block 0 of CFile '7' at offset 8: checksum does not match"
    with pytest.raises(CorruptionError, match=where):
        reader.read_all()
    where = r"block 1 of CFile '7' at offset 532: checksum"
    with pytest.raises(CorruptionError, match=where):
        reader.cell(100)


def test_a_block_is_only_valid_in_its_own_place() -> None:
    seed = IDENTITY.checksum_seed()
    places = [
        (Section.DATA, "1", 0, 8),
        (Section.DICTIONARY, "1", 0, 8),
        (Section.DATA, "2", 0, 8),
        (Section.DATA, "1", 1, 8),
        (Section.DATA, "1", 0, 9),
    ]
    assert len({checksum(seed, *place, b"same bytes") for place in places}) == len(places)


SCATTERED = [i * 0x9E37_79B9_7F4A_7C15 % (1 << 62) for i in range(100)]
SAMPLES = {
    "bit-shuffled": encode(BIGINT, pa.array([*SCATTERED, None] * 2)),
    "narrowed": encode(BIGINT, pa.array([*range(-300, 3000, 33), None] * 2)),
    "runs": encode(BIGINT, pa.array([5] * 100 + [6] * 28), Encoding("RLE")),
    "differences": encode(BIGINT, pa.array([i * 1000 + i % 7 for i in range(128)]), DELTA.name),
    "plain numbers": encode(BIGINT, pa.array(range(128)), Encoding("PLAIN_ENCODING")),
    "booleans": encode(BOOLEAN, pa.array([True] * 300 + [False] * 300), block_size=512),
    "words": encode(STRING, pa.array(["a", "bb", "é", None] * 60)),
    "plain strings": encode(
        STRING, pa.array(["a", "bb" * 40, "é", None] * 30), Encoding("PLAIN_ENCODING")
    ),
    "prefixes": encode(
        STRING,
        pa.array(["key a", "key", "key b", None, "", "ké"] * 20),
        Encoding("PREFIX_ENCODING"),
    ),
    **{
        f"numbers in {compression}": encode(
            BIGINT, pa.array([7, None] * 64), Encoding("PLAIN_ENCODING"), compression
        )
        for compression in Compression
    },
}


@pytest.mark.parametrize("sample", SAMPLES)
@settings(max_examples=40)
@given(data=st.data())
def test_wrong_bytes_under_a_right_checksum_give_an_error_or_sound_values(
    files: Any, sample: str, data: st.DataObject
) -> None:
    encoded = SAMPLES[sample]
    number = data.draw(st.integers(0, len(encoded.blocks) - 1))
    patched = bytearray(encoded.blocks[number])
    patches = st.lists(
        st.tuples(st.integers(0, len(patched) - 1), st.integers(0, 255)), min_size=1, max_size=4
    )
    for position, byte in data.draw(patches):
        patched[position] = byte
    if data.draw(st.booleans()):
        del patched[data.draw(st.integers(0, len(patched))) :]
    blocks = list(encoded.blocks)
    blocks[number] = bytes(patched)
    path = files.write({"c": replace(encoded, blocks=tuple(blocks))})
    reader = files.open(path, BlockCache(0)).cfile("c")
    try:
        read = reader.read_all()
    except CorruptionError as error:
        assert f"block {number} of CFile 'c'" in error.message
        return
    read.validate(full=True)
    assert len(read) == encoded.row_count


def hostile(files: Any, encoded: EncodedCFile, position: int, patch: bytes) -> None:
    block = bytearray(encoded.blocks[0])
    block[position : position + len(patch)] = patch
    path = files.write({"c": replace(encoded, blocks=(bytes(block), *encoded.blocks[1:]))})
    files.open(path, BlockCache(0)).cfile("c").read_all()


HUGE = struct.pack("<I", 0x7FFF_FFF0)


@pytest.mark.parametrize(
    ("sample", "position", "claim"),
    [
        ("bit-shuffled", 4, "rows"),  # rows of the block
        ("bit-shuffled", 8, "limit 33554432"),  # raw length of the body
        ("numbers in ZSTD", 8, "limit 33554432"),
        ("bit-shuffled", 12 + 4, "a chunk claims 2147483632 bytes"),  # Blosc's raw length
        ("bit-shuffled", 12 + 8, "a chunk claims"),  # Blosc's slice length
        ("runs", 12, "claims 2147483632 runs"),
        ("plain strings", 12 + 2, "claims .* bytes of values"),
        ("narrowed", 12 + 20 + 4, "a chunk claims 2147483632 bytes"),
        ("narrowed", 12 + 1, "codes of 240 bytes for values of 8"),
        ("prefixes", 12 + 9 + 0, "claims 2147483632 bytes of values"),
        ("prefixes", 12 + 9 + 4, "2147483632 of them kept"),
        ("prefixes", 12 + 9 + 8, "a block claims"),
    ],
)
def test_lengths_that_claim_too_much_are_refused_before_memory_is_taken(
    files: Any, sample: str, position: int, claim: str
) -> None:
    with pytest.raises(CorruptionError, match=f"block 0 of CFile 'c' at offset .*{claim}"):
        hostile(files, SAMPLES[sample], position, HUGE)


def test_compressed_frames_that_claim_gigabytes_are_refused(files: Any) -> None:
    zstd = SAMPLES["numbers in ZSTD"]
    frame = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 40)
    with pytest.raises(CorruptionError, match="ZSTD claims 1099511627776 bytes"):
        hostile(files, zstd, 12, frame)
    with pytest.raises(CorruptionError, match="SNAPPY claims 34359738367 bytes"):
        hostile(files, SAMPLES["numbers in SNAPPY"], 12, b"\xff\xff\xff\xff\x7f")


def test_codes_outside_the_dictionary_are_refused(files: Any) -> None:
    three, two = (encode(STRING, pa.array(words * 40)) for words in (["a", "b", "c"], ["a", "b"]))
    path = files.write({"c": replace(three, dictionary=two.dictionary)})
    with pytest.raises(CorruptionError, match="code 2 is outside the dictionary of 2 words"):
        files.open(path).cfile("c").read_all()
    path = files.write({"c": replace(three, dictionary=None)})
    with pytest.raises(CorruptionError, match="has no dictionary"):
        files.open(path).cfile("c").read_all()


def test_text_that_is_not_utf8_is_refused(files: Any) -> None:
    encoded = encode_column(
        parse_type("BINARY"),
        Encoding("PLAIN_ENCODING"),
        Compression.NO_COMPRESSION,
        512,
        pa.array([b"\xff\xfe"] * 9),
    )
    text = encode(STRING, pa.array(["ab"] * 9), Encoding("PLAIN_ENCODING"))
    path = files.write({"c": replace(text, blocks=encoded.blocks)})
    with pytest.raises(CorruptionError, match="not UTF-8"):
        files.open(path).cfile("c").read_all()
    with pytest.raises(CorruptionError, match="not UTF-8"):
        files.open(path).cfile("c").cell(2)


def with_footer(files: Any, body: bytes, version: int = FORMAT_VERSION, features: int = 0) -> str:
    """A file of nothing but a footer with a right checksum."""
    covered = struct.pack("<III", len(body), version, features)
    offset = len(footer.MAGIC)
    found = checksum(IDENTITY.checksum_seed(), Section.FOOTER, "", 0, offset, body + covered)
    trailer = covered + struct.pack("<I", found) + footer.MAGIC
    path: str = files.put(footer.MAGIC + body + trailer)
    return path


@pytest.mark.parametrize("encoding", ENCODINGS, ids=str)
def test_a_file_says_in_its_trailer_which_encodings_a_reader_must_know(
    files: Any, encoding: EncodingTraits
) -> None:
    column_type = next(t for t in (BIGINT, STRING, DOUBLE) if encoding.fits(t))
    values = pa.array(["a", "b", "a"] if column_type is STRING else [1, 2, 3], column_type.arrow)
    path = files.write({"c": encode(column_type, values, encoding.name)})
    _, version, features = struct.unpack_from("<III", files.env.read_file(path)[-24:])
    assert (version, features) == (FORMAT_VERSION, encoding.feature)
    assert (encoding.feature == 1) == (encoding is DELTA)


POINTER = [8, 1, 0]
ENTRY = ["c", "BIGINT", "PLAIN_ENCODING", "NO_COMPRESSION", 1, 0, 8, 8, 1, 8, POINTER, None]


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        {"cfiles": 1, "blobs": [], "metadata": {}},
        {"cfiles": [ENTRY[:-1]], "blobs": [], "metadata": {}},
        {"cfiles": [["c", "NO_TYPE", *ENTRY[2:]]], "blobs": [], "metadata": {}},
        {"cfiles": [["c", 5, *ENTRY[2:]]], "blobs": [], "metadata": {}},
        {"cfiles": [[*ENTRY[:4], -1, *ENTRY[5:]]], "blobs": [], "metadata": {}},
        {"cfiles": [[*ENTRY[:4], 1 << 63, *ENTRY[5:]]], "blobs": [], "metadata": {}},
        {"cfiles": [[*ENTRY[:4], True, *ENTRY[5:]]], "blobs": [], "metadata": {}},
        {"cfiles": [[*ENTRY[:4], 1.0, *ENTRY[5:]]], "blobs": [], "metadata": {}},
        {"cfiles": [[*ENTRY[:10], 1, *ENTRY[10:]]], "blobs": [], "metadata": {}},
        {"cfiles": [[*ENTRY[:10], [8, 1], None]], "blobs": [], "metadata": {}},
        {"cfiles": [[*ENTRY[:11], [8, -1, 0]]], "blobs": [], "metadata": {}},
        {"cfiles": [[["c"], ["BIGINT"], *ENTRY[2:]]], "blobs": [], "metadata": {}},
        {"cfiles": [[]], "blobs": [], "metadata": {}},
        {"cfiles": [["\ud800", *ENTRY[1:]]], "blobs": [], "metadata": {}},
        {"cfiles": [["c" * 1025, *ENTRY[1:]]], "blobs": [], "metadata": {}},
        {"cfiles": [], "blobs": [["\ud800", POINTER]], "metadata": {}},
        {"cfiles": [7], "blobs": [], "metadata": {}},
        {"cfiles": [], "blobs": [["b", [1, 2]]], "metadata": {}},
        {"cfiles": [], "blobs": [["b", "123"]], "metadata": {}},
        {"cfiles": [], "blobs": [], "metadata": 7},
    ],
    ids=lambda value: json.dumps(value)[:60],
)
def test_a_footer_that_makes_no_sense_is_refused(files: Any, value: Any) -> None:
    with pytest.raises(CorruptionError, match="footer at offset 8: cannot be read"):
        files.open(with_footer(files, json.dumps(value).encode()))


def test_a_footer_nested_too_deep_is_refused(files: Any) -> None:
    with pytest.raises(CorruptionError, match="cannot be read"):
        files.open(with_footer(files, b"[" * 100_000))


def test_pointers_outside_the_file_are_refused(files: Any) -> None:
    blobs = [["b", [1 << 50, 4, 0]]]
    value = {"cfiles": [[*ENTRY[:10], [8, 1 << 40, 0], None]], "blobs": blobs, "metadata": {}}
    reader = files.open(with_footer(files, json.dumps(value).encode()))
    with pytest.raises(CorruptionError, match=r"blob 'b' at offset .* lies outside the file"):
        reader.blob("b")
    with pytest.raises(CorruptionError, match=r"index of CFile 'c' .* lies outside the file"):
        reader.cfile("c")


def test_an_index_that_contradicts_the_footer_is_refused(files: Any) -> None:
    numbers = encode(BIGINT, pa.array(range(200)))
    fewer = replace(numbers, blocks=numbers.blocks[:-1])
    with pytest.raises(CorruptionError, match="index of CFile 'c'"):
        files.open(files.write({"c": fewer})).cfile("c")


def test_a_newer_format_or_an_unknown_feature_is_refused_as_such(files: Any) -> None:
    body = json.dumps({"cfiles": [], "blobs": [], "metadata": {}}).encode()
    assert files.open(with_footer(files, body)).names() == ()
    with pytest.raises(FormatVersionError, match="format version 2 with features 0x0"):
        files.open(with_footer(files, body, version=2))
    with pytest.raises(FormatVersionError, match="format version 1 with features 0x4"):
        files.open(with_footer(files, body, features=4))


def test_names_are_used_once_and_asked_for_as_written(files: Any) -> None:
    numbers = encode(BIGINT, pa.array([1]))
    with ContainerWriter(files.env, "/twice.base", IDENTITY, "p") as writer:
        writer.add_cfile("c", numbers)
        with pytest.raises(InternalError, match="name 'c' is taken"):
            writer.add_cfile("c", numbers)
        with pytest.raises(InternalError, match="name 'c' is taken"):
            writer.add_blob("c", b"")
    reader = files.open(files.write({"c": numbers}, {"b": b"bytes"}))
    assert (reader.names(), reader.blob_names(), reader.blob("b")) == (("c",), ("b",), b"bytes")
    assert reader.metadata == {"rowset": 3}
    with pytest.raises(CorruptionError, match="no CFile 'b'"):
        reader.cfile("b")
    with pytest.raises(CorruptionError, match="no blob 'c'"):
        reader.blob("c")


@pytest.mark.parametrize(
    ("kind", "stored"), [("DATE", "INT"), ("DECIMAL(5,2)", "INT"), ("DECIMAL(12,0)", "BIGINT")]
)
def test_days_and_decimals_that_their_type_does_not_have_are_refused(
    files: Any, kind: str, stored: str
) -> None:
    column_type, wider = parse_type(kind), parse_type(stored)
    limit = (column_type.integer_range or (0, 0))[1]
    for top in (limit, limit + 1):
        numbers = encode(wider, pa.array([1, None, top], wider.arrow))
        sound = encode(column_type, pa.array([1, None, 1], wider.arrow).view(column_type.arrow))
        reader = files.open(files.write({"c": replace(sound, blocks=numbers.blocks)})).cfile("c")
        if top == limit:
            assert reader.read_all().null_count == 1
            continue
        with pytest.raises(CorruptionError, match="lie outside those of"):
            reader.read_all()


def test_nulls_other_than_the_index_counts_are_refused(files: Any) -> None:
    one, two = (encode(BIGINT, pa.array(v)) for v in ([1, None, 3], [1, None, None]))
    with pytest.raises(CorruptionError, match="2 slots are NULL, its index has 1"):
        files.open(files.write({"c": replace(one, blocks=two.blocks)})).cfile("c").read_all()
