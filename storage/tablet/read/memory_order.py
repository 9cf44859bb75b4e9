"""Rows of a MemRowSet in the order of their keys.

The runs of its index are merged by key alone; cells are read only of the rows that the merge comes
to, so the first rows of many cost no more than those of few.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from pykudu_sql.storage.common.types.arrays import integers_of
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.read.key_merge import KeyedBlock, KeyedSource, merge_by_key
from pykudu_sql.storage.tablet.rowset.key_runs import KeyRun

_LEAST_WINDOW = 64


def ordinals_by_key(runs: Sequence[KeyRun], count: int, stretch: int) -> Iterator[Ordinals]:
    """The ordinals of runs' rows by key, in arrays whose sizes grow.

    Args:
        runs: of one MemRowSet, none empty.
        count: ordinals from here on are left out.
        stretch: about how many rows an array has at most.
    """
    sources = [
        KeyedSource(run.keys.min_key(), partial(_windows, run, count, stretch)) for run in runs
    ]
    for block in merge_by_key(sources):
        (ordinals,) = block.columns
        yield integers_of(ordinals)


def _windows(run: KeyRun, count: int, stretch: int) -> Iterator[KeyedBlock]:
    """A run in blocks, the first of them small: a limit may need no more."""
    start, rows = 0, min(_LEAST_WINDOW, stretch)
    while start < len(run):
        part = run.part(start, min(start + rows, len(run))).below(count)
        if len(part):
            yield KeyedBlock(part.keys, [integers(part.ordinals)])
        start += rows
        rows = min(2 * rows, stretch)
