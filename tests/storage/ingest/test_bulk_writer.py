"""Large inserts: every type, in any order and shape, reads back as given; no key enters twice."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.coercion.coercion import coerce
from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    PartitionSchema,
    RangePartition,
)
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.arrays import combine, plain
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind, decimal_type
from pykudu_sql.storage.errors import (
    AlreadyPresentError,
    DiskError,
    UncoveredRangeError,
    ValueOutOfRangeError,
)
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.ingest.bulk_writer import BULK_ROWS, coerce_columns
from pykudu_sql.storage.store import Store, StoreOptions
from tests.storage.fault_env import Fail, FaultEnv, FaultPoint

ROWS = BULK_ROWS + 21_000
CHUNKS = 3
TYPES = {
    "id": DataType(Kind.INT64),
    "line": DataType(Kind.INT32),
    "name": DataType(Kind.STRING),
    "bool": DataType(Kind.BOOL),
    "int8": DataType(Kind.INT8),
    "int16": DataType(Kind.INT16),
    "day": DataType(Kind.DATE),
    "time": DataType(Kind.UNIXTIME_MICROS),
    "float": DataType(Kind.FLOAT),
    "double": DataType(Kind.DOUBLE),
    "small": decimal_type(7, 2),
    "price": decimal_type(15, 2),
    "wide": decimal_type(30, 5),
    "code": DataType(Kind.VARCHAR, length=3),
    "few": DataType(Kind.STRING),
    "view": DataType(Kind.STRING),
    "comment": DataType(Kind.STRING),
    "blob": DataType(Kind.BINARY),
}
NULLABLE = tuple(name for name in TYPES if name not in ("id", "line", "name"))


@pytest.fixture(scope="module")
def given() -> dict[str, pa.Array]:
    """Columns as users hand them over, keys unique and shuffled, about every tenth value NULL."""
    rng, rows = np.random.default_rng(1), ROWS
    order = rng.permutation(rows)
    numbers = rng.integers(-1000, 1000, rows)
    words = np.array(["", "a", "DELIVER IN PERSON", "ä\0b"], object)[rng.integers(0, 4, rows)]
    texts = [f"text {number}" for number in rng.integers(0, 1 << 40, rows)]
    decimals = [Decimal(int(number)).scaleb(-2) for number in numbers]
    columns = {
        "id": pa.array(order // 3),
        "line": pa.array((order % 3).astype(np.int32)),
        "name": pa.array([f"{place // 3:06}" for place in order.tolist()]),
        "bool": pa.array(numbers > 0),
        "int8": pa.array(numbers % 100, pa.int16()),
        "int16": pa.array(numbers, pa.int32()),
        "day": pa.array(numbers.astype(np.int32)).cast(pa.date32()),
        "time": pa.array(numbers * 1000).cast(pa.timestamp("ns")),
        "float": pa.array(numbers.astype(np.float32)),
        "double": pa.array(numbers / 7),
        "small": pa.array(decimals, pa.decimal128(7, 2)),
        "price": pa.array(decimals, pa.decimal128(15, 2)),
        "wide": pa.array(decimals, pa.decimal128(30, 5)),
        "code": pa.array(words),
        "few": pa.array(words).dictionary_encode(),
        "view": pa.array(words).cast(pa.string_view()),
        "comment": pa.array(texts),
        "blob": pa.array(texts).cast(pa.binary()),
    }
    places = pa.array(np.arange(rows), mask=rng.integers(0, 10, rows) == 0)
    return {n: _take(v, places) if n in NULLABLE else v for n, v in columns.items()}


def _take(values: pa.Array, places: pa.Array) -> pa.Array:
    if pa.types.is_string_view(values.type):
        return values.cast(pa.string()).take(places).cast(pa.string_view())
    return values.take(places)


def _chunked(values: pa.Array) -> pa.ChunkedArray:
    cuts = np.linspace(0, len(values), CHUNKS + 1).astype(int).tolist()
    return pa.chunked_array([values.slice(a, b - a) for a, b in pairwise(cuts)])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(LocalEnv(), str(tmp_path / "db"), StoreOptions(durability="off", threads=2))
    yield opened
    opened.close()


def _table(store: Store, key: list[str], partitions: PartitionSchema) -> TableInfo:
    columns = [
        ColumnSchema(0, name, kind, nullable=name in NULLABLE) for name, kind in TYPES.items()
    ]
    return store.create_table("t", create_schema(columns, key), partitions)


def _insert(store: Store, table: TableInfo, given: dict[str, pa.Array]) -> int:
    transaction = store.begin()
    columns = {c.id: _chunked(given[c.name]) for c in table.schema.columns}
    rows = RowOperations(
        RowOpKind.INSERT, transaction.coerce(table, columns), len(next(iter(given.values())))
    )
    try:
        changed = transaction.write(table, rows).applied
    except BaseException:
        transaction.rollback()
        raise
    transaction.commit(durable=False)
    return changed


def _rows(store: Store, table: TableInfo) -> pa.Table:
    return store.begin().table_scan(table, ScanSpec(tuple(c.id for c in table.schema.columns)))


def _sorted(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """Plain columns in the order of id and line."""
    order = np.lexsort((columns["line"].to_numpy(), columns["id"].to_numpy()))
    return {name: plain(values).take(pa.array(order)) for name, values in columns.items()}


PARTITIONS = {
    "one tablet": PartitionSchema(),
    "hash": PartitionSchema((HashDimension((0, 1), 4),)),
    "hash and range": PartitionSchema(
        (HashDimension((1,), 2),),
        (0,),
        (RangePartition(None, (9_000,)), RangePartition((9_000,), (1_000_000,))),
    ),
}


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_rows_of_every_type_read_back_as_given(
    store: Store, given: dict[str, pa.Array], partitions: str
) -> None:
    table = _table(store, ["id", "line"], PARTITIONS[partitions])
    assert _insert(store, table, given) == ROWS
    assert _kinds(store, table) == {"DiskRowSet"}
    _check_rows(store, table, given)


def test_keys_with_strings_read_back_as_given(store: Store, given: dict[str, pa.Array]) -> None:
    table = _table(store, ["name", "line"], PartitionSchema((HashDimension((2,), 3),)))
    assert _insert(store, table, given) == ROWS
    _check_rows(store, table, given)


def test_rows_in_the_order_of_the_key_read_back_as_given(
    store: Store, given: dict[str, pa.Array]
) -> None:
    table = _table(store, ["id", "line"], PARTITIONS["hash"])
    order = pa.array(np.lexsort((given["line"].to_numpy(), given["id"].to_numpy())))
    _insert(store, table, {n: _take(values, order) for n, values in given.items()})
    _check_rows(store, table, given)


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_a_key_given_twice_is_refused_and_nothing_kept(
    store: Store, given: dict[str, pa.Array], partitions: str
) -> None:
    table = _table(store, ["id", "line"], PARTITIONS[partitions])
    places = pa.array([*range(ROWS), 77])
    twice = {n: _take(values, places) for n, values in given.items()}
    key = f"({given['id'][77]}, {given['line'][77]})"
    with pytest.raises(AlreadyPresentError, match="twice in one INSERT") as error:
        _insert(store, table, twice)
    assert key in error.value.message
    _check_empty(store, table)


def test_a_key_present_already_is_refused_and_nothing_kept(
    store: Store, given: dict[str, pa.Array]
) -> None:
    table = _table(store, ["id", "line"], PARTITIONS["hash"])
    _insert(store, table, {n: values.slice(77, 1) for n, values in given.items()})
    with pytest.raises(AlreadyPresentError, match="already present"):
        _insert(store, table, given)
    assert _rows(store, table).num_rows == 1
    _insert(store, table, {n: values.slice(78) for n, values in given.items()})
    with pytest.raises(AlreadyPresentError, match="already present"):
        _insert(store, table, {n: values.slice(0, BULK_ROWS + 79) for n, values in given.items()})
    assert _rows(store, table).num_rows == ROWS - 77


def test_a_key_outside_all_ranges_is_refused_and_nothing_kept(
    store: Store, given: dict[str, pa.Array]
) -> None:
    spans = PartitionSchema((), (0,), (RangePartition(None, (9_000,)),))
    table = _table(store, ["id", "line"], spans)
    with pytest.raises(UncoveredRangeError):
        _insert(store, table, given)
    _check_empty(store, table)


def test_a_value_out_of_range_is_refused_in_whichever_chunk_it_stands(
    store: Store, given: dict[str, pa.Array]
) -> None:
    table = _table(store, ["id", "line"], PARTITIONS["hash"])
    wide = given["small"].cast(pa.decimal128(12, 2)).to_pylist()
    wide[-3] = Decimal("100000.00")
    with pytest.raises(ValueOutOfRangeError, match=r"100000\.00"):
        _insert(store, table, {**given, "small": pa.array(wide, pa.decimal128(12, 2))})
    _check_empty(store, table)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_disk_that_refuses_a_rowset_leaves_no_file_behind(
    tmp_path: Path, given: dict[str, pa.Array], number: int
) -> None:
    refused: list[FaultPoint] = []

    def refuse(point: FaultPoint) -> Fail | None:
        if point.point != "base.write.sync" or len(refused) >= number:
            return None
        refused.append(point)
        return Fail() if len(refused) == number else None

    path = str(tmp_path / "db")
    store = Store(FaultEnv(LocalEnv(), refuse), path, StoreOptions(durability="off", threads=2))
    table = _table(store, ["id", "line"], PARTITIONS["hash"])
    with pytest.raises(DiskError):
        _insert(store, table, given)
    assert not list((tmp_path / "db" / "tmp").iterdir())
    _check_empty(store, table)
    _insert(store, table, given)
    _check_rows(store, table, given)
    store.close()


def test_strings_that_repeat_become_dictionaries_and_others_stay(
    given: dict[str, pa.Array],
) -> None:
    schema = create_schema([ColumnSchema(0, n, kind) for n, kind in TYPES.items()], ["id"])
    chunked = {c.id: _chunked(given[c.name]) for c in schema.columns}
    with ThreadPoolExecutor(2) as pool:
        columns = coerce_columns(pool, schema, chunked)
    assert list(columns) == list(chunked)
    for column in schema.columns:
        values, name = columns[column.id], column.name
        assert pa.types.is_dictionary(values.type) == (name in ("code", "few", "view")), name
        assert plain(values).equals(plain(coerce(given[name], column.type, name))), name


def _kinds(store: Store, table: TableInfo) -> set[str]:
    return {info.kind for info in store.rowset_infos(table) if info.rows}


def _check_empty(store: Store, table: TableInfo) -> None:
    assert _rows(store, table).num_rows == 0
    assert _kinds(store, table) == set()


def _check_rows(store: Store, table: TableInfo, given: dict[str, pa.Array]) -> None:
    found = _rows(store, table)
    actual = _sorted({n: combine(found.column(n)) for n in TYPES})
    expected = _sorted({n: coerce(values, TYPES[n], n) for n, values in given.items()})
    for name in TYPES:
        assert actual[name].equals(expected[name]), name
