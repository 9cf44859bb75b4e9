"""Applying deltas to base data: a scatter a column (Kudu's `tablet/delta_applier.cc`).

Cells of a fixed width are patched on a copy of their buffer, and of their validity where some are
NULL. Dictionary-encoded strings stay dictionaries: the layers' words are appended to the dictionary
where they are new, and their codes are such cells. Everything else is picked, row by row, from the
base or from the values.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types.arrays import fixed_view, from_fixed, pack_validity, validity
from pykudu_sql.storage.common.types.from_buffers import new_buffer
from pykudu_sql.storage.common.types.ordinal_take import take_ordinals
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.common.types.validity_array import all_valid, mask_of, validity_of_mask
from pykudu_sql.storage.common.types.widening import in_type
from pykudu_sql.storage.tablet.delta.delta_store import (
    CellPatch,
    CellsSet,
    Ordinals,
    joined,
)
from pykudu_sql.storage.tablet.delta.word_codes import coded, codes_of, wide_enough, words_by_code

_SIXTEEN_BYTES: Final = np.dtype("V16")


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
    ordinals, values = joined([(layer.ordinals, layer.values) for layer in layers])
    return _with_cells(base, ordinals - start if start else ordinals, values, column_type)


def apply_cells(base: pa.Array, start: int, cells: CellsSet, column_type: DataType) -> pa.Array:
    """A column with cells set, of which the later one of a row stays; `cells`: of any rows.

    `base`, `start`, `column_type`: see `apply_patches`.
    """
    ordinals, values = cells
    places = np.flatnonzero((ordinals >= start) & (ordinals < start + len(base)))
    if not len(places):
        return base
    values = take_ordinals(values, places)
    return _with_cells(base, ordinals[places] - start, values, column_type)


def _with_cells(
    base: pa.Array, places: Ordinals, values: pa.Array, column_type: DataType
) -> pa.Array:
    arrow = column_type.arrow
    base, values = in_type(base, arrow), in_type(values, arrow)
    if pa.types.is_dictionary(base.type):
        return _patch_dictionary(base, places, values)
    if column_type.is_variable:
        return _choose(base, places, values)
    data = copied(fixed_view(base, column_type))
    set_cells(data, places, fixed_view(values, column_type))
    return from_fixed(data, column_type, _validity_after(base, places, values))


def patched_validity(before: pa.BooleanArray, changes: Sequence[CellsSet]) -> pa.BooleanArray:
    """Where a column is NULL once changes are made; see `validity_array`.

    `before`: where it was; `changes`: rows by place there.
    """
    valid = with_validity(mask_of(before), len(before), changes)
    return all_valid(len(before)) if valid is None else validity_of_mask(valid)


def copied(stored: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy in memory of Arrow's pool, which keeps pages: fresh ones cost twice the copying."""
    _, memory = new_buffer(stored.nbytes)
    copied: npt.NDArray[Any] = memory.view(stored.dtype).reshape(stored.shape)
    np.copyto(copied, stored)
    return copied


def set_cells(cells: npt.NDArray[Any], places: Ordinals, values: npt.NDArray[Any]) -> None:
    """Set cells in place; of a place that comes twice, the later one stays.

    Args:
        cells: shape (n,), or (n, 2) words of cells of 16 bytes, one behind the other.
        places: of the cells.
        values: one for each place, in the shape of the cells.
    """
    if cells.ndim > 1:
        # As one item each: numpy takes ten times as long over rows of two words.
        cells, values = cells.view(_SIXTEEN_BYTES)[:, 0], values.view(_SIXTEEN_BYTES)[:, 0]
    cells[places] = values


def _choose(base: pa.Array, places: Ordinals, values: pa.Array) -> pa.Array:
    """The base with values at some places; of a place that comes twice, the later one stays."""
    index = np.arange(len(base), dtype=np.int64)
    index[places] = np.arange(len(base), len(base) + len(places), dtype=np.int64)
    return take_ordinals(pa.concat_arrays([base, values]), index)


def _patch_dictionary(base: pa.DictionaryArray, places: Ordinals, values: pa.Array) -> pa.Array:
    """The base with values at some places; of a place that comes twice, the later one stays."""
    changed = coded(base.dictionary, values)
    codes = copied(wide_enough(codes_of(base), changed.dictionary))
    codes[places] = codes_of(changed)
    valid = _validity_after(base.indices, places, changed.indices)
    return words_by_code(codes, changed.dictionary, pack_validity(valid))


def _validity_after(
    base: pa.Array, places: Ordinals, values: pa.Array
) -> npt.NDArray[np.bool_] | None:
    """False where the base with values at some places has a NULL; None without one."""
    return with_validity(validity(base), len(base), [(places, values)])


def with_validity(
    valid: npt.NDArray[np.bool_] | None, rows: int, changes: Sequence[CellsSet]
) -> npt.NDArray[np.bool_] | None:
    """False where a column is NULL once changes are made, None where it was not and none is NULL.

    `valid`: of the column's `rows` cells before, changed in place; None when none was NULL.
    """
    if valid is None:
        if not any(values.null_count for _, values in changes):
            return None
        valid = np.ones(rows, np.bool_)
    for ordinals, values in changes:
        mask = validity(values)
        valid[ordinals] = True if mask is None else mask
    return valid
