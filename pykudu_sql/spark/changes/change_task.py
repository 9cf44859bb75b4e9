"""A task of a change feed: reads changes of some tablets, or the rows that a stream begins with.

A task for changes opens the database to read, for the history of a row is spread over memory, files
and their deltas; its own lease keeps the files meanwhile.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from pykudu_sql.dataclass import dataclass
from pykudu_sql.spark.arrow.arrow_types import to_spark
from pykudu_sql.spark.options import TableLocation
from pykudu_sql.spark.reading.token_task import read_in_task
from pykudu_sql.storage.common.rows.history_columns import CHANGE_TYPE, COMMIT_TIMESTAMP
from pykudu_sql.storage.common.types.hybrid_time import Timestamp
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.remote.history_scan import ChangeShare, read_share
from pykudu_sql.storage.store_options import StoreOptions
from pykudu_sql.storage.tablet.history.row_versions import CHANGE_TYPES

INSERTED = CHANGE_TYPES[0]


@dataclass
class ChangePartition(InputPartition):
    """Changes that one task reads.

    Attributes:
        shares: as JSON.
        positions: of the columns that Spark expects among those of a batch of a share.
        schema: that Spark expects.
    """

    shares: tuple[str, ...]
    positions: tuple[int, ...]
    schema: pa.Schema


@dataclass
class SnapshotPartition(InputPartition):
    """Rows that one task reads, shown as inserted at the moment of their snapshot.

    Attributes:
        tokens: as JSON.
        lease: path of the claim on the files; None where none could be made.
        moment: hybrid time that is shown as their commit's.
        positions, schema: see `ChangePartition`.
    """

    tokens: tuple[str, ...]
    lease: str | None
    moment: Timestamp
    positions: tuple[int, ...]
    schema: pa.Schema


def read_partition(location: TableLocation, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    """The rows of one partition.

    `partition`: one of the above; any other has no rows. Raises HistoryPurgedError: history does
    not reach back so far any more; OperationalError: the files of the snapshot were given back;
    CorruptionError, DiskError: a file cannot be read.
    """
    if isinstance(partition, ChangePartition):
        rows = _changes(location, partition)
    elif isinstance(partition, SnapshotPartition):
        rows = _inserts(location, partition)
    else:  # Spark asks once where there is no partition, with nothing
        return
    for batch in rows:
        yield to_spark(batch.select(partition.positions), partition.schema)


def _changes(location: TableLocation, partition: ChangePartition) -> Iterator[pa.RecordBatch]:
    store = ReaderStore(LocalEnv(), location.path, StoreOptions(maintenance=False))
    try:
        for share in partition.shares:
            yield from read_share(store, ChangeShare.from_json(share))
    finally:
        store.close()


def _inserts(location: TableLocation, partition: SnapshotPartition) -> Iterator[pa.RecordBatch]:
    for batch in read_in_task(location, partition.tokens, partition.lease):
        kinds = pa.array([INSERTED]).take(pa.array(np.zeros(batch.num_rows, np.int64)))
        times = pa.array(np.full(batch.num_rows, partition.moment, np.uint64))
        names = [*batch.schema.names, CHANGE_TYPE, COMMIT_TIMESTAMP]
        yield pa.RecordBatch.from_arrays([*batch.columns, kinds, times], names)
