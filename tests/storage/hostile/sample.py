"""A small database with every kind of file, encoding and record, to be damaged."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass

from pykudu_sql.storage.catalog.alter import AddColumn
from pykudu_sql.storage.catalog.table_info import new_table
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Compression, Encoding
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from tests.storage.model import Key, Row, apply, operations

ROOT = "/db"
ROWS = 200
Files = Mapping[str, bytes]

_COLUMNS = (
    ("id", "STRING", Encoding("PREFIX_ENCODING"), Compression.NO_COMPRESSION),
    ("narrow", "INT", Encoding("AUTO_ENCODING"), Compression.NO_COMPRESSION),
    ("wide", "BIGINT", Encoding("BIT_SHUFFLE"), Compression.LZ4),
    ("runs", "SMALLINT", Encoding("RLE"), Compression.ZSTD),
    ("flag", "BOOLEAN", Encoding("RLE"), Compression.NO_COMPRESSION),
    ("word", "STRING", Encoding("DICT_ENCODING"), Compression.NO_COMPRESSION),
    ("text", "STRING", Encoding("PLAIN_ENCODING"), Compression.SNAPPY),
    ("price", "DECIMAL(30,2)", Encoding("AUTO_ENCODING"), Compression.ZLIB),
    ("share", "DOUBLE", Encoding("PLAIN_ENCODING"), Compression.NO_COMPRESSION),
    ("day", "DATE", Encoding("PLAIN_ENCODING"), Compression.NO_COMPRESSION),
    ("steps", "BIGINT", Encoding("DELTA"), Compression.NO_COMPRESSION),
)
ADDED = len(_COLUMNS)


@dataclass(frozen=True)
class Sample:
    """A database as bytes.

    Attributes:
        files: by path, on a file system of their own.
        past: bounds and the rows that a snapshot of each sees.
    """

    files: Files
    past: tuple[tuple[int, Mapping[Key, Row]], ...]


def row(number: int, salt: int = 0) -> Row:
    """A whole row whose cells follow from two numbers; every seventh has NULLs."""
    if number % 7 == 3:
        return {0: f"key/{number:05d}", **{i: None for i in range(1, ADDED)}}
    return {
        0: f"key/{number:05d}",
        1: number * 5 + salt,
        2: (number + salt) * 0x9E37_79B9_7F4A_7C15 % (1 << 62),
        3: number // 20,
        4: number % 50 < 25,
        5: f"word {number % 9}",
        6: f"text {number * 7919} é {salt}",
        7: number * 10**20 + salt,
        8: number * 0.37,
        9: 19_000 + number,
        10: number * 1000 + number % 7,
    }


def disk_of(files: Files) -> MemoryEnv:
    """A file system that holds the files."""
    disk = MemoryEnv()
    for path, data in files.items():
        disk.make_dir(path.rpartition("/")[0])
        disk.create(path, point="test").append(data, point="test")
    return disk


def open_store(env: MemoryEnv) -> Store:
    """The store on a file system."""
    return Store(env, ROOT, StoreOptions(threads=1, maintenance=False))


def build() -> Sample:
    """Insert, flush, change, flush again, alter, leave rows and batches in the log; then make a
    table with its rows."""
    env = MemoryEnv()
    rows: dict[Key, Row] = {}
    past: list[tuple[int, Mapping[Key, Row]]] = []
    with contextlib.closing(open_store(env)) as store:
        columns = [
            ColumnSchema(0, name, parse_type(kind), name != "id", encoding, packed, 512)
            for name, kind, encoding, packed in _COLUMNS
        ]
        partitions = PartitionSchema((HashDimension((0,), 2),))
        store.create_table("t", create_schema(columns, ["id"]), partitions)

        def write(kind: RowOpKind, batch: list[Row]) -> None:
            nonlocal rows
            table = store.catalog.table("t")
            rows = apply(rows, table, kind, batch)
            txn = store.begin()
            txn.write(table, operations(table, kind, batch))
            past.append(((txn.commit(durable=True) or 0) + 1, rows))

        write(RowOpKind.INSERT, [row(i) for i in range(ROWS)])
        store.flush()
        write(RowOpKind.UPDATE, [row(i, 1) for i in range(0, 60, 2)])
        write(RowOpKind.DELETE, [{0: row(i)[0]} for i in (30, 31, 77)])
        write(RowOpKind.UPSERT, [row(i, 2) for i in range(ROWS - 4, ROWS + 40)])
        write(RowOpKind.UPDATE, [{0: row(i)[0], 5: "seven"} for i in range(ROWS, ROWS + 9)])
        store.flush()
        added = ColumnSchema(0, "added", parse_type("INT"))
        store.alter_table("t", [AddColumn(added)])
        write(RowOpKind.UPSERT, [row(i, 3) | {ADDED: i} for i in (3, 4, 30, ROWS + 500)])
        write(RowOpKind.DELETE, [{0: row(i)[0]} for i in range(5, 12)])
        table = store.catalog.table("t")
        single = row(20, 4) | {ADDED: 7}
        rows = apply(rows, table, RowOpKind.UPSERT, [single])
        txn = store.begin()
        txn.write_row(table, RowOpKind.UPSERT, single)
        past.append(((txn.commit(durable=True) or 0) + 1, rows))
        txn = store.begin()
        made = txn.create_table(new_table("made", table.schema, table.partition_schema, "", {}))
        txn.write(made, operations(made, RowOpKind.INSERT, [row(i) for i in range(9)]))
        txn.commit(durable=True)
    files = {path: bytes(content.data) for path, content in env._files.items() if content.data}
    return Sample(files, tuple(past))
