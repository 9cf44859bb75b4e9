"""Arrow arrays as numpy buffers and back, without copies.

Kernels work on the stored values (`DataType.numpy`); batches travel as Arrow. These functions are
the crossing. They guarantee that a null slot's value is never looked at by meaning, only carried.
Arrow's own compute functions lack decimal32/64 kernels, which is why so much goes through views.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types import from_buffers
from pykudu_sql.storage.common.types.cells import from_cell, to_cell
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.errors import (
    ValueTooLargeError,
)

_PHYSICAL = {1: pa.int8(), 2: pa.int16(), 4: pa.int32(), 8: pa.int64()}
# Chunks of so many rows are worth a kernel call each; what one makes is in the cache for the next.
CHUNK_ROWS = 16 * 1024
_FEW_CELLS = 64


def combine(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """One contiguous array; copies only where there is more than one chunk.

    Raises ValueTooLargeError: strings of more than 2 GiB together, which no Arrow array holds.
    """
    if not isinstance(values, pa.ChunkedArray):
        return values
    if values.num_chunks == 1:
        return values.chunk(0)
    try:
        combined = values.combine_chunks()
    except pa.ArrowInvalid as error:
        raise _too_large(values) from error
    if not isinstance(combined, pa.ChunkedArray):
        return combined
    if combined.num_chunks > 1:
        raise _too_large(values)
    return combined.chunk(0)


def _too_large(values: pa.ChunkedArray) -> ValueTooLargeError:
    return ValueTooLargeError(
        f"a column of {values.nbytes} bytes in one statement is over the limit of 2 GiB",
        hint="write the rows in several statements",
    )


def large_chunks(values: pa.Array | pa.ChunkedArray) -> Sequence[pa.Array]:
    """The chunks of values, combined where most are small or each has a dictionary of its own."""
    if not isinstance(values, pa.ChunkedArray):
        return [values]
    if pa.types.is_dictionary(values.type):
        return [_with_one_dictionary(values)]
    if len(values) <= CHUNK_ROWS * values.num_chunks:
        return [combine(values)]
    chunks: Sequence[pa.Array] = values.chunks
    return chunks


def _with_one_dictionary(values: pa.ChunkedArray) -> pa.Array:
    """The chunks as one; decoded where Arrow has no one dictionary for them."""
    if not values.num_chunks:  # Arrow makes an empty dictionary of few types of words
        return pa.array([], values.type.value_type)
    try:
        return combine(values)
    except ValueTooLargeError:  # NULL among the words, or more words than indices of the type count
        return combine(pa.chunked_array([chunk.dictionary_decode() for chunk in values.chunks]))


def fixed_view(values: pa.Array, column_type: DataType) -> npt.NDArray[Any]:
    """The stored values of a fixed-width array, shape (n,), zero-copy.

    BOOL is unpacked to np.bool_ (a copy); 16-byte decimals come as shape (n, 2) of `<u8`, low word
    first. Null slots hold whatever bytes the buffer has.
    """
    if column_type.kind is Kind.BOOL:
        return from_buffers.true_flags_of(values)
    data, kind, count = values.buffers()[1], column_type.numpy, len(values)
    if data is None or not count:
        return np.empty((0, 2), np.dtype("<u8")) if kind is None else np.empty(0, kind)
    if kind is None:
        words = np.frombuffer(data, np.dtype("<u8"), 2 * count, 16 * values.offset)
        return words.reshape(-1, 2)
    return np.frombuffer(data, kind, count, kind.itemsize * values.offset)


def integers_of(values: pa.Array) -> npt.NDArray[Any]:
    """The numbers behind an array of a fixed width of up to 8 bytes, zero-copy.

    By the buffer, since Arrow's own `to_numpy` imports pandas wherever that is installed. Null
    slots hold whatever bytes the buffer has.
    """
    return from_buffers.cells_as(values, np.dtype(f"<i{values.type.bit_width // 8}"))


def wide_bounds(words: npt.NDArray[np.uint64]) -> tuple[int, int]:
    """Least and greatest 16-byte integer, given as low and high words, shape (n, 2), n > 0."""
    low, high = words[:, 0], words[:, 1].view("<i8")
    top, bottom = high.max(), high.min()
    greatest = (int(top) << 64) + int(low[high == top].max())
    least = (int(bottom) << 64) + int(low[high == bottom].min())
    return least, greatest


def from_fixed(
    values: npt.NDArray[Any], column_type: DataType, valid: npt.NDArray[np.bool_] | None = None
) -> pa.Array:
    """The Arrow array over stored values (see `fixed_view`), zero-copy but for BOOL.

    Args:
        values: stored values, shape (n,), or (n, 2) words for 16-byte decimals.
        valid: False where the slot is NULL; None when none is.
    """
    if column_type.kind is Kind.BOOL:
        return from_buffers.flags(values, pack_validity(valid))
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(column_type.arrow, len(values), [pack_validity(valid), data])


def pack_validity(valid: npt.NDArray[np.bool_] | None) -> pa.Buffer | None:
    """Arrow's validity bitmap of a boolean mask; None when every slot is valid."""
    if valid is None or bool(valid.all()):
        return None
    return pa.py_buffer(np.packbits(valid, bitorder="little"))


