"""The command: `python -m benchmarks [--only bulk,q1] [--scale 0.1] [--json FILE]`."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.harness import Race, Result, run_race
from benchmarks.machine import load_average, machine_facts
from benchmarks.report import as_json, format_result
from benchmarks.workbench import PEERS, Workbench
from benchmarks.workloads.analytics import q1, q6
from benchmarks.workloads.bulk import bulk
from benchmarks.workloads.durable import durable_insert, durable_update
from benchmarks.workloads.point import point_insert, point_select, point_update

WORKLOADS: Mapping[str, Callable[[Workbench], Race]] = {
    "bulk": bulk,
    "q1": q1,
    "q6": q6,
    "point_select": point_select,
    "point_insert": point_insert,
    "point_update": point_update,
    "durable_insert": durable_insert,
    "durable_update": durable_update,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the workloads asked for.

    Returns:
        0, or 1 if a contestant failed (a goal missed is a result, not a failure).
    """
    options = _parser().parse_args(arguments)
    results: list[Result] = []
    with Workbench(options.peers, options.scale, options.point_rows, options.rounds) as bench:
        facts = machine_facts(bench.scratch)
        print("\n".join(f"{name}: {value}" for name, value in facts.items()))
        for name, reason in bench.unavailable.items():
            print(f"{name} does not take part: {reason}")
        for name in options.only:
            result = run_race(WORKLOADS[name](bench))
            print(f"\n{format_result(result)}", flush=True)
            results.append(result)
        facts["load average afterwards"] = load_average()
        print(f"\nload average afterwards: {facts['load average afterwards']}")
    if options.json:
        options.json.write_text(as_json(results, facts) + "\n")
    return 1 if any(result.failures for result in results) else 0


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
    parser.add_argument("--rounds", type=int, metavar="N", help="timed turns of each contestant")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all samples there too")
    return parser


def _names(known: Mapping[str, object]) -> Callable[[str], tuple[str, ...]]:
    """Reads a list of names; `point` stands for all that begin with `point_`."""

    def names(text: str) -> tuple[str, ...]:
        chosen: list[str] = []
        for part in map(str.strip, text.split(",")):
            matches = [name for name in known if name == part or name.startswith(f"{part}_")]
            if not matches:
                raise argparse.ArgumentTypeError(f"{part!r} is none of {', '.join(known)}")
            chosen += matches
        return tuple(chosen)

    return names


if __name__ == "__main__":
    sys.exit(main())
