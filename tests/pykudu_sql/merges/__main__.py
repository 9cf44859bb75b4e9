"""Long runs by hand: python -m tests.pykudu_sql.merges --statements 20000 --seed 1

Ctrl-C ends a run with what was compared until then.
"""

import argparse
import sys
from contextlib import suppress

from tests.pykudu_sql.merges.world import Report, explore


def main() -> int:
    """Live in worlds until enough statements ran, and print what differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.pykudu_sql.merges")
    parser.add_argument("--statements", type=int, default=1000, help="about so many")
    parser.add_argument("--seed", type=int, default=0, help="of the first world")
    options = parser.parse_args()
    total, seed = Report(), options.seed
    with suppress(KeyboardInterrupt):
        while total.statements.total() < options.statements:
            report = explore(seed)
            total.statements += report.statements
            total.refused += report.refused
            for difference in report.differences:
                print(f"seed {seed}: {difference}\n", flush=True)
            total.differences += report.differences
            seed += 1
    kinds = ", ".join(f"{count} {word}" for word, count in sorted(total.statements.items()))
    print(kinds)
    print(
        f"{total.statements.total()} statements, {total.refused} refused by both,"
        f" {len(total.differences)} differ"
    )
    return 1 if total.differences else 0


if __name__ == "__main__":
    sys.exit(main())
