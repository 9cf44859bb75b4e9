"""TPC-H on Spark with 2 GiB for driver and executors: load, 22 queries beside Parquet, backup."""

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence

from benchmarks.survey import Bound, Figure, Survey
from benchmarks.tpch_queries import QUERIES
from benchmarks.workbench import Workbench

MOST_RATIO = 1.2
_MEAN = "pykudu / Parquet"


def spark_scale(bench: Workbench) -> Survey:
    """Seconds of each operation, the peaks of the processes, and the queries' mean ratio."""
    return Survey(
        name="spark_scale",
        title=(
            f"TPC-H SF{bench.scale:g} on Spark, local[2] with a heap of 2 GiB: seconds; "
            "ours / Parquet's, below 1 is faster than that"
        ),
        measure=lambda: list(_measure(bench)),
        bounds=[Bound(_MEAN, most=MOST_RATIO)],
    )


def _measure(bench: Workbench) -> Iterator[Figure]:
    folder = bench.scratch / "spark-scale"
    folder.mkdir()
    module = "benchmarks.spark_operations"
    command = [sys.executable, "-m", module, str(folder), f"{bench.scale:g}"]
    process = subprocess.run(
        [*command, str(bench.rounds or 1)], check=True, stdout=subprocess.PIPE, text=True
    )
    measured = [Figure(**json.loads(line)) for line in process.stdout.splitlines()]
    yield from measured
    yield from ratios(measured)


def ratios(measured: Sequence[Figure]) -> Iterator[Figure]:
    """Of each query ours / Parquet's, and their geometric mean."""
    seconds = {figure.name: figure.value for figure in measured}
    quotients = {
        number: seconds[f"Q{number} pykudu"] / seconds[f"Q{number} Parquet"] for number in QUERIES
    }
    for number, quotient in quotients.items():
        yield Figure(f"Q{number} / Parquet", quotient)
    yield Figure(_MEAN, statistics.geometric_mean(quotients.values()))
