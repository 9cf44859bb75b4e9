"""The files of a step of a backup for the directory of a database."""

from collections.abc import Sequence

from pykudu_sql.jobs.backup_manifest import BackupStep, StepFile
from pykudu_sql.jobs.file_transfer import Transfer
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.local_env import LocalEnv


def files_to(step: BackupStep, root: str, files: Sequence[StepFile]) -> Sequence[Transfer]:
    """Files of a step, as transfers to a directory, whose folders are made."""
    env = LocalEnv()
    for folder in ("manifest", "wal", "tablets"):
        env.make_dir(f"{root}/{folder}")
    transfers = []
    logs = {log.path for log in step.logs}
    for file in files:
        place = step.folder / file.path if file.path in logs else step.folder.parent / file.pooled
        transfers.append(Transfer(str(place), file, f"{root}/{file.path}"))
    for name in sorted({one.target.rpartition("/")[0] for one in transfers}):
        env.make_dir(name)
    return transfers


def sync_folders(root: str, transfers: Sequence[Transfer]) -> None:
    """Make the names of files durable."""
    env = LocalEnv()
    inner = {one.target.rpartition("/")[0] for one in transfers}
    for folder in (*sorted(inner), layout.tablets_directory(root), root):
        env.sync_dir(folder, point="restore.folder.sync")