def validity(values: pa.Array) -> npt.NDArray[np.bool_] | None:
    """False where a slot is NULL, shape (n,); None when none is."""
    # Slots whose word is NULL count neither among an array's NULLs nor in its bitmap.
    if pa.types.is_dictionary(values.type) and values.dictionary.null_count:
        valid = from_buffers.flags_of(values.is_valid())
        return None if valid.all() else valid
    if values.null_count == 0:
        return None
    bitmap = values.buffers()[0]
    if bitmap is None:  # of Arrow's type of NULLs alone
        return np.zeros(len(values), np.bool_)
    return from_buffers.bits_of(bitmap, values.offset, len(values))


def filled_numbers(values: pa.Array, null_number: int) -> npt.NDArray[Any]:
    """Integers, as the codes of a dictionary are, shape (n,); `null_number` where a slot is NULL.

    They have 64 bits then, else no copy is made.
    """
    numbers, valid = from_buffers.numbers_of(values), validity(values)
    return numbers if valid is None else np.where(valid, numbers.astype(np.int64), null_number)


def cells_to_array(cells: Sequence[Cell], column_type: DataType) -> pa.Array:
    """Cells as an Arrow array of the column's type."""
    if len(cells) <= _FEW_CELLS:
        return _few_cells(cells, column_type)
    if column_type.is_variable or column_type.kind is Kind.BOOL or column_type.is_floating:
        return pa.array(cells, column_type.arrow)
    if column_type.width == 16:
        unscaled = [None if c is None else from_cell(c, column_type) for c in cells]
        return pa.array(unscaled, column_type.arrow)
    return pa.array(cells, _PHYSICAL[column_type.width]).view(column_type.arrow)


def _few_cells(cells: Sequence[Cell], column_type: DataType) -> pa.Array:
    """The same without `pa.array`, which imports pandas: longer than a statement of few rows."""
    valid = None
    if None in cells:
        valid = np.array([cell is not None for cell in cells], np.bool_)
    if column_type.is_variable:
        values = [_bytes_of(cell) for cell in cells]
        return from_buffers.sized_values(values, column_type.arrow, pack_validity(valid))
    numbers = [0 if cell is None else cell for cell in cells]
    if column_type.width == 16:
        words = b"".join(int(number).to_bytes(16, "little", signed=True) for number in numbers)
        return from_fixed(np.frombuffer(words, "<u8").reshape(-1, 2), column_type, valid)
    return from_fixed(np.array(numbers, column_type.numpy), column_type, valid)


def _bytes_of(cell: Cell) -> bytes:
    """Of a cell of a column whose values differ in length; none of NULL."""
    if isinstance(cell, str):
        return cell.encode()
    assert cell is None or isinstance(cell, bytes)
    return cell or b""


def array_to_cells(values: pa.Array, column_type: DataType) -> list[Cell]:
    """Arrow values as a list of cells; for few values, not for bulk paths.

    `column_type`: of the values, or one that the column had or got later.
    """
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if column_type.is_variable or column_type.kind is Kind.BOOL or column_type.is_floating:
        return list(values.to_pylist())
    width = values.type.bit_width // 8
    if width == 16:
        return [to_cell(v, column_type) for v in values.to_pylist()]
    return list(values.view(_PHYSICAL[width]).to_pylist())


def stored_numbers(values: pa.Array, column_type: DataType) -> pa.Array:
    """Values of a type of 1 to 8 bytes as the integers that are stored for them; no copy."""
    return values.view(_PHYSICAL[column_type.width])


def distinct_values(values: pa.Array, column_type: DataType) -> pa.Array:
    """The values among some, each once, without NULL."""
    if column_type.kind is Kind.DECIMAL and column_type.width < 16:
        # Arrow has no kernels for narrow decimals.
        return pc.unique(stored_numbers(values, column_type)).drop_null().view(column_type.arrow)
    return plain(pc.unique(values)).drop_null()


def extreme_cells(values: pa.Array, column_type: DataType) -> tuple[Cell, Cell]:
    """The least and the greatest of some values as cells, NULL where none has a value."""
    is_narrow = column_type.kind is Kind.DECIMAL and column_type.width < 16
    # Arrow has no kernels for narrow decimals.
    ordered = stored_numbers(values, column_type) if is_narrow else plain(values)
    ends = pc.min_max(ordered)
    both = pa.array([ends["min"].as_py(), ends["max"].as_py()], ordered.type)
    low, high = array_to_cells(both.view(column_type.arrow) if is_narrow else both, column_type)
    return low, high


def constant_array(cell: Cell, column_type: DataType, length: int) -> pa.Array:
    """An array of one cell repeated, as for the read default of a column a file lacks."""
    if cell is None:
        return pa.nulls(length, column_type.arrow)
    one = cells_to_array([cell], column_type)
    if column_type.is_variable:
        codes = from_buffers.integers(np.zeros(length, np.int8))
        return pa.DictionaryArray.from_arrays(codes, one)
    return one.take(from_buffers.integers(np.zeros(length, np.int64)))


def plain(values: pa.Array) -> pa.Array:
    """The array without dictionary encoding, texts as strings."""
    if pa.types.is_dictionary(values.type):
        return values.dictionary_decode()
    return values.cast(pa.string()) if pa.types.is_string_view(values.type) else values
