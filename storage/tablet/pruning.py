"""Which ordinals of a rowset a predicate can match, by its zone maps.

Each column of a rowset is cut into blocks of its own length, so what survives is kept as a set of
ordinal ranges: AND intersects them, OR unites them. A zone map speaks of base data; where deltas
changed cells, the block that holds the row is kept whatever the zone map says.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

import numpy as np

from pykudu_sql.storage.cfile.zone_map import ZoneMap
from pykudu_sql.storage.common.column_predicate import And, Or, Predicate, column_ids
from pykudu_sql.storage.tablet.delta_store import Ordinals

Range = tuple[int, int]


def matching_ranges(
    predicate: Predicate,
    rows: int,
    zone_of: Callable[[int], ZoneMap | None],
    changed: Callable[[int], Ordinals | None],
) -> list[Range]:
    """Ordinal ranges outside which no row can match.

    Args:
        predicate: what is asked.
        rows: of the rowset.
        zone_of: the zone map of a column id, None when the rowset's file lacks the column.
        changed: ordinals of rows whose cell of a column id deltas changed, ascending, None when
            none is.
    """
    match predicate:
        case And(parts):
            found = (matching_ranges(part, rows, zone_of, changed) for part in parts)
            return reduce(_intersect, found, [(0, rows)])
        case Or(parts):
            lists = [matching_ranges(part, rows, zone_of, changed) for part in parts]
            return unite(r for ranges in lists for r in ranges)
    (column_id,) = column_ids(predicate)
    zone = zone_of(column_id)
    if zone is None:
        return [(0, rows)]
    keep = zone.may_match(predicate)
    touched = changed(column_id)
    if touched is not None and len(touched):
        # Few searches in many rows, not many in few: a tenth of all rows may have changed.
        before = np.searchsorted(touched, zone.first_ordinals)
        keep |= np.diff(before) > 0
    firsts = zone.first_ordinals
    return unite((int(firsts[i]), int(firsts[i + 1])) for i in np.flatnonzero(keep))


def unite(ranges: Iterable[Range]) -> list[Range]:
    """The union of ranges, ascending, neighbours joined."""
    joined: list[Range] = []
    for start, stop in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        elif start < stop:
            joined.append((start, stop))
    return joined


def _intersect(left: Sequence[Range], right: Sequence[Range]) -> list[Range]:
    common: list[Range] = []
    i = j = 0
    while i < len(left) and j < len(right):
        start, stop = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if start < stop:
            common.append((start, stop))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return common
