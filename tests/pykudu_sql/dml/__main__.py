"""Long runs by hand: python -m tests.pykudu_sql.dml --statements 20000 --seed 1"""

import argparse
import sys

from tests.pykudu_sql.dml.world import Report, explore


def main() -> int:
    """Live in worlds until enough statements ran, and print what differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.pykudu_sql.dml")
    parser.add_argument("--statements", type=int, default=1000, help="about so many")
    parser.add_argument("--seed", type=int, default=0, help="of the first world")
    options = parser.parse_args()
    total, seed = Report(), options.seed
    while total.statements < options.statements:
        report = explore(seed)
        total.statements += report.statements
        total.refused += report.refused
        total.snapshots += report.snapshots
        total.purged += report.purged
        total.steps.update(report.steps)
        for difference in report.differences:
            print(f"seed {seed}: {difference}\n", flush=True)
        total.differences += report.differences
        seed += 1
    print(", ".join(f"{count} {step}" for step, count in total.steps.items()))
    print(
        f"{total.statements} statements, {total.refused} refused by both,"
        f" {total.snapshots} snapshots read, {total.purged} purged,"
        f" {len(total.differences)} differ"
    )
    return 1 if total.differences else 0


if __name__ == "__main__":
    sys.exit(main())
