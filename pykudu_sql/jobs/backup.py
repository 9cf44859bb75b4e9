"""`backup`: all tables of a database at one moment, with their history, as one more step.

A step names the files that the database consists of at that moment; those that steps before have
are not read again, so a step costs what was written since. Nothing stops meanwhile: the files of
tablets are immutable, and the end of the log is cut at the moment.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from pykudu_sql.files.atomic_output import atomic_output, remove
from pykudu_sql.jobs.backup_manifest import (
    POOL,
    BackupStep,
    StepFile,
    read_steps,
    step_folder,
)
from pykudu_sql.jobs.engine_choice import choose_engine
from pykudu_sql.jobs.file_transfer import Transfer, Transport, is_unchanged, transfer_here
from pykudu_sql.jobs.options import BackupOptions, RunOptions
from pykudu_sql.jobs.report import JobReport, Stopwatch
from pykudu_sql.jobs.restored_tables import SCRATCH
from pykudu_sql.storage.common.types.hybrid_time import format_timestamp, last_before
from pykudu_sql.storage.errors import LockedError, OperationalError
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.database_places import check_around, check_written
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.ingest.staging import file_checksum
from pykudu_sql.storage.log.manifest import no_database
from pykudu_sql.storage.remote.database_image import DatabaseImage, captured

__all__ = ["BackupOptions", "backup"]


def backup(database: str, target: str, options: BackupOptions | None = None) -> JobReport:
    """Add a step to a backup; the first one makes it.

    Args:
        database: its directory, which may be in use by any process.
        target: the folder of the backup.
        options: how; the defaults of `BackupOptions` if None.

    Raises OperationalError: there is no such database, or the backup is of another one;
    FileAccessError: it lies in a database, or has this one in it; LockedError: another process
    adds a step; CorruptionError: the backup or the database is damaged.
    """
    settings, place, watch = options or BackupOptions(), Path(target), Stopwatch()
    env = LocalEnv()
    root = env.resolve(database)
    if not env.exists(layout.current_path(root)):
        raise no_database(env, root, database)
    check_written(target, target, root)
    check_around(target, target, root)
    with _adding_to(place):
        steps = read_steps(place)
        _sweep(place, steps)
        number = len(steps)
        with atomic_output(step_folder(place, number)) as folder:
            env.make_dir(str(folder))
            with captured(env, root, str(folder)) as image:
                _check_same(image, steps, target)
                stored = {} if settings.full or not steps else _stored_files(place, root, steps[-1])
                fresh = [one for one in image.files if one.path not in stored]
                choice = choose_engine(settings.engine, sum(one.size for one in fresh))
                transfers = [
                    Transfer(f"{root}/{one.path}", StepFile(one.path, one.size, -1), str(place))
                    for one in fresh
                ]
                transport = transport_of(settings, choice.on_spark)
                backed_up = _take(
                    env, place, transfer_all(transfers, transport, settings), transfers
                )
                files = [stored.get(one.path) or backed_up[one.path] for one in image.files]
            step = _step(folder, number, image, steps, files)
            step.write()
            _sync(env, folder)
        env.sync_dir(str(place), point="backup.sync")
    size = sum(one.size for one in (*step.logs, *backed_up.values()))
    rows = sum(image.rows.get(path, 0) for path in backed_up)
    moment = format_timestamp(last_before(step.bound))
    amount = f"{len(backed_up):,} of {len(files):,} files new"
    note = f"step {number} as of {moment}, {amount}"
    return watch.report(rows, size, note=", ".join(filter(None, (note, choice.reason))))


def transport_of(settings: RunOptions, on_spark: bool) -> Transport:
    """What brings files: threads of this process, or tasks of Spark."""
    if not on_spark:
        return transfer_here
    from pykudu_sql.jobs.on_spark.transfer import transport

    return transport(settings.master, settings.conf)


def transfer_all(
    transfers: Sequence[Transfer], transport: Transport, settings: RunOptions
) -> Iterator[StepFile]:
    """Bring files, and tell how far that is."""
    total, copied_bytes = sum(one.file.size for one in transfers), 0
    for number, file in enumerate(transport(transfers), 1):
        copied_bytes += file.size
        settings.progress(
            f"{number:,} of {len(transfers):,} files, {copied_bytes:,} of {total:,} bytes"
        )
        yield file


@contextmanager
def _adding_to(place: Path) -> Iterator[None]:
    """The folder of a backup, to which only this process adds a step."""
    env = LocalEnv()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        lock = env.lock(str(place / "LOCK"))
    except LockedError as error:
        raise LockedError(
            f"another process adds a step to the backup at '{place}'",
            hint="wait until it has finished",
        ) from error
    try:
        yield
    finally:
        lock.release()


def _sweep(place: Path, steps: Sequence[BackupStep]) -> None:
    """Remove what jobs that were killed have left: nothing that a step names."""
    env = LocalEnv()
    named = {file.pooled for step in steps for file in step.files}
    for entry in place.iterdir():
        if entry.name.startswith(SCRATCH):
            with suppress(LockedError):
                env.lock(str(entry / "HELD")).release()
                remove(entry)
        elif entry.name.startswith(".") and entry.name.endswith(".unfinished"):
            remove(entry)
    pool = place / POOL
    for tablet in pool.iterdir() if pool.is_dir() else ():
        for file in tablet.iterdir():
            if f"{POOL}/{tablet.name}/{file.name}" not in named:
                remove(file)


def _check_same(image: DatabaseImage, steps: Sequence[BackupStep], target: str) -> None:
    if steps and steps[-1].database_id != image.database_id.hex():
        raise OperationalError(
            f"the backup at '{target}' is of another database",
            hint="give each database a folder of its own",
            sqlstate="55000",
        )


def _stored_files(place: Path, root: str, step: BackupStep) -> dict[str, StepFile]:
    """The files of the step before that the database still has, by their paths."""
    stored = {}
    for file in step.files:
        source = f"{root}/{file.path}"
        if os.path.lexists(source) and is_unchanged(source, str(place / file.pooled), file.size):
            stored[file.path] = file
    return stored


def _take(
    env: LocalEnv, place: Path, files: Iterator[StepFile], transfers: Sequence[Transfer]
) -> dict[str, StepFile]:
    """Bring files to the pool; they by their paths. `files`: transferred one after the other."""
    folders = sorted({str(place / one.file.pooled).rpartition("/")[0] for one in transfers})
    for folder in folders:
        env.make_dir(folder)
    backed_up = {file.path: file for file in files}
    for folder in folders:
        env.sync_dir(folder, point="backup.pool.sync")
    return backed_up


def _step(
    folder: Path,
    number: int,
    image: DatabaseImage,
    steps: Sequence[BackupStep],
    files: Sequence[StepFile],
) -> BackupStep:
    env = LocalEnv()
    logs = []
    for path in image.logs:
        place = str(folder / path)
        logs.append(StepFile(path, env.size_of(place), file_checksum(env, place)))
    return BackupStep(
        folder,
        number,
        image.database_id.hex(),
        image.bound,
        steps[-1].checksum if steps else None,
        image.manifest,
        {
            table.name: tuple(tablet.id for tablet in table.tablets)
            for table in image.catalog.tables.values()
        },
        tuple(logs),
        tuple(files),
    )


def _sync(env: LocalEnv, folder: Path) -> None:
    for inner in (layout.manifest_directory(str(folder)), layout.wal_directory(str(folder))):
        env.sync_dir(inner, point="backup.step.sync")
    env.sync_dir(str(folder), point="backup.step.sync")
