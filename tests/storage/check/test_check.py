"""What a check finds in a database, and that it finds nothing in a sound one."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.check.database_check import DatabaseCheck
from pykudu_sql.storage.check.finding import Finding
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.maintenance.diskrowset_writer import write_base
from pykudu_sql.storage.tablet.rowset.tablet_metadata import TabletEdit
from pykudu_sql.storage.tablet.tablet import Tablet

COLUMNS = [
    ColumnSchema(0, "id", DataType(Kind.INT64)),
    ColumnSchema(0, "n", DataType(Kind.INT32), nullable=True),
    ColumnSchema(0, "s", DataType(Kind.STRING), nullable=True),
    ColumnSchema(0, "f", DataType(Kind.DOUBLE), nullable=True),
    ColumnSchema(0, "d", DataType(Kind.DECIMAL, 38, 2), nullable=True),
    ColumnSchema(0, "b", DataType(Kind.BOOL), nullable=True),
]


def open_store(path: Path) -> Store:
    return Store(LocalEnv(), str(path), StoreOptions(threads=1, maintenance=False))


def write(store: Store, kind: RowOpKind, columns: dict[int, pa.Array]) -> None:
    transaction = store.begin()
    transaction.write(store.catalog.table("t"), RowOperations(kind, columns, len(columns[0])))
    transaction.commit(durable=False)


def keys(values: range) -> pa.Array:
    return pa.array(values, pa.int64())


def rows(values: range) -> dict[int, pa.Array]:
    floats = [float("nan") if v % 7 == 0 else v / 3 for v in values]
    decimals = pa.array([None if v % 11 == 0 else v for v in values]).cast(pa.decimal128(38, 2))
    return {
        0: keys(values),
        1: pa.array([None if v % 5 == 0 else v for v in values], pa.int32()),
        2: pa.array([f"word {v % 13}" for v in values]),
        3: pa.array(floats),
        4: decimals,
        5: pa.array([v % 2 == 0 for v in values]),
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with rows and deltas on disk and in the log."""
    store = open_store(tmp_path / "my.db")
    partitions = PartitionSchema((HashDimension((0,), 2),))
    store.create_table("t", create_schema(COLUMNS, ["id"]), partitions)
    write(store, RowOpKind.INSERT, rows(range(2000)))
    store.flush()
    write(store, RowOpKind.UPDATE, {0: keys(range(0, 500)), 1: pa.array([7] * 500, pa.int32())})
    write(store, RowOpKind.DELETE, {0: keys(range(900, 950))})
    store.flush()
    write(store, RowOpKind.INSERT, rows(range(900, 920)))
    write(store, RowOpKind.DELETE, {0: keys(range(10))})
    store.close()
    return tmp_path / "my.db"


def findings(path: Path, quick: bool = False) -> list[Finding]:
    return list(DatabaseCheck(LocalEnv(), str(path), quick).run())


def tablet_files(path: Path, kind: str) -> Iterator[Path]:
    return iter(sorted((path / "tablets").glob(f"*/*.{kind}")))


def test_nothing_is_wrong_with_a_sound_database(path: Path) -> None:
    check = DatabaseCheck(LocalEnv(), str(path), False)
    assert list(check.run()) == []
    assert check.tally.files == 4 + 2 and check.tally.tablets == 2
    assert check.tally.rows == 2000 + 20  # those on disk, and those in the log alone
    assert check.tally.bytes == sum(
        file.stat().st_size
        for pattern in ("tablets/*/*", "manifest/*.log", "wal/*.log")
        for file in path.glob(pattern)
    )
    assert findings(path, quick=True) == []


def test_no_stray_file_is_left_when_somebody_still_holds_a_replaced_rowset(path: Path) -> None:
    with closing(open_store(path)) as store:
        held = [tablet.components.tree.rowsets for tablet in store.tablets.values()]
        store.optimize("t", full=True)
        assert held != [tablet.components.tree.rowsets for tablet in store.tablets.values()]
    assert findings(path) == []
    del held


