"""Encoded keys: Kudu's bytes, the order of tuples, and a way back."""

import pyarrow as pa
import pytest
from hypothesis import given, settings

from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind, decimal_type
from tests.storage.common.strategies import column_list, key_batches, to_columns

INT32 = DataType(Kind.INT32)
STRING = DataType(Kind.STRING)

Batch = tuple[list[DataType], list[tuple[Cell, ...]]]


@pytest.mark.parametrize(
    ("types", "cells", "expected"),
    [
        ([INT32], (11,), "8000000B"),
        ([INT32, STRING], (10, "martin"), "8000000A6D617274696E"),
        ([STRING, INT32], ("martin", 10), "6D617274696E00008000000A"),
        ([STRING, STRING], ("a\0b", "c\0d"), "6100016200006300" + "64"),
        ([DataType(Kind.INT8)], (-128,), "00"),
        ([DataType(Kind.INT64)], (-1,), "7FFFFFFFFFFFFFFF"),
        ([decimal_type(38, 0)], (0,), "80" + "00" * 15),
        ([DataType(Kind.BINARY), INT32], (b"", 0), "000080000000"),
    ],
)
def test_keys_have_kudus_bytes(
    types: list[DataType], cells: tuple[Cell, ...], expected: str
) -> None:
    assert KeyEncoder(column_list(types)).encode_one(cells).hex().upper() == expected


@given(key_batches())
def test_bytes_order_as_tuples_of_cells_do(batch: Batch) -> None:
    types, rows = batch
    encode = KeyEncoder(column_list(types)).encode_one
    assert sorted(rows, key=encode) == sorted(rows)
    assert len({encode(row) for row in rows}) == len(set(rows))


@given(key_batches())
def test_a_batch_is_encoded_as_its_rows_are(batch: Batch) -> None:
    types, rows = batch
    encoder = KeyEncoder(column_list(types))
    expected = [encoder.encode_one(row) for row in rows]
    for as_dictionary in (False, True):
        columns = to_columns(types, rows, as_dictionary=as_dictionary)
        assert encoder.encode(columns).to_pylist() == expected


@given(key_batches())
def test_sliced_columns_encode_like_the_whole(batch: Batch) -> None:
    types, rows = batch
    encoder = KeyEncoder(column_list(types))
    columns = {i: values.slice(1) for i, values in to_columns(types, rows).items()}
    assert encoder.encode(columns).to_pylist() == [encoder.encode_one(row) for row in rows[1:]]


@given(key_batches())
def test_decoding_gives_the_cells_back(batch: Batch) -> None:
    types, rows = batch
    encoder = KeyEncoder(column_list(types))
    for row in rows:
        assert encoder.decode_one(encoder.encode_one(row)) == row


@given(key_batches(max_columns=8))
@settings(max_examples=30)
def test_wide_keys_of_many_columns_keep_their_order(batch: Batch) -> None:
    types, rows = batch
    encoder = KeyEncoder(column_list(types))
    keys = encoder.encode(to_columns(types, rows))
    assert [rows[i] for i in keys.argsort().tolist()] == sorted(rows)


def test_a_key_to_look_for_may_be_too_long_to_be_stored() -> None:
    encoder = KeyEncoder(column_list([STRING]))
    assert encoder.encode_one(("x" * 70_000,)) == b"x" * 70_000
    assert encoder.encode({0: pa.array(["x" * 70_000])}).at(0) == b"x" * 70_000


def test_keys_tell_their_sizes_unless_all_have_one_width() -> None:
    pair = KeyEncoder(column_list([STRING, STRING]))
    sizes = pair.encode({0: pa.array(["a", "\0"]), 1: pa.array(["xyz", ""])}).sizes()
    assert sizes is not None
    assert sizes.tolist() == [6, 4]
    assert KeyEncoder(column_list([INT32])).encode({0: pa.array([1], pa.int32())}).sizes() is None


def test_the_width_tells_fixed_from_variable_keys() -> None:
    assert KeyEncoder(column_list([INT32, DataType(Kind.INT64)])).width == 12
    assert KeyEncoder(column_list([INT32, STRING])).width == 0
