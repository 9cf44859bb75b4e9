"""The command `pykudu-sql`, also as `python -m pykudu_sql`."""

import gc
import sys

from pykudu_sql.shell.cli import main


def run() -> int:
    """Run the command line as a process of its own and return its exit code.

    The operating system takes back all memory at once when the process ends. Frozen objects are not
    searched for cycles before that, which takes as long as opening a small database does. DuckDB
    looks for objects of its own that are left and reports them, so it gets its search.
    """
    code = main()
    if "duckdb" not in sys.modules:
        gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(run())
