"""Long runs by hand: python -m tests.pykudu_sql.pivots --statements 20000 --seed 1"""

import argparse
import sys
from random import Random

from tests.pykudu_sql.pivots.trying import try_some


def main() -> int:
    """Try so many statements, and print what fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.pykudu_sql.pivots")
    parser.add_argument("--statements", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    report = try_some(Random(options.seed), options.statements)
    print("\n".join(report.failures))
    print(
        f"{report.refused} refused, {report.compared} written otherwise and compared,"
        f" {len(report.failures)} failures"
    )
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
