"""Long runs by hand: python -m tests.pykudu_sql.qualifiers --statements 20000 --seed 1"""

import argparse
import sys
from random import Random

from tests.pykudu_sql.qualifiers.trying import try_all


def main() -> int:
    """Try so many statements, all if there are fewer, and print what fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.pykudu_sql.qualifiers")
    parser.add_argument("--statements", type=int, default=20000, help="at most so many")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    report = try_all(Random(options.seed), options.statements)
    print("\n".join(report.failures))
    print(
        f"{report.accepted} right, {report.refused} wrong qualifiers,"
        f" {len(report.failures)} failures"
    )
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
