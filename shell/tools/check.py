"""`pykudu-sql check`: verifies every checksum and every invariant of a database."""

import argparse
import sys
from collections.abc import Sequence

from pykudu_sql.offline import Error, check
from pykudu_sql.shell.arguments import ArgumentParser
from pykudu_sql.shell.exit_codes import ExitCode, exit_code
from pykudu_sql.shell.output.terminal import Output, print_error
from pykudu_sql.storage.common.noun_count import noun_count


def main(argv: Sequence[str]) -> int:
    """Run the subcommand. Returns the exit code, which is 0 only when nothing is wrong."""
    options = _build_parser().parse_args(argv)
    try:
        checking = check(options.db, options.quick)
    except Error as error:
        print_error(f"pykudu-sql check: {error}")
        return exit_code(error)
    output = Output(sys.stdout)
    problems = leftover_files = 0
    for finding in checking.run():
        if finding.is_left_over:
            leftover_files += 1
            continue
        problems += 1
        output.write(f"{finding.path}: {finding.problem}\n    {finding.way_out}\n")
        output.flush()
    tally = checking.tally
    stored = f"{noun_count(tally.rows, 'row')} stored, deleted ones included"
    counts = ", ".join(
        (
            noun_count(tally.files, "file"),
            noun_count(tally.bytes, "byte"),
            noun_count(tally.tablets, "tablet"),
        )
    )
    depth = "metadata only" if options.quick else stored
    if leftover_files:
        named = "file was" if leftover_files == 1 else "files were"
        depth += f"\n{leftover_files} {named} left over when a process ended; opening removes them"
    if problems:
        output.write(
            f"{noun_count(problems, 'problem')} in {counts}, {depth}, "
            "without what a problem kept from being looked at\n"
        )
        return ExitCode.FAILED
    output.write(f"ok: {counts}, {depth}\n")
    return ExitCode.OK


def _build_parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        "pykudu-sql check",
        "Verify every checksum and every invariant of a database. Changes nothing, and may run "
        "beside a process that writes.",
    )
    parser.add_argument("db", metavar="DB", help="directory of the database")
    parser.add_argument("--quick", action="store_true", help="footers and indexes only, no rows")
    return parser
