"""Which words of a dictionary a predicate holds for; the answer to the last one is kept.

A scan asks the same dictionary twice, for the blocks that may match and for the rows, and a query
that runs again asks what it asked before. Files are immutable, so the answer stays true.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.predicate.column_predicate import Among, InList, Predicate, leaves
from pykudu_sql.storage.common.predicate.predicate_eval import evaluate
from pykudu_sql.storage.common.types.types import DataType

Mask = npt.NDArray[np.bool_]

# What is kept lives as long as the file is open, so it is not to be a long list.
_MOST_VALUES = 256


class WordTest:
    """The predicates over one dictionary. Safe for threads."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self._last: tuple[Predicate, Mask] | None = None

    def matches(
        self, predicate: Predicate, column_id: int, words: pa.Array, column_type: DataType
    ) -> Mask:
        """Which words a predicate holds for, bool[words], read-only.

        `predicate`: over this column alone; `words`: of the dictionary, the same at each call.
        """
        last = self._last
        if last is not None and last[0] == predicate:
            return last[1]
        mask = evaluate(predicate, {column_id: words}, {column_id: column_type})
        mask.flags.writeable = False
        if _is_short(predicate):
            self._last = predicate, mask
        return mask


def _is_short(predicate: Predicate) -> bool:
    return not any(
        isinstance(leaf, Among) or (isinstance(leaf, InList) and len(leaf.values) > _MOST_VALUES)
        for leaf in leaves(predicate)
    )