def test_a_check_changes_nothing(path: Path) -> None:
    before = {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}
    findings(path)
    assert {p: p.read_bytes() for p in path.rglob("*") if p.is_file()} == before


def test_a_check_runs_beside_a_writer(path: Path) -> None:
    store = open_store(path)
    write(store, RowOpKind.INSERT, rows(range(5000, 5100)))
    assert findings(path) == []
    store.close()


@pytest.mark.parametrize("kind", ["base", "redo"])
def test_a_flipped_bit_anywhere_in_a_file_is_named(path: Path, kind: str) -> None:
    file = next(tablet_files(path, kind))
    whole = file.read_bytes()
    for place in np.linspace(0, len(whole) - 1, 60, dtype=int).tolist():
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        found = findings(path)
        assert [finding.path for finding in found] == [str(file)] * len(found) and found, place
    file.write_bytes(whole)


@pytest.mark.parametrize("name", ["CURRENT", "manifest/1.log", "wal/1.log"])
def test_damage_of_log_and_manifest_is_named(path: Path, name: str) -> None:
    file = path / name
    whole = file.read_bytes()
    file.write_bytes(whole[:70] + bytes([whole[70] ^ 1]) + whole[71:])
    (finding, *_) = findings(path)
    assert str(file) in finding.problem and finding.way_out


def test_files_are_checked_though_the_log_is_damaged(path: Path) -> None:
    log, base = path / "wal/1.log", next(tablet_files(path, "base"))
    for file in (log, base):
        whole = file.read_bytes()
        file.write_bytes(whole[:90] + bytes([whole[90] ^ 1]) + whole[91:])
    problems = findings(path)
    assert str(log) in problems[0].problem
    assert str(base) in {finding.path for finding in problems}


def test_a_missing_file_and_an_orphan_are_named(path: Path) -> None:
    gone = next(tablet_files(path, "redo"))
    gone.rename(gone.with_name("77.redo"))
    (path / "notes.txt").write_text("mine")
    found = {finding.path: finding for finding in findings(path)}
    assert "is missing" in found[str(gone)].problem
    assert "does not name" in found[str(gone.with_name("77.redo"))].problem
    assert "no part" in found[str(path / "notes.txt")].problem


def add_rowset(path: Path, values: range, said: range, rows_of: range | None = None) -> None:
    """Publish a rowset whose keys are said to be others than they are."""
    store = open_store(path)
    tablet = store.tablets[store.catalog.table("t").tablets[0].id]
    columns = rows(values if rows_of is None else rows_of)
    encoded: EncodedKeys = tablet.key_encoder.encode({0: keys(said)})
    meta = write_base(
        tablet.files, tablet.new_rowset_id(), tablet.schema.columns, columns, encoded, inserted_at=1
    )
    publish(store, tablet, meta.base, TabletEdit(tablet.id, (meta,)))
    store.close()


def publish(store: Store, tablet: Tablet, base: int, edit: TabletEdit) -> None:
    tablet.files.publish([("base", base)], "test")
    host = store.committer.tablet_services
    with host.commit_lock:
        host.record(edit)


def problems(path: Path) -> str:
    return "\n".join(finding.problem for finding in findings(path))


def test_a_key_that_lives_twice_is_found(path: Path) -> None:
    add_rowset(path, range(100, 300), range(100, 300))
    assert "live more than once" in problems(path)


def test_rows_of_other_partitions_are_found(path: Path) -> None:
    add_rowset(path, range(70_000, 70_100), range(70_000, 70_100))
    assert "belong to other partitions" in problems(path)


def test_keys_that_are_not_sorted_are_found(path: Path) -> None:
    add_rowset(path, range(0), range(80_000, 80_100), range(80_099, 79_999, -1))
    assert "not sorted" in problems(path)


def test_a_bloom_filter_and_a_key_index_of_other_keys_are_found(path: Path) -> None:
    add_rowset(path, range(90_000, 91_000), range(91_000, 92_000))
    found = problems(path)
    assert "bloom filter lacks" in found
    assert "key index does not lead" in found
    assert "between which the manifest says" in found
