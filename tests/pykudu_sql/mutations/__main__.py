"""Long runs by hand: python -m tests.pykudu_sql.mutations --statements 20000 --seed 1

`--file` adds lines of another corpus, such as sqlglot's tests/fixtures/identity.sql.
"""

import argparse
import logging
import sys
from pathlib import Path
from random import Random

from tests.pykudu_sql.mutations.corpus import expressions, shapes
from tests.pykudu_sql.mutations.judging import mutate_scripts, mutate_shapes


def main() -> int:
    """Run about so many mutations and print what must not happen."""
    parser = argparse.ArgumentParser(prog="python -m tests.pykudu_sql.mutations")
    parser.add_argument("--statements", type=int, default=2000, help="about so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--file", type=Path, action="append", default=[], help="more shapes")
    options = parser.parse_args()
    logging.disable()
    random = Random(options.seed)
    listed = list(shapes())
    for path in options.file:
        listed += expressions(path.read_text(encoding="utf-8").splitlines())
    half = options.statements // 2
    reports = [
        mutate_scripts(random, half),
        mutate_shapes(random, listed, half / len(listed)),
    ]
    for report in reports:
        print("\n".join(report.failures))
    tried, failed = sum(r.tried for r in reports), sum(r.kinds.total() for r in reports)
    print(f"{tried} statements, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
