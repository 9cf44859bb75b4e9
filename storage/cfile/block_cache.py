"""The block cache: decoded blocks, least recently used out first (Kudu's `cfile/block_cache.h`).

One cache serves a database. It holds decoded values, so a hit costs no decompression. Files are
immutable and their numbers never reused, so an entry is never stale; entries of deleted files age
out.

Reads take no lock: looking up and moving an entry to the fresh end are each one step of the
interpreter, and an entry that is evicted in between was still valid to return. Hit and miss counts
may lose an increment when threads race.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable


class BlockCache:
    """Values by key, held to a number of bytes. Safe for threads.

    Attributes:
        capacity: most bytes to hold.
        hits, misses: how often `get` found something and did not.
    """

    def __init__(self, capacity: int) -> None:
        """An empty cache of so many bytes; 0 keeps nothing."""
        self.capacity = capacity
        self.hits = 0
        self.misses = 0
        self._entries: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()
        self._used = 0
        self._mutex = threading.Lock()

    @property
    def entries(self) -> int:
        """Values held."""
        return len(self._entries)

    @property
    def used(self) -> int:
        """Bytes held."""
        return self._used

    def get(self, key: Hashable) -> object | None:
        """The value, or None."""
        found = self.peek(key)
        if found is None:
            self.misses += 1
        return found

    def peek(self, key: Hashable) -> object | None:
        """The value, or None; an absent one does not count as a miss, since another key follows."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        try:
            self._entries.move_to_end(key)
        except KeyError:  # evicted by another thread since
            return entry[0]
        self.hits += 1
        return entry[0]

    def put(self, key: Hashable, value: object, size: int) -> None:
        """Keep a value of `size` bytes; one larger than the whole cache is not kept."""
        if size > self.capacity:
            return
        with self._mutex:
            replaced = self._entries.pop(key, None)
            if replaced is not None:
                self._used -= replaced[1]
            self._entries[key] = (value, size)
            self._used += size
            while self._used > self.capacity:
                _, (_, evicted) = self._entries.popitem(last=False)
                self._used -= evicted

    def clear(self) -> None:
        """Forget everything; the counts stay."""
        with self._mutex:
            self._entries.clear()
            self._used = 0
