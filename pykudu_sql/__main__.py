"""`python -m pykudu_sql`: the same as the command `pykudu-sql`."""

import sys

from pykudu_sql.shell.cli import main

if __name__ == "__main__":
    sys.exit(main())
