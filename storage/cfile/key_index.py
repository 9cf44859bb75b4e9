"""The key index of a rowset: every 256th encoded key, so that a search starts close.

Kudu keeps a B-tree of separators (`cfile/index_btree.h`); a rowset's is small enough to be one
flat list. It is parsed on first use. Keys are kept whole, not shortened to separators, because the
first and the last one are the rowset's bounds.

    0       4   format, u32, 1
    4       4   rows between two entries, u32
    8       8   rows of the rowset, u64
    16      .   the entries and behind them the last key, as PLAIN binary values (see `plain`)
"""

import struct
from bisect import bisect_left, bisect_right
from itertools import pairwise

import numpy as np

from pykudu_sql.storage.cfile.encoding import plain
from pykudu_sql.storage.common.cached_property import cached_property
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.errors import CorruptionError

INTERVAL = 256

_HEADER = struct.Struct("<IIQ")
_FORMAT = 1
# LZ4 cannot compress further, so a claim beyond it is none to take memory for.
_MAX_RATIO = 256


class KeyIndex:
    """An immutable index over ascending keys."""

    def __init__(self, rows: int, interval: int, payload: bytes) -> None:
        """An index of its stored entries; see `build` and `from_bytes`."""
        self.rows = rows
        self._interval = interval
        self._payload = payload

    @classmethod
    def build(cls, keys: EncodedKeys) -> "KeyIndex":
        """The index of all keys of a rowset. `keys`: ascending and distinct, at least one."""
        ordinals = np.append(np.arange(0, len(keys), INTERVAL, dtype=np.int64), len(keys) - 1)
        entries = keys.take(ordinals).to_pylist()
        lengths = np.array([len(entry) for entry in entries], np.uint32)
        data = np.frombuffer(b"".join(entries), np.uint8)
        return cls(len(keys), INTERVAL, plain.encode_binary(lengths, data, compressed=True))

    @cached_property
    def _entries(self) -> list[bytes]:
        """Every `interval`th key, and behind them the last."""
        count = -(-self.rows // self._interval) + 1
        limit = _MAX_RATIO * len(self._payload)
        if count > limit:
            raise CorruptionError(f"a key index claims {count} entries")
        block = plain.open_binary(np.frombuffer(self._payload, np.uint8), count, limit)
        lengths = np.empty(count, np.uint32)
        data = np.empty(block.data_length, np.uint8)
        block.decode_into(lengths, data)
        ends = np.cumsum(lengths).tolist()
        raw = data.tobytes()
        entries = [raw[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        if any(before > after for before, after in pairwise(entries)):
            raise CorruptionError("the keys of a key index do not ascend")
        return entries

    @property
    def min_key(self) -> bytes:
        """The first key. Raises CorruptionError: the entries are not what was written."""
        return self._entries[0]

    @property
    def max_key(self) -> bytes:
        """The last key. Raises CorruptionError: the entries are not what was written."""
        return self._entries[-1]

    def find_range(self, key: bytes) -> tuple[int, int]:
        """Ordinals start <= ordinal < stop outside which the key is not; empty when it is nowhere.

        Raises CorruptionError: the entries are not what was written.
        """
        entries = self._entries
        position = bisect_right(entries, key, 0, len(entries) - 1)
        if position == 0 or key > entries[-1]:
            return 0, 0
        start = (position - 1) * self._interval
        return start, min(start + self._interval, self.rows)

    def find_span(self, low: bytes, high: bytes | None) -> tuple[int, int]:
        """Ordinals start <= ordinal < stop outside which no key is within low <= key < high.

        `high`: the upper end, None for none. Raises CorruptionError: the entries are not what was
        written.
        """
        entries = self._entries
        last = len(entries) - 1
        if low > entries[-1]:
            return self.rows, self.rows
        start = max(0, bisect_right(entries, low, 0, last) - 1) * self._interval
        if high is None:
            return start, self.rows
        stop = min(bisect_left(entries, high, 0, last) * self._interval, self.rows)
        return min(start, stop), stop

    def edges(self, start: int, stop: int) -> tuple[list[int], list[bytes]]:
        """Ordinals around the rows start <= ordinal < stop, and the keys that are there.

        They ascend and are at most an interval apart, but for the last: it is the number of rows
        where that is not above `stop`, with the last key. `start`, `stop`: 0 <= start < stop <=
        rows. Raises CorruptionError: the entries are not what was written.
        """
        first, last = start // self._interval, -(-stop // self._interval)
        ordinals = [min(i * self._interval, self.rows) for i in range(first, last + 1)]
        return ordinals, self._entries[first : last + 1]

    def sample(self, rows: int) -> list[bytes]:
        """The first key and every so many rows another one.

        `rows`: between two keys; rounded down to what the index knows. Raises CorruptionError: the
        entries are not what was written.
        """
        return self._entries[: -1 : max(1, rows // self._interval)]

    def to_bytes(self) -> bytes:
        """The index as stored."""
        return _HEADER.pack(_FORMAT, self._interval, self.rows) + self._payload

    @classmethod
    def from_bytes(cls, data: bytes) -> "KeyIndex":
        """The inverse of `to_bytes`. Raises CorruptionError: the bytes are no key index."""
        if len(data) < _HEADER.size:
            raise CorruptionError(f"a key index of {len(data)} bytes is shorter than its header")
        version, interval, rows = _HEADER.unpack_from(data)
        if version != _FORMAT or not interval or not rows:
            raise CorruptionError(f"a key index of format {version} with {rows} rows")
        return cls(rows, interval, data[_HEADER.size :])
