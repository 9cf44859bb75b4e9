"""A store in memory with one table `t (k INT, v INT)` of one tablet, for tests of its parts."""

from collections.abc import Mapping

import pyarrow as pa

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.tablet import Tablet

INT = DataType(Kind.INT32)


class SmallStore:
    """The store, and its table."""

    def __init__(self, env: Env | None = None) -> None:
        """Make both."""
        options = StoreOptions(durability="off", threads=1, maintenance=False)
        self.store = Store(env or MemoryEnv(), "/db", options)
        columns = [ColumnSchema(0, "k", INT), ColumnSchema(0, "v", INT, True)]
        self.store.create_table("t", create_schema(columns, ["k"]), PartitionSchema())

    @property
    def table(self) -> TableInfo:
        return self.store.catalog.table("t")

    @property
    def tablet(self) -> Tablet:
        return self.store.tablets[self.table.tablets[0].id]

    @property
    def rowset(self) -> DiskRowSet:
        """The only one."""
        (rowset,) = self.tablet.components.tree.rowsets
        return rowset

    def upsert(self, rows: Mapping[int, int | None]) -> int:
        """Write rows; the time of the commit."""
        key, value = (column.id for column in self.table.schema.columns)
        columns = {
            key: pa.array(list(rows), pa.int32()),
            value: pa.array(list(rows.values()), pa.int32()),
        }
        transaction = self.store.begin()
        transaction.write(self.table, RowOperations(RowOpKind.UPSERT, columns, len(rows)))
        time = transaction.commit(durable=False)
        assert time is not None
        return time
