"""The command `pykudu-sql`, also as `python -m pykudu_sql`."""

import gc
import sys

from pykudu_sql.shell.cli import main

_OBJECTS_BETWEEN_SEARCHES = 20_000


def run() -> int:
    """Run the command line as a process of its own and return its exit code.

    The operating system takes back all memory at once when the process ends. Frozen objects are not
    searched for cycles before that, which takes as long as opening a small database does. DuckDB
    looks for objects of its own that are left and reports them, so it gets its search.

    Most of what a process of one statement makes are modules, which are no garbage. So it looks for
    cycles after more objects than is the default, which took a twentieth of an export.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_SEARCHES)
    code = main()
    if "duckdb" not in sys.modules:
        gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(run())
