"""Long runs by hand: python -m tests.pykudu_sql.quoting --tries 150000 --seed 1"""

import argparse
import random
import sys

from tests.pykudu_sql.quoting.attack import Report, attack, together
from tests.pykudu_sql.quoting.payloads import corpus


def main() -> int:
    """Play the corpus until there are enough tries, and print what became SQL."""
    parser = argparse.ArgumentParser(prog="python -m tests.pykudu_sql.quoting")
    parser.add_argument("--tries", type=int, default=10_000, help="about so many")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    runs = list(corpus())
    each = max(1, options.tries // sum(map(len, runs)))
    total = Report()
    for statements in runs:
        report = attack(statements, each, rng)
        for found in (*report.raw, *report.foreign):
            print(f"{found}\n", flush=True)
        total = together((total, report))
    print(f"{total.tried} tried, {total.reached} texts reached the engine", end=", ")
    print(f"{len(total.raw)} raw, {len(total.foreign)} errors that are not ours")
    return 1 if total.raw or total.foreign else 0


if __name__ == "__main__":
    sys.exit(main())
