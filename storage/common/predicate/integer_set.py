"""Sets of integers for runtime filters: a flag for each integer of a span.

The values of one side of a join filter a scan of the other (Impala's runtime filters, of which Kudu
takes bloom filters and IN lists). A flag is exact, takes a byte, and is looked up in a few
nanoseconds whatever the number of members; keys of tables mostly lie in a span not much larger than
their number. Where they do not, no set is made.
"""

import numpy as np
import numpy.typing as npt

from pykudu_sql.storage.common.predicate.flag_lookup import flags_at

Mask = npt.NDArray[np.bool_]

MOST_FLAGS = 1 << 26


class IntegerSet:
    """Distinct 64-bit integers, at least one."""

    __slots__ = ("_ascending", "_before", "_count", "_flags", "_low")

    def __init__(self, low: int, flags: Mask) -> None:
        """The integers `low - 1 + i` where `flags[i]`.

        Args:
            low: the least member.
            flags: one for each integer up to the greatest, between two that are not set.
        """
        self._low = low
        self._flags = flags
        self._before = np.array(low, np.int64)[None] - 1  # which wraps around below the least
        self._count = int(np.count_nonzero(flags))
        self._ascending: npt.NDArray[np.int64] | None = None

    @classmethod
    def of(cls, values: npt.NDArray[np.int64], most_flags: int) -> "IntegerSet | None":
        """The set of some integers, in any order; None where there are none, or too far apart."""
        if not len(values):
            return None
        low, high = int(values.min()), int(values.max())
        span = high - low + 1
        if span > min(most_flags, MOST_FLAGS):
            return None
        flags = np.zeros(span + 2, np.bool_)
        flags[1:][values - low] = True
        return cls(low, flags)

    def __len__(self) -> int:
        return self._count

    @property
    def least(self) -> int:
        """The least member."""
        return self._low

    @property
    def greatest(self) -> int:
        """The greatest member."""
        return self._low + len(self._flags) - 3

    def ascending(self) -> npt.NDArray[np.int64]:
        """The members, int64[n], in their order."""
        if self._ascending is None:
            self._ascending = np.flatnonzero(self._flags) + self._before
        return self._ascending

    def contains(self, stored: npt.NDArray[np.signedinteger]) -> Mask:
        """Which of some integers are members, bool[n]."""
        # All that is too small or too large meets a flag that is not set: the first or the last,
        # also where the difference wraps around.
        return flags_at(self._flags, stored, self._before)

    def has_between(self, low: int, high: int) -> bool:
        """Whether a member lies between two integers, inclusive."""
        first, behind = max(low - self._low, 0) + 1, min(high - self._low + 2, len(self._flags))
        return first < behind and bool(self._flags[first:behind].any())
