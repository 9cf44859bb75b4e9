"""`restore`: a database, or tables of it, as they were at a step of a backup.

A database that is not there is made of the files of the step, and has all of its history. Into one
that is there, tables are copied row by row: made anew, with the column ids they had, in one commit
a table; what goes wrong takes away what this job has made.
"""

from collections.abc import Sequence
from pathlib import Path

from pykudu_sql.files.atomic_output import atomic_output
from pykudu_sql.jobs.backup import transfer_all, transport_of
from pykudu_sql.jobs.backup_manifest import BackupStep, existing_steps
from pykudu_sql.jobs.engine_choice import choose_engine
from pykudu_sql.jobs.options import RestoreOptions
from pykudu_sql.jobs.report import JobReport, Stopwatch
from pykudu_sql.jobs.restored_tables import restore_tables
from pykudu_sql.jobs.step_files import files_to, sync_folders
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.hybrid_time import (
    SnapshotBound,
    Timestamp,
    bound_at,
    bound_at_micros,
    format_timestamp,
    last_before,
)
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import DataError, InvalidValueError, ProgrammingError
from pykudu_sql.storage.fs.database_places import check_written
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.remote.database_image import complete_image

__all__ = ["RestoreOptions", "restore"]

_TIME = DataType(Kind.UNIXTIME_MICROS)
_MOST_STEPS = 10_000


def restore(source: str, database: str, options: RestoreOptions | None = None) -> JobReport:
    """Make a database of a backup, or tables of it in a database that is there.

    Args:
        source: the folder of the backup.
        database: its directory; this process may have it open.
        options: what; the defaults of `RestoreOptions` if None.

    Raises OperationalError: there is no such backup; FileAccessError: the database would lie in
    another one; LockedError: another process writes the
    database; CorruptionError: a file of the backup is not what was written; UndefinedTableError:
    the step has no such table; DuplicateObjectError: the database has a table, view or database of
    that name.
    """
    settings, watch = options or RestoreOptions(), Stopwatch()
    if settings.name is not None and len(settings.tables) != 1:
        raise ProgrammingError("a new name is for one table", hint="say which: --table t --as u")
    step = steps_until(existing_steps(Path(source)), settings.to)[-1]
    note = f"step {step.number} as of {format_timestamp(last_before(step.bound))}"
    choice = choose_engine(settings.engine, step.size)
    note = ", ".join(filter(None, (note, choice.reason)))
    place = Path(database)
    if settings.tables or (place.exists() and any(place.iterdir())):
        rows = restore_tables(step, database, settings)
        return watch.report(rows, step.size, note=note)
    check_written(database, database)
    files = _clone(step, place, settings, choice.on_spark)
    return watch.report(None, step.size, note=f"{note}, {noun_count(files, 'file')}")


def steps_until(steps: Sequence[BackupStep], to: str | None) -> Sequence[BackupStep]:
    """The steps up to the requested one.

    `steps`: of a backup, oldest first; `to`: see `RestoreOptions`. Raises InvalidValueError: none
    is meant.
    """
    if to is None:
        return steps
    if to.isascii() and to.isdigit() and int(to) < _MOST_STEPS:
        selection = steps[: int(to) + 1] if int(to) < len(steps) else ()
    else:
        bound = _bound_of(to)
        selection = [step for step in steps if step.bound <= bound]
    if not selection:
        raise InvalidValueError(
            f"the backup has no step '{to}'",
            hint="its steps are "
            + ", ".join(f"{s.number} ({format_timestamp(last_before(s.bound))})" for s in steps),
        )
    return selection


def _bound_of(moment: str) -> SnapshotBound:
    """The bound of a hybrid timestamp in digits, or of a time."""
    if moment.isascii() and moment.isdigit():
        return bound_at(Timestamp(int(moment)))
    try:
        micros = to_cell(moment, _TIME)
    except DataError as error:
        raise InvalidValueError(
            f"'{moment:.60}' is neither a step nor a moment",
            hint="write 2, or '2026-01-31 12:00:00', or a hybrid timestamp",
        ) from error
    return bound_at_micros(int(str(micros)))


def _clone(step: BackupStep, place: Path, settings: RestoreOptions, on_spark: bool) -> int:
    """Make a database of all files of a step; how many those are.

    It has its name, and the file that makes a database of it, once all files are there and checked.
    """
    with atomic_output(place) as unfinished:
        root = str(unfinished)
        transfers = files_to(step, root, (*step.logs, *step.files))
        for _ in transfer_all(transfers, transport_of(settings, on_spark), settings):
            pass
        sync_folders(root, transfers)
        complete_image(LocalEnv(), root, bytes.fromhex(step.database_id), step.live_manifest)
    LocalEnv().sync_dir(str(place.parent), point="restore.sync")
    return len(transfers)
