"""Rows that are picked are those of the whole column, and only they are checked."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.cfile_reader import CFileReader
from pykudu_sql.storage.cfile.cfile_writer import encode_column
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Compression, Encoding
from pykudu_sql.storage.errors import CorruptionError

ROWS = 2000
COLUMNS = [
    ("BIGINT", "BIT_SHUFFLE"),
    ("BIGINT", "DELTA"),
    ("INT", "RLE"),
    ("SMALLINT", "PLAIN_ENCODING"),
    ("DECIMAL(9,2)", "BIT_SHUFFLE"),
    ("DECIMAL(30,2)", "BIT_SHUFFLE"),
    ("DATE", "BIT_SHUFFLE"),
    ("DOUBLE", "BIT_SHUFFLE"),
    ("BOOLEAN", "RLE"),
    ("STRING", "DICT_ENCODING"),
    ("STRING", "PLAIN_ENCODING"),
]


def encoded(kind: str, encoding: str, values: pa.Array) -> Any:
    none = Compression.NO_COMPRESSION
    return encode_column(parse_type(kind), Encoding(encoding), none, 800, values)


def reader_of(files: Any, cfile: Any) -> CFileReader:
    reader: CFileReader = files.open(files.write({"c": cfile}), BlockCache(0)).cfile("c")
    return reader


@pytest.mark.parametrize(("kind", "encoding"), COLUMNS)
@settings(max_examples=15)
@given(data=st.data())
def test_picked_rows_are_those_of_the_whole_column(
    files: Any, column: Any, kind: str, encoding: str, data: st.DataObject
) -> None:
    nulls, distinct = data.draw(st.sampled_from((0, 0.1))), data.draw(st.sampled_from((3, 90)))
    values = column(parse_type(kind), ROWS, seed=3, nulls=nulls, distinct=distinct)
    reader = reader_of(files, encoded(kind, encoding, values))
    first = data.draw(st.integers(0, ROWS - 1))
    step = data.draw(st.integers(1, 40))
    ordinals = np.arange(first, ROWS, step)
    expected = values.take(pa.array(ordinals)).to_pylist()
    assert repr(reader.take_once(ordinals).to_pylist()) == repr(expected)


@pytest.mark.parametrize("step", [1, 7, 100, 70_000, 3_000_000])
@pytest.mark.parametrize("base", [-(1 << 40), -5, 0, 1 << 50])
def test_codes_of_frames_stand_for_the_same_values_picked_or_not(
    files: Any, base: int, step: int
) -> None:
    numbers = base + step * np.random.default_rng(1).integers(0, 60_000, ROWS)
    reader = reader_of(files, encoded("BIGINT", "BIT_SHUFFLE", pa.array(numbers)))
    assert np.array_equal(reader.read_all().to_numpy(), numbers)
    ordinals = np.arange(5, ROWS, 3)
    assert np.array_equal(reader.take_once(ordinals).to_numpy(), numbers[ordinals])


def test_a_picked_value_that_its_type_does_not_have_is_refused(files: Any) -> None:
    numbers = np.ones(ROWS, np.int32)
    numbers[1500] = 100_000
    sound = encoded(
        "DECIMAL(5,2)", "BIT_SHUFFLE", pa.array([1] * ROWS, pa.int32()).view(pa.decimal32(5, 2))
    )
    blocks = encoded("INT", "BIT_SHUFFLE", pa.array(numbers)).blocks
    assert len(blocks) == len(sound.blocks)
    reader = reader_of(files, replace(sound, blocks=blocks))
    with pytest.raises(CorruptionError, match="values 1 to 100000 lie outside those of"):
        reader.take_once(np.arange(0, ROWS, 4))
