"""The jobs with Spark as their engine, however small they are."""

from collections.abc import Sequence
from dataclasses import replace

from pykudu_sql.jobs import changes as changes_job
from pykudu_sql.jobs import export as export_job
from pykudu_sql.jobs import load as load_job
from pykudu_sql.jobs.options import ChangesOptions, ExportOptions, LoadOptions
from pykudu_sql.jobs.report import JobReport


def load(
    database: str, table: str, sources: Sequence[str], options: LoadOptions | None = None
) -> JobReport:
    return load_job.load(
        database, table, sources, replace(options or LoadOptions(), engine="spark")
    )


def export(
    database: str, table: str, target: str, options: ExportOptions | None = None
) -> JobReport:
    return export_job.export(
        database, table, target, replace(options or ExportOptions(), engine="spark")
    )


def changes(
    database: str, table: str, target: str, since: str, options: ChangesOptions | None = None
) -> JobReport:
    return changes_job.changes(
        database, table, target, since, replace(options or ChangesOptions(), engine="spark")
    )
