"""Cutting what several rowsets hold into ranges of keys, to be merged one after the other.

The keys to cut at come from the rowsets' own key indexes, so that a slice holds about as many rows
whatever the distribution of keys, and cutting reads next to nothing. Keys and single columns of a
slice are held in memory, and all columns of what changed, so slices of wide rows are shorter.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from pykudu_sql.storage.common.row_allowance import rows_within

_SLICE_BYTES = 48 * 1024 * 1024
"""As stored."""
_SAMPLE_ROWS = 8 * 1024


class KeyedRows(Protocol):
    """Rows in the order of their keys."""

    @property
    def rows(self) -> int:
        """How many there are."""

    @property
    def stored_bytes(self) -> int:
        """That they take on disk."""

    @property
    def decoded_bytes(self) -> int:
        """That they and their changes take in memory."""

    def sample(self, rows: int) -> list[bytes]:
        """The first key and every so many rows another one."""

    def lower_bound(self, key: bytes) -> int:
        """The first ordinal whose key is not below a given one."""


def key_slices(
    inputs: Sequence[KeyedRows], most_rows: int, most_bytes: int
) -> Iterator[Sequence[tuple[int, int]]]:
    """For each slice of the key space in turn, the ordinals of each input in it.

    Args:
        inputs: to be merged.
        most_rows, most_bytes: that a slice is to hold, about; bytes once they are decoded.
    """
    rows_per_slice = _rows_per_slice(inputs, most_rows, most_bytes)
    apart = min(_SAMPLE_ROWS, rows_per_slice)
    samples = sorted(key for source in inputs for key in source.sample(apart))
    boundaries = sorted(set(samples[:: rows_per_slice // apart][1:]))
    starts = [0] * len(inputs)
    for boundary in boundaries:
        stops = [source.lower_bound(boundary) for source in inputs]
        if stops != starts:
            yield list(zip(starts, stops, strict=True))
        starts = stops
    yield [(start, source.rows) for start, source in zip(starts, inputs, strict=True)]


def _rows_per_slice(inputs: Sequence[KeyedRows], most_rows: int, most_bytes: int) -> int:
    rows = max(1, sum(source.rows for source in inputs))
    stored = sum(source.stored_bytes for source in inputs) / rows
    decoded = sum(source.decoded_bytes for source in inputs) / rows
    return rows_within(most_bytes, decoded, rows_within(_SLICE_BYTES, stored, most_rows))
