"""Applying deltas to base data: a scatter a column and layer (Kudu's `tablet/delta_applier.cc`).

Fixed-width columns without nulls are patched on a copy of their buffer; everything else through an
index that picks each row from the base or from a layer. Dictionary-encoded strings stay
dictionaries: the layers' words are appended to the dictionary where they are new.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import fixed_view, from_fixed
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.common.types.widening import in_type
from pykudu_sql.storage.tablet.delta.delta_store import CellPatch, concat_values


def apply_patch(
    base: pa.Array, start: int, patch: CellPatch | None, column_type: DataType
) -> pa.Array:
    """A column with at most one patch applied; the arguments are those of `apply_patches`."""
    return apply_patches(base, start, () if patch is None else (patch,), column_type)


def apply_patches(
    base: pa.Array, start: int, patches: Sequence[CellPatch], column_type: DataType
) -> pa.Array:
    """A column with patches applied.

    Args:
        base: the cells of rows start, start + 1, ..., perhaps dictionary-encoded.
        start: ordinal of the first.
        column_type: to read the column in; cells may have another type that it has or had.
        patches: the cells that win over the base; those of a later patch win over an earlier's.
    """
    stop = start + len(base)
    sliced = [patch.between(start, stop) for patch in patches]
    layers = [patch for patch in sliced if patch is not None]
    if not layers:
        return base
    arrow = column_type.arrow
    base = in_type(base, arrow)
    cells = [in_type(layer.values, arrow) for layer in layers]
    parts = [layer.ordinals - start if start else layer.ordinals for layer in layers]
    simple = not column_type.is_variable and column_type.kind is not Kind.BOOL
    nulls = base.null_count or any(values.null_count for values in cells)
    if simple and not nulls and not pa.types.is_dictionary(base.type):
        data = copied(fixed_view(base, column_type))
        for indices, values in zip(parts, cells, strict=True):
            data[indices] = fixed_view(values, column_type)
        return from_fixed(data, column_type)
    changed = concat_values(cells)
    if pa.types.is_dictionary(base.type):
        return _patch_dictionary(base, parts, changed)
    return _choose(base, parts, changed)


def copied(stored: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy in memory of Arrow's pool, which keeps pages: fresh ones cost twice the copying."""
    buffer = pa.allocate_buffer(stored.nbytes)
    copied = np.frombuffer(buffer, stored.dtype).reshape(stored.shape)
    np.copyto(copied, stored)
    return copied


def _choose(base: pa.Array, parts: Sequence[npt.NDArray[np.int64]], values: pa.Array) -> pa.Array:
    """The base with values, those of one layer after another, at the places of each layer."""
    index = np.arange(len(base), dtype=np.int64)
    first = len(base)
    for indices in parts:
        index[indices] = np.arange(first, first + len(indices), dtype=np.int64)
        first += len(indices)
    return pc.pick(pa.concat_arrays([base, values]), pa.array(index))


def _patch_dictionary(
    base: pa.DictionaryArray, parts: Sequence[npt.NDArray[np.int64]], values: pa.Array
) -> pa.Array:
    encoded = values.dictionary_encode()
    existing = pc.index_in(encoded.dictionary, base.dictionary)
    new_words = encoded.dictionary.filter(pc.is_null(existing))
    fresh = np.asarray(pc.is_null(existing))
    codes = np.asarray(pc.fill_null(existing, 0)).astype(np.int32)
    codes[fresh] = len(base.dictionary) + np.arange(len(new_words), dtype=np.int32)
    recoded = pa.array(codes).take(encoded.indices)
    indices = _choose(base.indices.cast(pa.int32()), parts, recoded)
    words = pa.concat_arrays([base.dictionary, new_words])
    return pa.DictionaryArray.from_arrays(indices, words)
