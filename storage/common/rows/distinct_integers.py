"""Distinct integers of an array, by sorting.

`np.unique` puts integers into a hash table, which takes a hundred times as long as sorting where
most of them are distinct, as the places of rows are.
"""

import numpy as np
import numpy.typing as npt


def distinct_integers(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The distinct values, ascending."""
    ordered = np.sort(values)
    return (
        ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))] if len(values) else ordered
    )


def are_distinct(values: npt.NDArray[np.int64]) -> bool:
    """Whether no value is there twice."""
    ordered = np.sort(values)
    return bool((ordered[1:] != ordered[:-1]).all())
