"""Long runs by hand: python -m tests.pykudu_sql.differential --queries 20000 --seed 1

Ctrl-C ends a run with what was compared until then.
"""

import argparse
import sys
from contextlib import suppress

from tests.pykudu_sql.differential.world import VERSIONS, Report, explore

_PER_VERSION = 30


def main() -> int:
    """Live worlds until enough queries are compared, and print what differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.pykudu_sql.differential")
    parser.add_argument("--queries", type=int, default=1000, help="about so many")
    parser.add_argument("--seed", type=int, default=0, help="of the first world")
    options = parser.parse_args()
    total = Report()
    worlds = -(-options.queries // (_PER_VERSION * VERSIONS))
    with suppress(KeyboardInterrupt):
        for seed in range(options.seed, options.seed + worlds):
            report = explore(seed, _PER_VERSION, portable=seed % 3 == 0)
            total.compared += report.compared
            total.refused += report.refused
            for difference in report.differences:
                print(f"seed {seed}: {difference}\n", flush=True)
            total.differences += report.differences
    print(f"{total.compared} compared, {total.refused} refused, {len(total.differences)} differ")
    return 1 if total.differences else 0


if __name__ == "__main__":
    sys.exit(main())
