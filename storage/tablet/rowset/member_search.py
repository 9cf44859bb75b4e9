"""Rows whose first key column is one of few integers, by search instead of a look at every row.

Rows of a DiskRowSet are in the order of their keys, so the first column of the key ascends, and
those of one value are neighbours. A list of keys has ranges of encoded keys while it is short
(`key_bounds`); the values that one side of a join leaves for the other are more than that, and
still few beside the rows. A search costs as much as a look at some tens of rows.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pykudu_sql.storage.common.predicate.column_predicate import Among, InList, Predicate
from pykudu_sql.storage.common.types.ordinal_take import ordinals_of_spans
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals

_ROWS_OF_A_SEARCH = 32


def searched_members(predicate: Predicate, rows: int) -> npt.NDArray[np.int64] | None:
    """The integers that a predicate asks for, ascending; None where they are not few.

    `rows`: among which they are looked for.
    """
    most = rows // _ROWS_OF_A_SEARCH
    match predicate:
        case InList() if len(predicate.integers) <= most:
            return predicate.integers
        case Among(_, members) if len(members) <= most:
            return members.ascending()
    return None


def member_places(cells: npt.NDArray[Any], members: npt.NDArray[np.int64]) -> Ordinals:
    """Where cells are that are members, ascending.

    Args:
        cells: integers, ascending, at least one.
        members: ascending and distinct.
    """
    first, last = members.searchsorted(cells[0]), members.searchsorted(cells[-1], "right")
    inside = members[first:last].astype(cells.dtype)
    starts = cells.searchsorted(inside)
    return ordinals_of_spans(starts, cells.searchsorted(inside, "right") - starts)
