"""Rows with their history, wherever they were stored: what flush and compaction hand on.

columns      each row's latest image
undo         the way back from it, to the ancient history mark and no further
deleted_at   when the row died, if it is a ghost
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from pykudu_sql.storage.common.arrays import combine, plain
from pykudu_sql.storage.common.encoded_keys import EncodedKeys
from pykudu_sql.storage.tablet.delta_store import Deltas, Timestamps, between


@dataclass(frozen=True, slots=True)
class RowSlice:
    """Rows with their history.

    Attributes:
        keys: encoded, ascending.
        columns: the latest image, by column id.
        undo: in UNDO order, by ordinals within the slice; nothing below the mark.
        deleted_at: hybrid time of each row's death, 0 for one alive, uint64[n].
    """

    keys: EncodedKeys
    columns: Mapping[int, pa.Array]
    undo: Deltas
    deleted_at: Timestamps


def part_of(rows: RowSlice, start: int, stop: int) -> RowSlice:
    """The rows start <= ordinal < stop of a slice."""
    return RowSlice(
        rows.keys.slice(start, stop),
        {i: values.slice(start, stop - start) for i, values in rows.columns.items()},
        between(rows.undo, start, stop),
        rows.deleted_at[start:stop],
    )


def join(arrays: Sequence[pa.Array]) -> pa.Array:
    """Arrays of one column as one; a dictionary array where all of them are."""
    if len(arrays) == 1:
        return arrays[0]
    if all(pa.types.is_dictionary(array.type) for array in arrays):
        # Codes are as narrow as each file's dictionary permits; together they may need more.
        wide = [
            pa.DictionaryArray.from_arrays(array.indices.cast(pa.int32()), array.dictionary)
            for array in arrays
        ]
        return combine(pa.chunked_array(wide).unify_dictionaries())
    return combine(pa.chunked_array([plain(array) for array in arrays]))
