"""Every bit of a small database flipped: right rows, or an error that names the file."""

import contextlib
from collections.abc import Callable
from functools import cache

from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from tests.storage.faults.test_store_damage import right_or_named
from tests.storage.hostile.sample import Sample
from tests.storage.model import Key, Row, apply, operations
from tests.torture.campaigns import Campaign
from tests.torture.ledger import WrongRead
from tests.torture.workload import open_store


@cache
def small_database() -> Sample:
    """One tablet with a base file, UNDO and REDO deltas, and a commit in the log."""
    env = MemoryEnv()
    rows: dict[Key, Row] = {}
    past: list[tuple[int, dict[Key, Row]]] = []
    with contextlib.closing(open_store(env)) as store:
        columns = [
            ColumnSchema(0, "id", DataType(Kind.INT32)),
            ColumnSchema(0, "s", DataType(Kind.STRING)),
        ]
        store.create_table("t", create_schema(columns, ["id"]), PartitionSchema())

        def write(kind: RowOpKind, batch: list[Row]) -> None:
            nonlocal rows
            table = store.catalog.table("t")
            rows = apply(rows, table, kind, batch)
            txn = store.begin()
            txn.write(table, operations(table, kind, batch))
            past.append(((txn.commit(durable=True) or 0) + 1, rows))

        write(RowOpKind.INSERT, [{0: i, 1: f"w{i % 3}"} for i in range(6)])
        write(RowOpKind.UPDATE, [{0: 2, 1: "two"}])
        store.flush()
        write(RowOpKind.UPDATE, [{0: 4, 1: None}])
        store.flush()
        write(RowOpKind.DELETE, [{0: 1}])
    files = {path: bytes(content.data) for path, content in env._files.items() if content.data}
    return Sample(files, tuple(past))


def bit_campaign(choose: Callable[[str], bool], name: str) -> Campaign:
    """Flipping each bit of the files that `choose` takes."""
    sample = small_database()
    past = [(bound, dict(rows)) for bound, rows in sample.past]
    places = [
        (path, place) for path in sample.files if choose(path)
        for place in range(8 * len(sample.files[path]))
    ]  # fmt: skip

    def attempt(number: int) -> bool:
        path, place = places[number - 1]
        data = bytearray(sample.files[path])
        data[place // 8] ^= 1 << place % 8
        try:
            right_or_named({**sample.files, path: bytes(data)}, past, path)
        except AssertionError as error:
            raise WrongRead(f"bit {place} of {path}: {error}") from error
        return True

    return Campaign(name, len(places), attempt)
