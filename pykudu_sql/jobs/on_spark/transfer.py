"""Files into a backup and back by tasks of Spark, whose hosts see both under their paths."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from pykudu_sql.jobs.backup_manifest import StepFile
from pykudu_sql.jobs.file_transfer import Transfer
from pykudu_sql.jobs.on_spark.spark_errors import plain_spark_errors
from pykudu_sql.spark.sessions.session import start_session

_BYTES_OF_TASK = 256 << 20


def transfer_on_spark(
    master: str, conf: Mapping[str, str], transfers: Sequence[Transfer]
) -> Iterator[StepFile]:
    """Bring files, the results in order; `master` and `conf` are of the session."""
    if not transfers:
        return
    with plain_spark_errors():
        context = start_session(master, conf).sparkContext
        size = sum(one.file.size for one in transfers)
        tasks = max(1, min(len(transfers), size // _BYTES_OF_TASK, 10_000))
        yield from context.parallelize(transfers, tasks).map(Transfer.run).toLocalIterator()


def transport(master: str, conf: Mapping[str, str]) -> "partial[Iterator[StepFile]]":
    """`transfer_on_spark` in a session of some settings."""
    return partial(transfer_on_spark, master, conf)
