"""Rowsets that stay open between scan tokens are read as they are on disk, and are few."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.container import ContainerReader, FileIdentity
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.remote.scan_planner import ScanPlan, plan_tokens
from pykudu_sql.storage.scan import opened_rowsets
from pykudu_sql.storage.scan.opened_rowsets import OpenedRowSets
from pykudu_sql.storage.scan.scan_token import read_token
from pykudu_sql.storage.store import Store, StoreOptions

SPEC = ScanSpec((0, 1))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(LocalEnv(), str(tmp_path / "db"), StoreOptions(threads=1, maintenance=False))
    columns = [ColumnSchema(0, name, DataType(Kind.INT64)) for name in ("id", "n")]
    store.create_table("t", create_schema(columns, ["id"]), PartitionSchema())
    yield store
    store.close()


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which files are opened from here on."""
    paths: list[str] = []
    opening = ContainerReader.open

    def counted(env: Env, path: str, identity: FileIdentity, cache: BlockCache) -> ContainerReader:
        paths.append(path)
        return opening(env, path, identity, cache)

    monkeypatch.setattr(ContainerReader, "open", counted)
    return paths


def write(store: Store, kind: RowOpKind, keys: range, number: int) -> None:
    transaction = store.begin()
    columns = {0: pa.array(keys, pa.int64()), 1: pa.array([number] * len(keys), pa.int64())}
    transaction.write(store.catalog.table("t"), RowOperations(kind, columns, len(keys)))
    transaction.commit(durable=False)
    store.flush()


def planned(store: Store) -> ScanPlan:
    return plan_tokens(store, store.catalog.table("t"), SPEC)


def rows(store: Store, opened: OpenedRowSets) -> list[tuple[int, int]]:
    with planned(store) as plan:
        batches = [
            batch
            for token in plan.tokens
            for batch in read_token(LocalEnv(), store.path, token, opened)
        ]
    return sorted((row["id"], row["n"]) for batch in batches for row in batch.to_pylist())


def test_files_are_opened_once_for_all_tokens_and_changes_since_are_seen(
    store: Store, files: list[str]
) -> None:
    opened = OpenedRowSets()
    write(store, RowOpKind.INSERT, range(4), 0)
    write(store, RowOpKind.UPDATE, range(2), 1)
    assert rows(store, opened) == [(0, 1), (1, 1), (2, 0), (3, 0)]
    files.clear()
    assert rows(store, opened) == [(0, 1), (1, 1), (2, 0), (3, 0)]
    assert files == []
    transaction = store.begin()
    transaction.write_row(store.catalog.table("t"), RowOpKind.UPDATE, {0: 3, 1: 9})
    transaction.commit(durable=False)
    assert rows(store, opened) == [(0, 1), (1, 1), (2, 0), (3, 9)]
    assert files == []
    write(store, RowOpKind.UPDATE, range(1, 3), 2)
    assert rows(store, opened) == [(0, 1), (1, 2), (2, 2), (3, 9)]


def test_what_was_read_of_a_file_counts_only_while_it_is_the_same(
    store: Store, files: list[str]
) -> None:
    opened = OpenedRowSets()
    write(store, RowOpKind.INSERT, range(4), 0)
    write(store, RowOpKind.UPDATE, range(2), 1)
    assert len(rows(store, opened)) == 4
    for ending in ("base", "redo"):
        path = next(Path(path) for path in files if path.endswith(ending))
        whole = path.read_bytes()
        path.write_bytes(whole[:-12] + bytes(4) + whole[-8:])
        with pytest.raises(CorruptionError, match="checksum"):
            rows(store, opened)
        path.write_bytes(whole)
        assert len(rows(store, opened)) == 4


def test_no_more_rowsets_stay_open_than_a_few(
    store: Store, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, RowOpKind.INSERT, range(4), 0)
    write(store, RowOpKind.INSERT, range(4, 8), 0)
    for limit in ("_MOST_ROWSETS", "_MOST_SECONDS", "_MOST_BYTES"):
        with monkeypatch.context() as patch:
            patch.setattr(opened_rowsets, limit, -1)
            opened = OpenedRowSets()
            rows(store, opened)
            files.clear()
            assert len(rows(store, opened)) == 8
            assert len(files) == 2
