"""A key that two rowsets of one INSERT hold is found, wherever it stands."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.ingest import shared_keys
from pykudu_sql.storage.ingest.bulk_writer import TabletShare, write_rowset
from pykudu_sql.storage.ingest.shared_keys import first_shared_key
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet

# More than the key index has between two of its entries, and than a sample has.
MANY = 40_000


@pytest.fixture(scope="module", params=[Kind.INT64, Kind.STRING], ids=lambda kind: kind.name)
def table(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Store, TableInfo]]:
    path = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_keys, "_SLICE_ROWS", 8192)
        store = Store(LocalEnv(), str(path / "db"), StoreOptions(durability="off"))
        columns = [ColumnSchema(0, "id", DataType(request.param))]
        yield store, store.create_table("t", create_schema(columns, ["id"]), PartitionSchema())
        store.close()


def rowset_of(store: Store, table: TableInfo, numbers: npt.NDArray[np.int64]) -> DiskRowSet:
    """A rowset of some keys, in any order, that is not published."""
    tablet = store.tablets[table.tablets[0].id]
    values = pa.array(np.sort(numbers))
    if table.schema.columns[0].type.kind is Kind.STRING:
        values = pa.array([f"{number:06}" for number in values.to_pylist()])
    keys = table.key_encoder.encode({0: values})
    return write_rowset(tablet, {0: values}, TabletShare(0, keys, np.arange(len(keys))))


def shared(store: Store, table: TableInfo, *keys: npt.NDArray[np.int64]) -> int | None:
    """The lowest key that two of some rowsets hold."""
    rowsets = [rowset_of(store, table, numbers) for numbers in keys]
    found = first_shared_key(table.key_encoder, rowsets)
    return None if found is None else int(table.key_encoder.decode_one(found)[0])  # type: ignore[arg-type]


def test_rowsets_whose_keys_interleave_without_a_common_one_share_none(
    table: tuple[Store, TableInfo],
) -> None:
    numbers = np.arange(MANY)
    assert shared(*table, numbers[::3], numbers[1::3], numbers[2::3]) is None


@pytest.mark.parametrize("place", [0, 1, 8191, 8192, 20_000, MANY - 1])
def test_the_one_key_that_two_of_several_rowsets_hold_is_found(
    table: tuple[Store, TableInfo], place: int
) -> None:
    numbers = np.arange(MANY)
    other = np.setdiff1d(numbers[1::2], [place])
    assert shared(*table, numbers[::2], np.append(other, place), [MANY + 1]) == (
        place if place % 2 == 0 else None
    )


@given(st.lists(st.sets(st.integers(0, 60), min_size=1), min_size=1, max_size=5))
def test_the_lowest_shared_key_is_told(
    table: tuple[Store, TableInfo], keys: list[set[int]]
) -> None:
    times = np.bincount(np.concatenate([sorted(some) for some in keys]), minlength=61)
    repeated = np.flatnonzero(times > 1)
    expected = int(repeated[0]) if len(repeated) else None
    assert shared(*table, *(np.array(sorted(some)) for some in keys)) == expected


def test_of_rowsets_that_follow_each_other_no_key_is_read(
    table: tuple[Store, TableInfo], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(parts: list[EncodedKeys]) -> None:
        raise CorruptionError("keys were read")

    monkeypatch.setattr(shared_keys, "_first_repeated", refuse)
    numbers = np.arange(MANY)
    assert shared(*table, numbers[:9000], numbers[20_000:], numbers[9000:20_000]) is None
    with pytest.raises(CorruptionError):
        shared(*table, numbers[:9001], numbers[9000:])
