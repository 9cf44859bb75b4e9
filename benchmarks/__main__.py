"""The command: `python -m benchmarks [--only bulk,q1] [--scale 0.1] [--json FILE]`."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.harness import Race, Result, run_race
from benchmarks.machine import load_average, machine_facts
from benchmarks.report import as_json, format_result, format_survey
from benchmarks.survey import Survey, SurveyResult, run_survey
from benchmarks.workbench import PEERS, Workbench
from benchmarks.workloads.growth.dense_scan import dense_scan
from benchmarks.workloads.growth.footprint import decode, size
from benchmarks.workloads.growth.large_table import ten_million
from benchmarks.workloads.growth.scale import scale
from benchmarks.workloads.growth.soak import newest_minute, soak
from benchmarks.workloads.queries.analytics import q1, q6
from benchmarks.workloads.queries.bounded import bounded
from benchmarks.workloads.queries.planning import planning
from benchmarks.workloads.queries.spark import (
    spark_as_of,
    spark_load,
    spark_narrow,
    spark_selective,
    spark_wide,
)
from benchmarks.workloads.queries.spark_pipeline import spark_pipeline
from benchmarks.workloads.queries.spark_scale import spark_scale
from benchmarks.workloads.queries.tpch import tpch
from benchmarks.workloads.single_rows.durable import durable_insert, durable_update
from benchmarks.workloads.single_rows.point import (
    newest_rows,
    point_count,
    point_insert,
    point_select,
    point_update,
    point_upsert,
)
from benchmarks.workloads.single_rows.threads import commit_threads, commit_threads_disk
from benchmarks.workloads.single_rows.ycsb import ycsb_a, ycsb_c, ycsb_cold
from benchmarks.workloads.writes.batches import backfill, upsert_batches
from benchmarks.workloads.writes.bulk import bulk
from benchmarks.workloads.writes.files import files
from benchmarks.workloads.writes.first_scan import first_scan
from benchmarks.workloads.writes.memory_order import memory_order
from benchmarks.workloads.writes.merging import compaction
from benchmarks.workloads.writes.random_writes import (
    random_batches,
    random_updates,
    random_updates_scan,
)
from benchmarks.workloads.writes.updates import as_of, q1_dirty, q6_dirty, update_tenth

WORKLOADS: Mapping[str, Callable[[Workbench], Race | Survey]] = {
    "bulk": bulk,
    "files": files,
    "q1": q1,
    "q6": q6,
    "planning": planning,
    "point_select": point_select,
    "point_insert": point_insert,
    "point_update": point_update,
    "point_count": point_count,
    "point_upsert": point_upsert,
    "newest_rows": newest_rows,
    "ycsb_a": ycsb_a,
    "ycsb_c": ycsb_c,
    "ycsb_cold": ycsb_cold,
    "durable_insert": durable_insert,
    "durable_update": durable_update,
    "commit_threads": commit_threads,
    "commit_threads_disk": commit_threads_disk,
    "random_updates": random_updates,
    "random_updates_scan": random_updates_scan,
    "upsert_batches": upsert_batches,
    "backfill": backfill,
    "first_scan": first_scan,
    "memory_order": memory_order,
    "tpch": tpch,
    "update_tenth": update_tenth,
    "q1_dirty": q1_dirty,
    "q6_dirty": q6_dirty,
    "as_of": as_of,
    "size": size,
    "decode": decode,
    "dense_scan": dense_scan,
    "compaction": compaction,
    "random_batches": random_batches,
    "ten_million": ten_million,
    "scale": scale,
    "bounded": bounded,
    "soak": soak,
    "newest_minute": newest_minute,
    "spark_wide": spark_wide,
    "spark_narrow": spark_narrow,
    "spark_selective": spark_selective,
    "spark_as_of": spark_as_of,
    "spark_load": spark_load,
    "spark_pipeline": spark_pipeline,
    "spark_scale": spark_scale,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the workloads asked for.

    Returns:
        0, or 1 if a contestant failed (a goal missed is a result, not a failure).
    """
    options = _parser().parse_args(arguments)
    results: list[Result | SurveyResult] = []
    with Workbench(
        options.peers, options.scale, options.point_rows, options.rounds, options.soak_seconds
    ) as bench:
        facts = machine_facts(bench.scratch)
        print("\n".join(f"{name}: {value}" for name, value in facts.items()))
        for name, reason in bench.unavailable.items():
            print(f"{name} does not take part: {reason}")
        for name in options.only:
            results.append(_run(WORKLOADS[name](bench)))
        facts["load average afterwards"] = load_average()
        print(f"\nload average afterwards: {facts['load average afterwards']}")
    if options.json:
        options.json.write_text(as_json(results, facts) + "\n")
    return 1 if any(result.failures for result in results) else 0


def _run(workload: Race | Survey) -> Result | SurveyResult:
    """Run one workload and print what came out."""
    if isinstance(workload, Race):
        race = run_race(workload)
        print(f"\n{format_result(race)}", flush=True)
        return race
    survey = run_survey(workload)
    print(f"\n{format_survey(survey)}", flush=True)
    return survey


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Our engine and its peers, taking turns in one run. Medians, CPU time, ratios.",
    )
    parser.add_argument(
        "--only",
        type=_names(WORKLOADS),
        default=tuple(WORKLOADS),
        metavar="NAMES",
        help=f"workloads or the first word of several, separated by commas: {', '.join(WORKLOADS)}",
    )
    parser.add_argument(
        "--peers",
        type=_names(PEERS),
        default=tuple(PEERS),
        metavar="NAMES",
        help=f"engines, separated by commas: {', '.join(PEERS)}",
    )
    parser.add_argument(
        "--scale", type=float, default=1.0, metavar="SF", help="TPC-H scale factor, default 1"
    )
    parser.add_argument(
        "--point-rows",
        type=int,
        default=1_000_000,
        metavar="N",
        help="rows of the table of the point workloads, default a million",
    )
    parser.add_argument(
        "--soak-seconds",
        type=float,
        default=600.0,
        metavar="N",
        help="how long the soak lasts, default ten minutes",
    )
    parser.add_argument("--rounds", type=int, metavar="N", help="timed turns of each contestant")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all samples there too")
    return parser


def _names(name_list: Mapping[str, object]) -> Callable[[str], tuple[str, ...]]:
    """Reads a list of names; `point` stands for all that begin with `point_`."""

    def names(text: str) -> tuple[str, ...]:
        selection: list[str] = []
        for part in map(str.strip, text.split(",")):
            matches = [name for name in name_list if name == part or name.startswith(f"{part}_")]
            if not matches:
                raise argparse.ArgumentTypeError(f"{part!r} is none of {', '.join(name_list)}")
            selection += matches
        return tuple(selection)

    return names


if __name__ == "__main__":
    sys.exit(main())
