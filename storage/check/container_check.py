"""Checking one file of CFiles: its checksums, and that its zone maps are right."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.cfile.cfile_reader import CFileReader
from pykudu_sql.storage.cfile.container import ContainerReader
from pykudu_sql.storage.check.finding import FROM_BACKUP, Finding, guarded
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import fixed_view, plain, wide_bounds
from pykudu_sql.storage.common.types.types import Cell


def check_container(reader: ContainerReader, size: int, quick: bool) -> Iterator[Finding]:
    """Read a file through.

    Args:
        reader: the open file; its footer was checked.
        size: bytes that the manifest says it has.
        quick: check the indexes only, no data.
    """
    path = reader.path
    if reader.size != size:
        yield Finding(path, f"has {reader.size} bytes, the manifest says {size}", FROM_BACKUP)
    for name in reader.names():
        yield from guarded(path, _check_cfile(path, name, reader.cfile(name), quick))
    for name in () if quick else reader.blob_names():
        reader.blob(name)


def _check_cfile(path: str, name: str, cfile: CFileReader, quick: bool) -> Iterator[Finding]:
    for number in () if quick else range(cfile.block_count):
        cfile.check_pages(number)
        problem = _zone_problem(cfile, number, plain(cfile.read_block(number)))
        if problem:
            yield Finding(
                path, f"zone map of CFile '{name}', block {number}: {problem}", FROM_BACKUP
            )


def _zone_problem(cfile: CFileReader, number: int, values: pa.Array) -> str | None:
    """The first fault of a block's entry in the zone map."""
    zone = cfile.zone_map
    low, high, has_nan = _bounds(cfile, values)
    if has_nan and not zone.has_nan[number]:
        return "the block holds NaN"
    if not zone.has_bounds[number] or low is None or high is None:
        return None
    claimed_low, claimed_high = _cell(zone.mins[number]), _cell(zone.maxs[number])
    if low < claimed_low or high > claimed_high:  # type: ignore[operator]
        return f"a value lies outside {claimed_low!r:.60} to {claimed_high!r:.60}"
    if zone.exact[number] and (low != claimed_low or high != claimed_high):
        return f"{claimed_low!r:.60} or {claimed_high!r:.60} does not occur"
    return None


def _bounds(cfile: CFileReader, values: pa.Array) -> tuple[Cell, Cell, bool]:
    """Least and greatest stored value of a block, None without any, and whether it holds NaN."""
    present = values if not values.null_count else values.drop_null()
    if not len(present):
        return None, None, False
    if cfile.type.is_variable:
        extremes = pc.min_max(present)
        return _cell(extremes["min"].as_py()), _cell(extremes["max"].as_py()), False
    stored = fixed_view(present, cfile.type)
    if cfile.type.width == 16:
        low, high = wide_bounds(stored)
        return low, high, False
    if stored.dtype.kind == "f":
        numbers = stored[~np.isnan(stored)]
        has_nan = len(numbers) < len(stored)
        if not len(numbers):
            return None, None, has_nan
        return _cell(numbers.min()), _cell(numbers.max()), has_nan
    return _cell(stored.min()), _cell(stored.max()), False


def _cell(bound: object) -> Cell:
    """A bound in a form that compares as keys do: text by its bytes."""
    if isinstance(bound, np.generic):
        value: Cell = bound.item()
        return value
    if isinstance(bound, str):
        return bound.encode()
    if isinstance(bound, bytes | int | float):
        return bound
    raise TypeError(f"{bound!r:.60} is no bound")
