"""Keys that several rowsets hold which one INSERT wrote, chunk by chunk.

A chunk is sorted and has no key twice, but the same key may come in two chunks. Their rowsets are
sorted runs on disk already, so nothing else is written to find that out: where key ranges overlap,
the keys are read again, a slice of the key space at a time, as a merging compaction does it. Rows
that come in the order of their key give rowsets that do not overlap, and nothing is read.
"""

from collections.abc import Iterator, Sequence

from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.memory_budget import MOST_PIECE
from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING
from pykudu_sql.storage.tablet.maintenance.compaction_input import CompactionInput
from pykudu_sql.storage.tablet.maintenance.key_slices import key_slices
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet

_SLICE_ROWS = 1 << 20


def first_shared_key(encoder: KeyEncoder, rowsets: Sequence[DiskRowSet]) -> bytes | None:
    """The lowest key that two of some rowsets hold, None where all keys differ.

    `encoder`: of the table's key; `rowsets`: of one tablet, without deltas. Raises DiskError,
    CorruptionError: keys cannot be read.
    """
    for group in _overlapping(rowsets):
        inputs = [
            CompactionInput(rowset, rowset.base.column_once, (), encoder, EVERYTHING, EVERYTHING)
            for rowset in group
        ]
        for spans in key_slices(inputs, _SLICE_ROWS, MOST_PIECE):
            pairs = zip(inputs, spans, strict=True)
            parts = [source.keys(start, stop) for source, (start, stop) in pairs if start < stop]
            repeated = _first_repeated(parts)
            if repeated is not None:
                return repeated
    return None


def _overlapping(rowsets: Sequence[DiskRowSet]) -> Iterator[list[DiskRowSet]]:
    """Rowsets in groups of several whose key ranges meet, each by its lowest key."""
    group: list[DiskRowSet] = []
    highest = b""
    for rowset in sorted(rowsets, key=lambda each: each.meta.min_key):
        if group and rowset.meta.min_key > highest:
            if len(group) > 1:
                yield group
            group = []
        group.append(rowset)
        highest = max(highest, rowset.meta.max_key)
    if len(group) > 1:
        yield group


def _first_repeated(parts: Sequence[EncodedKeys]) -> bytes | None:
    """The lowest key that stands in two of some batches of distinct keys."""
    if len(parts) < 2:
        return None
    keys = EncodedKeys.concat(parts)
    order = keys.argsort()
    repeated = keys.duplicates(order)
    return keys.at(int(order[repeated[0]])) if len(repeated) else None
