"""Long runs by hand: python -m tests.pykudu_sql.file_mutations --files 2000 --seed 1

A file that fails is left in the folder that is printed. None may take more than 10 s of the
processor.
"""

import argparse
import faulthandler
import sys
import tempfile
from functools import partial
from pathlib import Path
from random import Random

from tests.pykudu_sql.file_mutations.judging import run_campaign

_MOST_SECONDS = 10.0


def main() -> int:
    """Try so many files and print what must not happen."""
    parser = argparse.ArgumentParser(prog="python -m tests.pykudu_sql.file_mutations")
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    faulthandler.enable()
    tell = partial(print, flush=True)
    folder = Path(tempfile.mkdtemp(prefix="file-mutations-")) / "files"
    folder.mkdir()
    report = run_campaign(
        Random(options.seed), options.files, folder, most_seconds=_MOST_SECONDS, tell=tell
    )
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(report.outcomes.items()))
    print(f"{report.tried} files: {kinds}; slowest {report.slowest:.1f} processor s")
    print(f"{len(report.failures)} failures")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
