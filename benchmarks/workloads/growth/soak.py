"""The soak as a survey: its curve is printed as it comes, its last slice stands beside its first.

`--soak-seconds` says how long it lasts; the bounds are meant for ten minutes.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.newest_minute import HOSTS
from benchmarks.soak import SoakPlan, SoakResult, run_soak
from benchmarks.soak_slices import HEADER, Slice, line_of
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.workbench import Workbench

SLICES = 10
_RANGES_PER_SECOND = 20.0
_MIB = 1 << 20


def soak(bench: Workbench) -> Survey:
    """Upserts, point reads and scans side by side, with maintenance in the background."""
    plan = SoakPlan(bench.soak_seconds, bench.point_rows, bench.soak_seconds / SLICES)
    return Survey(
        name="soak",
        title=_title(plan),
        measure=lambda: list(_measure(bench, plan)),
        bounds=[
            Bound("scan p50, last / first slice", most=1.5),
            Bound("get p50, last / first slice", most=1.5),
            Bound("get p99, worst slice", most=0.010),
            Bound("commit p99, worst slice", most=0.100),
            Bound("REDO files at most", most=2 * 4),
            Bound("space / (compacted rows and history)", most=2.0),
            Bound("RSS, last three slices / three before", most=1.1),
        ],
    )


def newest_minute(bench: Workbench) -> Survey:
    """The soak, with a time series beside it whose newest minute is read by host."""
    plan = SoakPlan(
        bench.soak_seconds,
        bench.point_rows,
        bench.soak_seconds / SLICES,
        ranges_per_second=_RANGES_PER_SECOND,
    )
    return Survey(
        name="newest_minute",
        title=(
            f"{_title(plan)}; as many rows a second of {HOSTS} hosts, and "
            f"{plan.ranges_per_second:g} times a second the newest minute of one"
        ),
        measure=lambda: list(_measure(bench, plan)),
        bounds=[Bound("range p99, whole load", most=0.010)],
    )


def _title(plan: SoakPlan) -> str:
    rate = plan.commits_per_second * plan.batch_rows
    return (
        f"{plan.seconds:g} s of {rate:,.0f} upserts a second into {plan.rows:,} rows, "
        f"{plan.batch_rows} to a durable commit; {plan.gets_per_second:g} rows by key and "
        f"{plan.scans_per_second:g} scans of all rows a second"
    )


def _measure(bench: Workbench, plan: SoakPlan) -> Iterator[Figure]:
    folder = Path(tempfile.mkdtemp(prefix="soak-", dir=bench.scratch))
    print(f"\n{HEADER}", flush=True)
    result = run_soak(folder / "db", plan, lambda part: print(line_of(part), flush=True))
    shutil.rmtree(folder)
    if result.wrong:
        raise ValueError("; ".join(result.wrong[:5]))
    yield from figures_of(result)


def figures_of(result: SoakResult) -> Iterator[Figure]:
    """What the bounds ask for."""
    slices = result.slices
    first, last = slices[0], slices[-1]
    yield Figure("commits", float(sum(part.commits for part in slices)))
    yield Figure("scan p50, first slice", first.scan_p50, "s")
    yield Figure("scan p50, last slice", last.scan_p50, "s")
    yield Figure("scan p50, last / first slice", _ratio(last.scan_p50, first.scan_p50))
    yield Figure("get p50, first slice", first.get_p50, "s")
    yield Figure("get p50, last slice", last.get_p50, "s")
    yield Figure("get p50, last / first slice", _ratio(last.get_p50, first.get_p50))
    yield Figure("get p99, worst slice", max(part.get_p99 for part in slices), "s")
    yield Figure("range p99, whole load", result.range_p99, "s")
    yield Figure("range p99, worst slice", max(part.range_p99 for part in slices), "s")
    yield Figure("commit p50, last slice", last.commit_p50, "s")
    yield Figure("commit p99, worst slice", max(part.commit_p99 for part in slices), "s")
    yield Figure("REDO files at most", float(max(part.redo_files for part in slices)))
    yield Figure("space", last.disk_bytes / _MIB, "MiB")
    yield Figure("compacted rows and history", result.compacted_bytes / _MIB, "MiB")
    yield Figure(
        "space / (compacted rows and history)", _ratio(result.disk_bytes, result.compacted_bytes)
    )
    # What is not flushed yet rises and falls within two minutes, so the tops are compared.
    before, end = (max((p.rss_bytes for p in part), default=0) for part in _halves(slices))
    yield Figure("RSS at the end", last.rss_bytes / _MIB, "MiB")
    yield Figure("RSS, last three slices / three before", _ratio(end, before))
    yield from _runs(slices)


def _halves(slices: Sequence[Slice]) -> tuple[Sequence[Slice], Sequence[Slice]]:
    """The last three slices, and the three before them, in the order of time."""
    return slices[-6:-3], slices[-3:]


def _runs(slices: Sequence[Slice]) -> Iterator[Figure]:
    for kind in sorted({kind for part in slices for kind in part.runs}):
        yield Figure(f"runs of {kind}", float(sum(part.runs.get(kind, 0) for part in slices)))


def _ratio(above: float, below: float) -> float:
    return above / below if below else 0.0
