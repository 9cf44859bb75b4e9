"""Flags looked up by number, for very many numbers.

NumPy's own indexing checks every number, and makes 64-bit ones of all of them first; a stretch at a
time into memory that stays in the cache takes a third of that.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]

# Its places take 1 MiB. With shorter ones threads wait for each other: NumPy lets go of the
# interpreter for every call.
_STRETCH = 1 << 17
_ZERO = np.zeros(1, np.int64)


def flags_at(flags: Mask, numbers: npt.NDArray[Any], before: npt.NDArray[np.int64] = _ZERO) -> Mask:
    """`flags[numbers - before]`, bool[len(numbers)].

    Args:
        flags: at least one. Places below the first one have its flag, those behind the last that of
            the last.
        numbers: integers of up to 64 bits.
        before: one number. Differences wrap around as those of 64 bits do.
    """
    mask = np.empty(len(numbers), np.bool_)
    places = np.empty(min(len(numbers), _STRETCH), np.int64)
    for start in range(0, len(numbers), _STRETCH):
        part = numbers[start : start + _STRETCH]
        part_places = np.subtract(part, before, out=places[: len(part)])
        flags.take(part_places, out=mask[start : start + _STRETCH], mode="clip")
    return mask
