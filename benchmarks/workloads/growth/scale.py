"""What operations cost at one size and at ten times that, in memory that stays the same."""

import json
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.data import cache_folder
from benchmarks.scale_operations import OPERATIONS, Cost
from benchmarks.scale_picture import Line, picture
from benchmarks.survey import Bound, Figure, Survey
from benchmarks.workbench import Workbench

MULTIPLES = (1, 10)
PICTURE = "scale.svg"
MOST_MIB = 3072.0

Costs = dict[tuple[str, float], Cost]


def scale(bench: Workbench) -> Survey:
    """Wall and processor seconds, rows a processor second and peak memory of each operation."""
    sizes = [bench.scale * multiple for multiple in MULTIPLES]
    names = " and ".join(f"SF{size:g}" for size in sizes)
    return Survey(
        name="scale",
        title=(
            f"TPC-H {names}, each operation in a fresh process of 2 GB (256 MiB of block cache, "
            f"1 GiB for the engine, 512 MiB for scans); drawn in {cache_folder() / PICTURE}"
        ),
        measure=lambda: list(_measure(bench, sizes)),
        bounds=[Bound(f"SF{sizes[-1]:g} {name}: peak", most=MOST_MIB) for name in OPERATIONS],
    )


def _measure(bench: Workbench, sizes: list[float]) -> Iterator[Figure]:
    costs: Costs = {}
    for size in sizes:
        path = str(bench.scratch / f"scale-{size:g}.db")
        for name in OPERATIONS:
            cost = costs[name, size] = _cost(path, name, size)
            label = f"SF{size:g} {name}"
            yield Figure(f"{label}: wall", cost.wall, "s")
            yield Figure(f"{label}: processor", cost.processor, "s")
            yield Figure(f"{label}: rows a processor second", cost.rows / cost.processor, "rows/s")
            yield Figure(f"{label}: peak", cost.peak, "MiB")
    (cache_folder() / PICTURE).write_text(draw_costs(costs))


def _cost(path: str, name: str, size: float) -> Cost:
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale_operations", path, name, f"{size:g}"],
        check=True,
        capture_output=True,
        text=True,
    )
    return Cost(**json.loads(process.stdout))


def draw_costs(costs: Costs) -> str:
    """Processor time a million rows, and peak memory, over size."""
    times: dict[str, list[tuple[float, float]]] = {}
    peaks: dict[str, list[tuple[float, float]]] = {}
    for (name, size), cost in costs.items():
        times.setdefault(name, []).append((size, 1e6 * cost.processor / max(1, cost.rows)))
        peaks.setdefault(name, []).append((size, cost.peak))
    lines: dict[str, dict[str, Line]] = {
        "processor s for a million rows": dict(times),
        "peak memory, MiB": dict(peaks),
    }
    return picture(lines)
