"""The record of a write whose tasks are done, for the process that commits it.

Spark calls `commit` in a process of its own, while the database may be open in the user's. So that
one writes down here what there is to commit, in the staging folder, and this one does it.
"""

import json

from pykudu_sql.spark.writing.staged_job import StagedJob
from pykudu_sql.storage.catalog.writer_batch import WriterBatch
from pykudu_sql.storage.errors import InternalError
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.remote.staged_commit import StagedWrite


def write_record(job: StagedJob, files: list[str]) -> None:
    """Write down what there is to commit.

    `job`: whose tasks are done; `files`: what they wrote, as JSON. Raises DiskError: the disk
    refused.
    """
    env, target = LocalEnv(), job.read_target()
    record = {"target": job.target, "columns": job.column_ids, "all": job.replaces, "files": files}
    folder = layout.staging_folder(target.root, target.write_id)
    file = env.create(f"{folder}/record.tmp", point="staging.record.create")
    try:
        file.append(json.dumps(record).encode(), point="staging.record.append")
        file.sync(point="staging.record.sync")
    finally:
        file.close()
    env.rename(f"{folder}/record.tmp", f"{folder}/RECORD", point="staging.record.rename")


def read_record(root: str, write_id: str, batch: WriterBatch | None) -> StagedWrite:
    """What there is to commit.

    `batch`: of a writer that numbers its batches. Raises InternalError: the record is of another
    write; DataError: it names what is no staged file; DiskError: there is none.
    """
    path = f"{layout.staging_folder(root, write_id)}/RECORD"
    record = json.loads(LocalEnv().read_file(path))
    job = StagedJob(record["target"], tuple(record["columns"]), record["all"])
    if job.read_target().write_id != write_id:
        raise InternalError(f"'{path}' is of another write")
    return job.collect(record["files"], batch)
