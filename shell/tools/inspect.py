"""`pykudu-sql inspect`: prints what lies on disk."""

import argparse
import sys
from collections.abc import Sequence

from pykudu_sql.offline import Error, inspect
from pykudu_sql.shell.arguments import ArgumentParser
from pykudu_sql.shell.exit_codes import ExitCode, exit_code
from pykudu_sql.shell.output.terminal import Output, print_error

_EPILOG = """\
parts:
  (none)                         tables and sizes
  manifest                       every change of metadata
  wal                            every commit in the write-ahead log
  tables                         columns and tablets of all tables, dropped ones too
  tablet ID                      rowsets and their files
  rowset TABLET ID               the files of a rowset, and how each column is stored
  cfile TABLET ROWSET COLUMN     the blocks of a column
  delta TABLET FILE              the records of a delta file, such as 7.redo

A tablet is named by its UUID or the beginning of it.
"""


def main(argv: Sequence[str]) -> int:
    """Run the subcommand.

    Returns the exit code; what could be read of a damaged part is printed.
    """
    options = _build_parser().parse_args(argv)
    output = Output(sys.stdout)
    try:
        for line in inspect(options.db, options.part):
            output.write(line + "\n")
    except Error as error:
        output.flush()
        print_error(f"pykudu-sql inspect: {error}")
        return exit_code(error)
    return ExitCode.OK


def _build_parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        "pykudu-sql inspect",
        "Print what lies on disk. Changes nothing, and may run beside a process that writes.",
        usage="%(prog)s DB [PART...]",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("db", metavar="DB", help="directory of the database")
    parser.add_argument("part", nargs="*", metavar="PART", help="what to show")
    return parser
