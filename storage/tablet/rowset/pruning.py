"""Which ordinals of a rowset can match, by zone maps, dictionaries, skip indexes and keys.

Each column of a rowset is cut into blocks of its own length, so what survives is kept as a set of
ordinal ranges: AND intersects them, OR unites them. A zone map speaks of base data; where deltas
changed a cell to one that matches, the block that holds the row is kept whatever the zone map says.
Keys never change, so ranges of keys cut through to the rows that the key index points at.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from pykudu_sql.storage.cfile.cfile_reader import CFileReader
from pykudu_sql.storage.cfile.key_index import KeyIndex
from pykudu_sql.storage.common.predicate.column_predicate import And, Leaf, Or, Predicate
from pykudu_sql.storage.common.predicate.key_bounds import KeyRange
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals

Range = tuple[int, int]


def matching_ranges(
    predicate: Predicate,
    rows: int,
    cfile_of: Callable[[int], CFileReader | None],
    changed: Callable[[Leaf], Ordinals],
    excludes: Callable[[Leaf], bool],
) -> list[Range]:
    """Ordinal ranges outside which no row can match.

    Args:
        predicate: of the scan.
        rows: of the rowset.
        cfile_of: the CFile of a column id, None when the rowset's files lack the column.
        changed: ordinals of the rows with a cell that deltas changed and that may meet a
            comparison, ascending.
        excludes: whether a skip index excludes that a base cell meets a comparison.
    """
    match predicate:
        case And(parts):
            ranges = [(0, rows)]
            for part in parts:
                if not ranges:
                    break
                part_ranges = matching_ranges(part, rows, cfile_of, changed, excludes)
                ranges = intersect(ranges, part_ranges)
            return ranges
        case Or(parts):
            lists = [matching_ranges(part, rows, cfile_of, changed, excludes) for part in parts]
            return unite(r for ranges in lists for r in ranges)
    cfile = cfile_of(predicate.column_id)
    if cfile is None:
        return [(0, rows)]
    zone, keep = cfile.zone_map, cfile.may_match(predicate)
    if keep.any() and excludes(predicate):
        keep = np.zeros_like(keep)
    if keep.all():
        return [(0, rows)]
    changed_ordinals = changed(predicate)
    if len(changed_ordinals):
        keep |= zone.holds_any(changed_ordinals)
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


def key_spans(ranges: Sequence[KeyRange], index: KeyIndex) -> list[Range]:
    """Ordinal ranges outside which no row's key lies in given ranges.

    `ranges`: of encoded keys, ascending and disjoint; `index`: over the rowset's keys.
    """
    return unite(index.find_span(low, high) for low, high in ranges)


def intersect(left: Sequence[Range], right: Sequence[Range]) -> list[Range]:
    """The intersection of two ascending lists of ranges."""
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
