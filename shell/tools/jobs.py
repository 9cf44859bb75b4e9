"""`pykudu-sql load`, `export` and `changes`: files into tables and back; see `job_command`."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pykudu_sql.shell.tools.job_command import add_pairs, add_run_options, build_job_parser, run_job
from pykudu_sql.spark.options import OPERATIONS

if TYPE_CHECKING:
    from pykudu_sql.jobs.report import JobReport

_MOMENT = "'10 min ago', a timestamp, a hybrid timestamp or a snapshot's name"


def load(argv: Sequence[str]) -> int:
    """Run `pykudu-sql load`."""
    parser = build_job_parser(
        "load", "Load files into a table: all of their rows in one commit, or none."
    )
    add = parser.add_argument
    add("db", metavar="DB", help="directory of the database; made where there is none")
    add("table", metavar="TABLE", help="created from the files where it does not exist")
    add("sources", metavar="FILE", nargs="+", help="files, folders or globs")
    add(
        "--format",
        choices=("csv", "parquet", "json", "orc", "arrow"),
        help="by default from the name",
    )
    add("--operation", default="insert", type=_operation, choices=OPERATIONS)
    add("--rejects", metavar="FILE", help="put rows that do not fit there, as JSON, with reasons")
    add("--max-rejects", type=int, default=10_000, metavar="N", help="more are an error")
    add("--primary-key", default="", metavar="A,B", help="key of a new table")
    add("--hash", action="append", default=[], metavar="A,B:N", help="hash level of a new table")
    add("--range", metavar="TEXT", help="what follows RANGE in PARTITION BY of a new table")
    add_pairs(parser, "--option", "an option of the reader, such as sep=;")
    arguments = parser.parse_args(argv)
    hashes = tuple(_hash_level(parser, text) for text in arguments.hash)

    def job() -> "JobReport":
        from pykudu_sql.jobs.load import LoadOptions, load
        from pykudu_sql.jobs.table_layout import TableLayout, names_of

        layout = TableLayout(tuple(names_of(arguments.primary_key)), hashes, arguments.range)
        options = LoadOptions(
            file_format=arguments.format,
            reader=dict(arguments.option),
            operation=arguments.operation,
            rejects=arguments.rejects,
            max_rejects=arguments.max_rejects,
            layout=layout,
        )
        return load(
            arguments.db,
            arguments.table,
            arguments.sources,
            add_run_options(options, "load", arguments),
        )

    return run_job("load", job, arguments)


def export(argv: Sequence[str]) -> int:
    """Run `pykudu-sql export`."""
    parser = build_job_parser("export", "Write a table, or what it was at some moment, to files.")
    add = parser.add_argument
    _add_output(parser)
    add("--columns", metavar="A,B", help="only these")
    add("--where", metavar="SQL", help="only rows that this condition holds for")
    add("--as-of", metavar="TIME", help=_MOMENT)
    arguments = parser.parse_args(argv)

    def job() -> "JobReport":
        from pykudu_sql.jobs.export import ExportOptions, export

        options = ExportOptions(
            file_format=arguments.format,
            columns=_columns(arguments),
            where=arguments.where,
            as_of=arguments.as_of,
            overwrite=arguments.overwrite,
            writer=dict(arguments.option),
        )
        return export(
            arguments.db,
            arguments.table,
            arguments.target,
            add_run_options(options, "export", arguments),
        )

    return run_job("export", job, arguments)


def changes(argv: Sequence[str]) -> int:
    """Run `pykudu-sql changes`."""
    parser = build_job_parser("changes", "Write what commits did to the rows of a table to files.")
    add = parser.add_argument
    _add_output(parser)
    add("--since", metavar="TIME", required=True, help=f"commits after this moment: {_MOMENT}")
    add("--until", metavar="TIME", help="commits up to this moment; else up to now")
    add("--columns", metavar="A,B", help="only these, and the metadata of each change")
    arguments = parser.parse_args(argv)

    def job() -> "JobReport":
        from pykudu_sql.jobs.changes import ChangesOptions, changes

        options = ChangesOptions(
            until=arguments.until,
            columns=_columns(arguments),
            file_format=arguments.format,
            overwrite=arguments.overwrite,
            writer=dict(arguments.option),
        )
        return changes(
            arguments.db,
            arguments.table,
            arguments.target,
            arguments.since,
            add_run_options(options, "changes", arguments),
        )

    return run_job("changes", job, arguments)


def _add_output(parser: argparse.ArgumentParser) -> None:
    """Which table goes to which files, and how these are written."""
    add = parser.add_argument
    add("db", metavar="DB", help="directory of the database")
    add("table", metavar="TABLE")
    add("target", metavar="FOLDER", help="made by this, with one or more files in it")
    add("--format", choices=("parquet", "csv", "json", "orc", "arrow"), default="parquet")
    add("--overwrite", action="store_true", help="replace the folder if it exists")
    add_pairs(parser, "--option", "an option of the writer, such as compression=zstd")


def _columns(arguments: argparse.Namespace) -> tuple[str, ...] | None:
    """The columns that go to files; None for all."""
    from pykudu_sql.jobs.table_layout import names_of

    return None if arguments.columns is None else tuple(names_of(arguments.columns))


def _operation(text: str) -> str:
    """The name of an operation in one of the spellings that the data source takes, too."""
    return text.lower().replace("-", "_")


def _hash_level(parser: argparse.ArgumentParser, text: str) -> str:
    """`a,b:4` as SQL."""
    names, _, buckets = text.rpartition(":")
    if not names or not buckets.isdigit():
        parser.error(f"--hash takes COLUMNS:BUCKETS, not {text!r}")
    columns = ", ".join('"' + name.strip().replace('"', '""') + '"' for name in names.split(","))
    return f"({columns}) PARTITIONS {buckets}"
