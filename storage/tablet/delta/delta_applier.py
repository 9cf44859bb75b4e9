"""Applying deltas to base data: one scatter a column (Kudu's `tablet/delta_applier.cc`).

Fixed-width columns without nulls are patched on a copy of their buffer; everything else through an
index that picks each row from the base or from the patch. Dictionary-encoded strings stay
dictionaries: the patch's words are appended to the dictionary where they are new.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import fixed_view, from_fixed
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.tablet.delta.delta_store import ColumnPatch


def slice_patch(patch: ColumnPatch, start: int, stop: int) -> ColumnPatch | None:
    """The part of a patch for rows start <= ordinal < stop, or None."""
    first, last = np.searchsorted(patch.ordinals, (start, stop))
    if first == last:
        return None
    if last - first == len(patch.ordinals):
        return patch
    return ColumnPatch(patch.ordinals[first:last], patch.values.slice(first, last - first))


def apply_patch(
    base: pa.Array, start: int, patch: ColumnPatch | None, column_type: DataType
) -> pa.Array:
    """A column with a patch applied.

    Args:
        base: the cells of rows start, start + 1, ..., perhaps dictionary-encoded.
        start: ordinal of the first.
        patch: the cells that win.
    """
    if patch is not None:
        patch = slice_patch(patch, start, start + len(base))
    if patch is None:
        return base
    indices = patch.ordinals - start
    if pa.types.is_dictionary(base.type):
        return _patch_dictionary(base, indices, patch.values)
    simple = not column_type.is_variable and column_type.kind is not Kind.BOOL
    if simple and not base.null_count and not patch.values.null_count:
        data = fixed_view(base, column_type).copy()
        data[indices] = fixed_view(patch.values, column_type)
        return from_fixed(data, column_type)
    return _choose(base, indices, patch.values)


def patch_of(patch: ColumnPatch, ordinals: npt.NDArray[np.int64]) -> ColumnPatch | None:
    """The part of a patch for some rows, by index among them, or None.

    `patch`: of the whole rowset; `ordinals`: of the rows, ascending and distinct.
    """
    if not len(patch.ordinals):
        return None
    positions = np.searchsorted(patch.ordinals, ordinals)
    np.minimum(positions, len(patch.ordinals) - 1, out=positions)
    indices = np.flatnonzero(patch.ordinals[positions] == ordinals)
    if not len(indices):
        return None
    return ColumnPatch(indices, patch.values.take(pa.array(positions[indices])))


def _choose(base: pa.Array, indices: npt.NDArray[np.int64], values: pa.Array) -> pa.Array:
    index = np.arange(len(base), dtype=np.int64)
    index[indices] = len(base) + np.arange(len(values), dtype=np.int64)
    return pa.concat_arrays([base, values]).take(pa.array(index))


def _patch_dictionary(
    base: pa.DictionaryArray, ordinals: npt.NDArray[np.int64], values: pa.Array
) -> pa.Array:
    encoded = values.dictionary_encode()
    existing = pc.index_in(encoded.dictionary, base.dictionary)
    new_words = encoded.dictionary.filter(pc.is_null(existing))
    fresh = np.asarray(pc.is_null(existing))
    codes = np.asarray(pc.fill_null(existing, 0)).astype(np.int32)
    codes[fresh] = len(base.dictionary) + np.arange(len(new_words), dtype=np.int32)
    recoded = pa.array(codes).take(encoded.indices)
    indices = _choose(base.indices.cast(pa.int32()), ordinals, recoded)
    words = pa.concat_arrays([base.dictionary, new_words])
    return pa.DictionaryArray.from_arrays(indices, words)
