"""`pykudu-sql inspect`: prints what lies on disk, or writes a page about the database."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pykudu_sql.files.file_access import check_written
from pykudu_sql.offline import Error, inspect, must_be_there
from pykudu_sql.shell.arguments import ArgumentParser
from pykudu_sql.shell.exit_codes import ExitCode, exit_code
from pykudu_sql.shell.output.terminal import Output, print_error
from pykudu_sql.shell.settings import UsageError

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
    options = build_parser().parse_args(argv)
    output = Output(sys.stdout)
    try:
        if options.html is not None:
            _write_page(options.db, Path(options.html), options.part)
            output.write(f"Wrote {options.html}\n")
            return ExitCode.OK
        for line in inspect(options.db, options.part):
            output.write(line + "\n")
    except Error as error:
        output.flush()
        print_error(f"pykudu-sql inspect: {error}")
        return exit_code(error)
    return ExitCode.OK


def _write_page(path: str, target: Path, part: Sequence[str]) -> None:
    """Write the page about a database, which may be written meanwhile."""
    import pykudu_sql
    from pykudu_sql.shell.report.facts import read_facts
    from pykudu_sql.shell.report.page import render_page

    if part:
        raise UsageError("--html is about the whole database: leave the part out")
    must_be_there(path)
    check_written(str(target), str(target), path)
    with pykudu_sql.connect(path, read_only=True, autocommit=True) as connection:
        text = render_page(read_facts(connection, pykudu_sql.__version__))
    try:
        target.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error


def build_parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        "pykudu-sql inspect",
        "Print what lies on disk. Changes nothing, and may run beside a process that writes.",
        usage="%(prog)s DB [PART... | --html FILE]",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("db", metavar="DB", help="directory of the database")
    parser.add_argument("part", nargs="*", metavar="PART", help="what to show")
    parser.add_argument(
        "--html", metavar="FILE", help="write a page that any browser shows: sizes, layout, advice"
    )
    return parser
