"""The whole corpus by hand: python -m tests.pykudu_sql.corpus [--state STATE] [SCRIPT ...]"""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pykudu_sql.shell.slt.report import describe, summary
from pykudu_sql.shell.slt.states import STATES
from tests.pykudu_sql.corpus.running import MISSING, Sample, run_script, scripts


def main() -> int:
    """Run scripts, tell what differs, and return 1 if anything does."""
    parser = argparse.ArgumentParser(prog="python -m tests.pykudu_sql.corpus")
    parser.add_argument("scripts", nargs="*", type=Path, help="scripts of the corpus; all of it")
    parser.add_argument("--state", choices=STATES, default="memory")
    parser.add_argument("--every", type=int, default=1, help="run one query of so many")
    options = parser.parse_args()
    chosen = options.scripts or scripts()
    if not chosen:
        print(MISSING)
        return 2
    failed = False
    for script in chosen:
        with TemporaryDirectory() as folder:
            file = run_script(script, STATES[options.state], Path(folder), Sample(options.every))
        for line in describe(file):
            print(line)
        seconds = file.result.seconds if file.result else 0.0
        print(f"{script}: {summary([file], seconds)}", flush=True)
        failed = failed or file.failed
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
