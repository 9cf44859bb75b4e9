"""The texts of a column are known before its rows are read."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Encoding, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.scan import column_words
from pykudu_sql.storage.scan.column_words import words_of
from pykudu_sql.storage.store import Store, StoreOptions

TEXT = DataType(Kind.STRING)
COLUMNS = (
    ColumnSchema(0, "key", DataType(Kind.INT64)),
    ColumnSchema(0, "word", TEXT, encoding=Encoding("DICT_ENCODING")),
    ColumnSchema(0, "note", TEXT, encoding=Encoding("PLAIN_ENCODING")),
)
KEY, WORD, NOTE = range(3)


def write(store: Store, kind: RowOpKind, keys: list[int], words: list[str | None]) -> None:
    columns = {KEY: pa.array(keys), WORD: pa.array(words, pa.string())}
    if kind is RowOpKind.INSERT:
        columns[NOTE] = columns[WORD]
    transaction = store.begin()
    transaction.write(store.catalog.table("t"), RowOperations(kind, columns, len(keys)))
    transaction.commit(durable=False)


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store(MemoryEnv(), "/db", StoreOptions(threads=1, maintenance=False))
    made.create_table("t", create_schema(COLUMNS, ["key"]), PartitionSchema())
    write(made, RowOpKind.INSERT, [1, 2, 3], ["a", "b", None])
    made.flush()
    yield made
    made.close()


def words(store: Store, column_id: int = WORD, most: int = 10) -> list[str] | None:
    table = store.catalog.table("t")
    stats = ScanStats()
    scan = store.begin().scan(table, ScanSpec((KEY, WORD, NOTE)), stats=stats)
    texts = words_of(scan, table.schema.by_id[column_id], most)
    assert stats.blocks_decoded == 0
    return None if texts is None else sorted(texts.to_pylist())


def test_words_are_those_of_files_deltas_and_memory(store: Store) -> None:
    assert words(store) == ["a", "b"]
    write(store, RowOpKind.UPDATE, [1], ["changed"])
    store.flush()
    write(store, RowOpKind.UPDATE, [2, 3], ["in memory", None])
    write(store, RowOpKind.INSERT, [4], ["new"])
    write(store, RowOpKind.UPDATE, [4], ["newer"])
    assert words(store) == ["a", "b", "changed", "in memory", "new", "newer"]


def test_words_without_a_dictionary_are_not_known(store: Store) -> None:
    assert words(store, NOTE) is None


def test_words_in_great_number_are_not_gathered(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert words(store, most=1) is None
    write(store, RowOpKind.INSERT, [4, 5], ["x", "x"])
    monkeypatch.setattr(column_words, "MOST_ROWS_IN_MEMORY", 1)
    assert words(store) is None
