"""`pykudu-sql load` and `export`: the jobs on Spark as commands.

Exit codes: 0 done, 1 failed and nothing changed, 2 the command line is wrong, 130 Ctrl-C.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pykudu_sql import Error

if TYPE_CHECKING:
    from pykudu_sql.spark.jobs.report import JobReport

_Job = Callable[[], "JobReport"]


def load(argv: Sequence[str]) -> int:
    """Run `pykudu-sql load`."""
    parser = _parser("load", "Load files into a table: all of their rows in one commit, or none.")
    add = parser.add_argument
    add("db", metavar="DB", help="directory of the database; made where there is none")
    add("table", metavar="TABLE", help="created from the files where it does not exist")
    add("sources", metavar="FILE", nargs="+", help="files, folders or globs")
    add("--format", choices=("csv", "parquet", "json", "orc"), help="else told by the name")
    add("--operation", default="insert", metavar="OP", help="insert, upsert, insert_ignore, ...")
    add("--rejects", metavar="FILE", help="put rows that do not fit there, as JSON, with reasons")
    add("--primary-key", default="", metavar="A,B", help="key of a new table")
    add("--hash", action="append", default=[], metavar="A,B:N", help="hash level of a new table")
    add("--range", metavar="TEXT", help="what follows RANGE in PARTITION BY of a new table")
    _add_pairs(parser, "--option", "an option of Spark's reader, such as sep=;")
    chosen = parser.parse_args(argv)
    hashes = tuple(_hash_level(parser, text) for text in chosen.hash)

    def job() -> "JobReport":
        from pykudu_sql.spark.jobs.load import LoadOptions, load
        from pykudu_sql.spark.jobs.new_table import TableLayout, names_of

        layout = TableLayout(tuple(names_of(chosen.primary_key)), hashes, chosen.range)
        options = LoadOptions(
            file_format=chosen.format,
            reader=dict(chosen.option),
            operation=chosen.operation,
            rejects=chosen.rejects,
            layout=layout,
            master=chosen.master,
            conf=_conf(chosen),
        )
        return load(chosen.db, chosen.table, chosen.sources, options)

    return _run("load", job)


def export(argv: Sequence[str]) -> int:
    """Run `pykudu-sql export`."""
    parser = _parser("export", "Write a table, or what it was at some moment, to files.")
    add = parser.add_argument
    add("db", metavar="DB", help="directory of the database")
    add("table", metavar="TABLE")
    add("target", metavar="FOLDER", help="made by this, with one or more files in it")
    add("--format", choices=("parquet", "csv"), default="parquet")
    add("--columns", metavar="A,B", help="only these")
    add("--where", metavar="SQL", help="only rows that this condition holds for")
    add("--as-of", metavar="TIME", help="a timestamp, a hybrid timestamp or a snapshot's name")
    add("--overwrite", action="store_true", help="replace the folder if it exists")
    _add_pairs(parser, "--option", "an option of Spark's writer, such as compression=zstd")
    chosen = parser.parse_args(argv)

    def job() -> "JobReport":
        from pykudu_sql.spark.jobs.export import ExportOptions, export
        from pykudu_sql.spark.jobs.new_table import names_of

        options = ExportOptions(
            file_format=chosen.format,
            columns=None if chosen.columns is None else tuple(names_of(chosen.columns)),
            where=chosen.where,
            as_of=chosen.as_of,
            overwrite=chosen.overwrite,
            writer=dict(chosen.option),
            master=chosen.master,
            conf=_conf(chosen),
        )
        return export(chosen.db, chosen.table, chosen.target, options)

    return _run("export", job)


def _run(name: str, job: _Job) -> int:
    try:
        from pykudu_sql.spark.jobs.spark_errors import told_plainly
    except ModuleNotFoundError as error:
        print(f"pykudu-sql {name}: {error}", file=sys.stderr)
        print("This needs Spark: pip install 'pykudu-sql[spark]'", file=sys.stderr)
        return 1
    try:
        with told_plainly():
            report = job()
    except Error as error:
        print(f"pykudu-sql {name}: {error}", file=sys.stderr)
        return 1
    print(f"{name}: {report.text()}")
    return 0


def _parser(name: str, description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"pykudu-sql {name}", description=description, allow_abbrev=False
    )
    parser.add_argument("--master", default="local[*]", metavar="URL", help="where Spark runs")
    _add_pairs(parser, "--conf", "a setting of the Spark session")
    return parser


def _add_pairs(parser: argparse.ArgumentParser, option: str, text: str) -> None:
    parser.add_argument(
        option, action="append", default=[], metavar="NAME=VALUE", type=_pair, help=text
    )


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _conf(chosen: argparse.Namespace) -> dict[str, str]:
    """The session's settings; a progress line where somebody can see it."""
    shown = "true" if sys.stderr.isatty() else "false"
    return {"spark.ui.showConsoleProgress": shown, **dict(chosen.conf)}


def _hash_level(parser: argparse.ArgumentParser, text: str) -> str:
    """`a,b:4` as SQL."""
    names, _, buckets = text.rpartition(":")
    if not names or not buckets.isdigit():
        parser.error(f"--hash takes COLUMNS:BUCKETS, not {text!r}")
    columns = ", ".join('"' + name.strip().replace('"', '""') + '"' for name in names.split(","))
    return f"({columns}) PARTITIONS {buckets}"
