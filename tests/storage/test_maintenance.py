"""What fills memory is flushed in the background, and log segments nobody needs go."""

import time

from pykudu_sql.storage.common.partition import PartitionSchema
from pykudu_sql.storage.common.row_operation import RowOpKind
from pykudu_sql.storage.common.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from tests.storage.model import read


def test_a_full_memrowset_reaches_the_disk_by_itself_while_writers_go_on() -> None:
    store = Store(MemoryEnv(), "/db", StoreOptions(flush_bytes=20_000, durability="normal"))
    columns = [
        ColumnSchema(0, "id", DataType(Kind.INT32)),
        ColumnSchema(0, "s", DataType(Kind.STRING)),
    ]
    table = store.create_table("t", create_schema(columns, ["id"]), PartitionSchema())
    written = 0
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for _ in range(200):
            store.write_row(table, RowOpKind.INSERT, {0: written, 1: "x" * 20})
            store.write_row(table, RowOpKind.UPDATE, {0: written // 2, 1: "y"})
            written += 1
        if sum(info.kind == "DiskRowSet" for info in store.rowset_infos(table)) >= 2:
            break
    assert sum(info.kind == "DiskRowSet" for info in store.rowset_infos(table)) >= 2
    rows = read(store.begin(), table)
    assert len(rows) == written
    assert all(
        row[1] == ("y" if row[0] <= (written - 1) // 2 else "x" * 20) for row in rows.values()
    )
    store.close()
