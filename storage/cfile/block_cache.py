"""The block cache: decoded blocks, least recently used out first (Kudu's `cfile/block_cache.h`).

One cache serves a database. It holds decoded values, so a hit costs no decompression, and rows that
are read by key again and again. Files are immutable and their numbers never reused, so an entry is
never stale.

The first part of a key is the entry's owner: the path of a file, or what stands for the deltas of a
moment. Once an owner is gone nobody reads its entries; they are forgotten, so that they do not
crowd out others.

Reads take no lock: looking up and moving an entry to the fresh end are each one step of the
interpreter, and an entry that is evicted in between was still valid to return. Hit and miss counts
may lose an increment when threads race.
"""

import threading
import weakref
from array import array
from collections import OrderedDict, deque
from collections.abc import Hashable

Key = tuple[Hashable, ...]

# Hashes of the keys asked for last, each at the place of its low bits: 512 KiB.
_RECENT_KEYS = 1 << 16


class BlockCache:
    """Values by key, held to a number of bytes. Safe for threads.

    `capacity`: most bytes to hold; `hits`, `misses`: how often `get` found something and did not.
    """

    def __init__(self, capacity: int) -> None:
        """An empty cache of so many bytes; 0 keeps nothing."""
        self.capacity = capacity
        self.hits = 0
        self.misses = 0
        self._entries: OrderedDict[Key, tuple[object, int]] = OrderedDict()
        self._owned: dict[Hashable, set[Key]] = {}
        self._released: deque[Hashable] = deque()
        self._used = 0
        self._mutex = threading.Lock()
        self._recent_keys = array("q")

    @property
    def entries(self) -> int:
        """Values held."""
        return len(self._entries)

    @property
    def used(self) -> int:
        """Bytes held."""
        return self._used

    def get(self, key: Key) -> object | None:
        """The value, or None."""
        entry = self.peek(key)
        if entry is None:
            self.misses += 1
        return entry

    def peek(self, key: Key) -> object | None:
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

    def put(self, key: Key, value: object, size: int) -> None:
        """Keep a value of `size` bytes; one larger than the whole cache is not kept."""
        if size > self.capacity:
            return
        with self._mutex:
            while self._released:
                self._forget(self._released.popleft())
            replaced = self._entries.pop(key, None)
            if replaced is not None:
                self._used -= replaced[1]
            self._entries[key] = (value, size)
            self._owned.setdefault(key[0], set()).add(key)
            self._used += size
            while self._used > self.capacity:
                evicted, (_, freed) = self._entries.popitem(last=False)
                self._used -= freed
                self._disown(evicted)

    def pop(self, key: Key) -> object | None:
        """Let go of a value, and give it to one caller; None when it is not there."""
        with self._mutex:
            entry = self._entries.pop(key, None)
            if entry is None:
                return None
            self._used -= entry[1]
            self._disown(key)
            return entry[0]

    @property
    def is_half_empty(self) -> bool:
        """Whether less than half of it is in use: what is kept then crowds out nothing."""
        return 2 * self._used < self.capacity

    def has_room_for(self, size: int) -> bool:
        """Whether so many bytes more crowd out nothing."""
        return self._used + size <= self.capacity

    def is_asked_again(self, key: Key) -> bool:
        """Whether this was asked about a key not long ago. It is a hint: few keys are remembered.

        For small values most of which nobody reads twice (TinyLFU's doorkeeper).
        """
        recent = self._recent_keys
        if not recent:
            recent = self._recent_keys = array("q", [0]) * _RECENT_KEYS
        mark = hash(key)
        place = mark % _RECENT_KEYS
        if recent[place] == mark:
            return True
        recent[place] = mark
        return False

    def forget(self, owner: Hashable) -> None:
        """Let go of an owner's entries."""
        with self._mutex:
            self._forget(owner)

    def forget_after(self, referent: object, owner: Hashable) -> None:
        """Let go of an owner's entries some time after an object is gone."""
        # A finalizer may run while this thread holds the mutex, so it leaves a note instead.
        finalizer = weakref.finalize(referent, self._released.append, owner)
        finalizer.atexit = False

    def _forget(self, owner: Hashable) -> None:
        for key in self._owned.pop(owner, ()):
            _, freed = self._entries.pop(key)
            self._used -= freed

    def _disown(self, key: Key) -> None:
        keys = self._owned[key[0]]
        keys.discard(key)
        if not keys:
            del self._owned[key[0]]

    def clear(self) -> None:
        """Forget everything; the counts stay."""
        with self._mutex:
            self._entries.clear()
            self._owned.clear()
            self._used = 0
