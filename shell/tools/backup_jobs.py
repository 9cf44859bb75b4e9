"""`pykudu-sql backup` and `restore`; see `job_command`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pykudu_sql.shell.tools.job_command import add_run_options, build_job_parser, run_job

if TYPE_CHECKING:
    from pykudu_sql.jobs.report import JobReport


def backup(argv: Sequence[str]) -> int:
    """Run `pykudu-sql backup`."""
    parser = build_job_parser(
        "backup",
        "Add a step to the backup in a folder: all tables at one moment, with their history. Files "
        "that steps before have are not read again.",
    )
    add = parser.add_argument
    add("db", metavar="DB", help="directory of the database, which may be in use")
    add("target", metavar="FOLDER", help="of the backup; made where there is none")
    add(
        "--full",
        action="store_true",
        help="read and check all files, though steps before have them",
    )
    arguments = parser.parse_args(argv)

    def job() -> "JobReport":
        from pykudu_sql.jobs.backup import BackupOptions, backup

        options = add_run_options(BackupOptions(arguments.full), "backup", arguments)
        return backup(arguments.db, arguments.target, options)

    return run_job("backup", job, arguments)


def restore(argv: Sequence[str]) -> int:
    """Run `pykudu-sql restore`."""
    parser = build_job_parser("restore", "Make tables as they were at a step of a backup.")
    add = parser.add_argument
    add("source", metavar="FOLDER", help="of the backup")
    add("db", metavar="DB", help="directory of the database; made where there is none")
    add("--to", metavar="STEP", help="a step's number, or a moment: the last step not later")
    add(
        "--table", action="append", default=[], metavar="TABLE", help="this table alone; repeatable"
    )
    add("--as", dest="name", metavar="NAME", help="the name that the one table gets")
    arguments = parser.parse_args(argv)

    def job() -> "JobReport":
        from pykudu_sql.jobs.restore import RestoreOptions, restore

        options = RestoreOptions(arguments.to, tuple(arguments.table), arguments.name)
        run_options = add_run_options(options, "restore", arguments)
        return restore(arguments.source, arguments.db, run_options)

    return run_job("restore", job, arguments)
