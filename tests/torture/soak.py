"""A minute of steady load beside background maintenance: nothing reads wrong, nothing piles up."""

import tempfile
from pathlib import Path

from benchmarks.soak import SoakPlan, run_soak
from benchmarks.soak_slices import Slice
from tests.torture.outcome import Outcome, Result

SOAK = "soak: steady upserts and readers beside maintenance"
# Of each of four tablets: a rowset's deltas are merged once there are two files, and while they are
# a flush may add another.
_MOST_REDO_FILES = 12
_MOST_SPACE = 3.0
# Every tablet is flushed every few seconds.
_FLUSH_BYTES = 128 << 10


def try_soak(seconds: float, rows: int) -> list[Outcome]:
    """Keep up a load for some seconds over so many rows; how fast it goes is not judged here."""
    curve: list[Slice] = []
    with tempfile.TemporaryDirectory() as folder:
        settings = {"flush_bytes": _FLUSH_BYTES}
        plan = SoakPlan(seconds, rows, slice_seconds=seconds / 6, settings=settings)
        result = run_soak(Path(folder) / "db", plan, curve.append)
    wrong = [(Result.WRONG, text) for text in result.wrong]
    files = max(part.redo_files for part in curve)
    if files > _MOST_REDO_FILES:
        wrong.append((Result.OTHER, f"{files} REDO files piled up"))
    if result.disk_bytes > _MOST_SPACE * result.compacted_bytes:
        wrong.append((Result.OTHER, f"{result.disk_bytes} bytes, {result.compacted_bytes} merged"))
    if not wrong:
        return [Outcome(SOAK, f"{seconds:g} s", Result.HELD)]
    return [Outcome(SOAK, f"{seconds:g} s", kind, text) for kind, text in wrong]
