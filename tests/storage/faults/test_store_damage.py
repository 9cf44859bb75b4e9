"""Damage to any file of a database: reading gives the right rows or an error that names the file.

Never wrong rows, never another error. What is allowed: a write-ahead log that ends early, since
its end cannot be told from a torn write (`docs/architecture/log.md`), is left out here.
"""

import contextlib
import json
import random
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from pykudu_sql.storage.catalog.alter import AddColumn
from pykudu_sql.storage.catalog.store_state import StoreState
from pykudu_sql.storage.check.database_check import DatabaseCheck
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import CorruptionError, FormatVersionError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.log.manifest import Manifest
from pykudu_sql.storage.log.record_log import LogKind
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.commit_record import TabletWrites, decode_commit, encode_commit
from pykudu_sql.storage.tablet.rowset.tablet_metadata import TabletEdit, TabletMetadata
from tests.storage.hostile.logs import put_together, take_apart
from tests.storage.model import Key, Row, apply, operations, read, visible

ROOT = "/db"
FLIPS = 400
Past = list[tuple[int, dict[Key, Row]]]


def build() -> tuple[dict[str, bytes], Past]:
    """A small database with every kind of file; its files, and its rows at each commit."""
    env = MemoryEnv()
    rows: dict[Key, Row] = {}
    past: Past = []
    with contextlib.closing(Store(env, ROOT, StoreOptions(threads=1, maintenance=False))) as store:
        columns = [
            ColumnSchema(0, "id", DataType(Kind.INT32)),
            ColumnSchema(0, "n", DataType(Kind.INT32), True),
            ColumnSchema(0, "s", DataType(Kind.STRING), True),
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

        write(RowOpKind.INSERT, [{0: i, 1: i, 2: f"w{i % 7}"} for i in range(40)])
        store.flush()
        write(RowOpKind.UPDATE, [{0: i, 1: -i, 2: None} for i in range(12)])
        write(RowOpKind.DELETE, [{0: 30}, {0: 31}])
        write(RowOpKind.UPSERT, [{0: i, 1: 9, 2: "new"} for i in range(38, 60)])
        write(RowOpKind.UPDATE, [{0: i, 1: 7} for i in range(40, 45)])
        store.flush()
        store.alter_table("t", [AddColumn(ColumnSchema(0, "m", DataType(Kind.INT32), True))])
        write(RowOpKind.UPSERT, [{0: i, 1: 5, 2: "log", 3: 9} for i in (3, 4, 100)])
    files = {path: bytes(content.data) for path, content in env._files.items() if content.data}
    return files, past


def disk_of(files: dict[str, bytes]) -> MemoryEnv:
    disk = MemoryEnv()
    for path, data in files.items():
        disk.make_dir(path.rpartition("/")[0])
        disk.create(path, point="test").append(data, point="test")
    return disk


def read_everything(files: dict[str, bytes], past: Past) -> None:
    """Every row at every commit, and by key, held against what was written."""
    with contextlib.closing(
        Store(disk_of(files), ROOT, StoreOptions(threads=1, maintenance=False))
    ) as store:
        txn = store.begin()
        for bound, rows in past:
            table = store.catalog_at(bound).table("t")
            assert read(txn, table, bound) == visible(rows, table)
        ids = [column.id for column in table.schema.columns]
        newest = visible(past[-1][1], table)
        for key in (0, 5, 30, 41, 100, 777):
            row = newest.get((key,))
            expected = None if row is None else tuple(row[i] for i in ids)
            assert txn.lookup(table, (key,), ids) == expected


def right_or_named(files: dict[str, bytes], past: Past, path: str) -> bool:
    """Read a damaged database; whether the damage was reported."""
    try:
        read_everything(files, past)
    except (CorruptionError, FormatVersionError) as error:
        assert path in str(error), f"{path} is not named: {error}"
        return True
    return False


FILES, PAST = build()
# What others check against; without it, or with a damaged one, nothing is lost.
MARK = f"{ROOT}/DURABLE"


def test_the_database_as_written_reads_right() -> None:
    kinds = {path.rpartition(".")[2] for path in FILES}
    assert kinds >= {"log", "base", "redo", "undo"}
    read_everything(FILES, PAST)


def test_a_flipped_bit_is_found_or_harmless() -> None:
    rng = random.Random(11)
    found = 0
    for _ in range(FLIPS):
        path = rng.choice([path for path in FILES if path != MARK])
        data = bytearray(FILES[path])
        place = rng.randrange(len(data.rstrip(b"\0")))
        data[place] ^= 1 << rng.randrange(8)
        found += right_or_named(FILES | {path: bytes(data)}, PAST, path)
    assert found > 0.9 * FLIPS


def test_a_file_cut_short_is_found() -> None:
    rng = random.Random(12)
    for path in FILES:
        for _ in range(0 if path == MARK else 10):
            data = FILES[path][: rng.randrange(len(FILES[path]))]
            assert right_or_named(FILES | {path: data}, PAST, path)


LOGS = [path for path in FILES if path.endswith(".log")]


def ends_of_records(data: bytes) -> list[int]:
    """Where a log can be cut so that all that is left of it is right."""
    ends = [64]
    while ends[-1] < len(data):
        length = int.from_bytes(data[ends[-1] : ends[-1] + 4], "little")
        ends.append(ends[-1] + 24 + -(-length // 8) * 8)
    return ends


@pytest.mark.parametrize("path", LOGS)
def test_a_log_cut_before_any_record_after_a_clean_close_is_found(path: str) -> None:
    ends = ends_of_records(FILES[path])
    assert ends.pop() == len(FILES[path]) and len(ends) > 3
    for end in ends:
        for tail in (b"", bytes(4096)):
            assert right_or_named(FILES | {path: FILES[path][:end] + tail}, PAST, path)


@pytest.mark.parametrize("path", LOGS)
def test_a_byte_too_many_or_too_few_anywhere_in_a_log_is_found(path: str) -> None:
    rng = random.Random(13)
    data = FILES[path]
    for _ in range(60):
        place = rng.randrange(len(data))
        assert right_or_named(FILES | {path: data[:place] + b"x" + data[place:]}, PAST, path)
        assert right_or_named(FILES | {path: data[:place] + data[place + 1 :]}, PAST, path)


def test_a_write_ahead_log_that_was_cut_or_lost_is_found_without_durable_too() -> None:
    files = {path: data for path, data in FILES.items() if path != MARK}
    (path,) = [path for path in LOGS if "/wal/" in path]
    for end in ends_of_records(FILES[path])[:-1]:
        assert right_or_named(files | {path: FILES[path][:end]}, PAST, path)
    assert right_or_named({p: d for p, d in files.items() if p != path}, PAST, path)


def test_damage_that_is_found_in_a_log_changes_nothing_on_disk() -> None:
    for path in LOGS:
        data = FILES[path]
        disk = disk_of(FILES | {path: data[:200] + b"x" + data[200:]})
        with pytest.raises(CorruptionError):
            Store(disk, ROOT, StoreOptions(threads=1, maintenance=False))
        assert disk.read_file(path) == data[:200] + b"x" + data[200:]


def test_check_and_readers_tell_of_a_log_that_was_cut() -> None:
    for path in LOGS:
        end = ends_of_records(FILES[path])[-3]
        disk = disk_of(FILES | {path: FILES[path][:end]})
        findings = list(DatabaseCheck(disk, ROOT, quick=True).run())
        assert any(path in f"{f.path} {f.problem}" for f in findings), findings
        with pytest.raises(CorruptionError, match=path):
            ReaderStore(disk, ROOT, StoreOptions(threads=1))


def test_what_stands_behind_the_end_of_the_manifest_hides_no_damage_from_readers() -> None:
    manifest, log = sorted(LOGS, key=lambda path: "/wal/" in path)
    used = len(FILES[manifest].rstrip(b"\0")) + 7 & ~7
    noise = random.Random(1).randbytes(100)
    files = FILES | {
        manifest: FILES[manifest][:used] + noise + FILES[manifest][used + len(noise) :],
        log: FILES[log][: ends_of_records(FILES[log])[-3]],
    }
    with pytest.raises(CorruptionError, match=log):
        ReaderStore(disk_of(files), ROOT, StoreOptions(threads=1))


def of_no_rowset(writes: TabletWrites) -> TabletWrites:
    """Writes whose mutations name a rowset that never was."""
    return writes._replace(mutations=[replace(m, rowset_id=999) for m in writes.mutations])


def into_files(writes: TabletWrites) -> TabletWrites:
    """Writes whose insertions go to the rowset that their mutations change, which is on disk."""
    return writes._replace(memrowset_id=writes.mutations[0].rowset_id)


@pytest.mark.parametrize(
    ("change", "reason"),
    [(of_no_rowset, "rowset 999 of tablet .* does not know"), (into_files, "which is on disk")],
)
def test_a_commit_to_a_rowset_that_cannot_take_it_is_found_by_writer_reader_and_check(
    change: Callable[[TabletWrites], TabletWrites], reason: str
) -> None:
    (path,) = [path for path in LOGS if "/wal/" in path]
    identity, payloads = take_apart(disk_of(FILES), path, LogKind.WAL, 1)
    newest = max(i for i, payload in enumerate(payloads) if payload)
    record = decode_commit(payloads[newest])
    assert any(w.mutations for w in record.tablets) and any(w.inserts for w in record.tablets)
    tablets = [change(writes) if writes.mutations else writes for writes in record.tablets]
    payloads[newest] = encode_commit(record._replace(tablets=tablets))
    disk = disk_of(FILES | {path: put_together(identity, payloads)})
    findings = list(DatabaseCheck(disk, ROOT, quick=True).run())
    assert any(re.search(f"{path}.*{reason}", f.problem) for f in findings), findings
    for opening in (ReaderStore, Store):
        with pytest.raises(CorruptionError, match=f"{path}.*{reason}"):
            opening(disk, ROOT, StoreOptions(threads=1, maintenance=False))


def without_rowset(edit: bytes, rowset_id: int) -> bytes:
    """An edit of the manifest that does not name a rowset, nor drop it."""
    value = json.loads(edit) if edit else {}
    for tablet in value.get("tablets", ()) if value.get("op") == "tablets" else ():
        tablet["rowsets"] = [meta for meta in tablet["rowsets"] if meta["id"] != rowset_id]
    return json.dumps(value).encode() if edit else edit


def test_a_rowset_that_the_manifest_has_lost_is_found_where_the_log_changes_it() -> None:
    (log,) = [path for path in LOGS if "/wal/" in path]
    (manifest,) = [path for path in LOGS if "/manifest/" in path]
    _, records = take_apart(disk_of(FILES), log, LogKind.WAL, 1)
    identity, edits = take_apart(disk_of(FILES), manifest, LogKind.MANIFEST, 1)
    changed = {
        mutation.rowset_id
        for payload in filter(None, records)
        for writes in decode_commit(payload).tablets
        for mutation in writes.mutations
        if mutation.store_id
    }
    assert changed
    without_mark = {path: data for path, data in FILES.items() if path != MARK}
    for rowset_id in changed:
        lost = [without_rowset(edit, rowset_id) for edit in edits]
        disk = disk_of(without_mark | {manifest: put_together(identity, lost)})
        for opening in (ReaderStore, Store):
            with pytest.raises(CorruptionError, match=f"rowset {rowset_id} of tablet .* lost"):
                opening(disk, ROOT, StoreOptions(threads=1, maintenance=False))


def test_a_rowset_that_was_merged_is_known_to_be_gone_in_a_rewritten_manifest_too() -> None:
    env = MemoryEnv()
    options = StoreOptions(threads=1, maintenance=False)
    with contextlib.closing(Store(env, ROOT, options)) as store:
        columns = [ColumnSchema(0, name, DataType(Kind.INT32)) for name in ("id", "n")]
        table = store.create_table("t", create_schema(columns, ["id"]), PartitionSchema(()))
        for value in range(4):
            for key in range(value, value + 10):
                store.write_row(table, RowOpKind.UPSERT, {0: key, 1: value})
            store.flush()
        store.optimize("t", full=True)
        rows = read(store.begin(), table)
        (metadata,) = store._services.state.tablets.values()
        assert metadata.retired
    edits = list(StoreState.of(Manifest.open(env, ROOT).edits, "test").condensed())
    assert StoreState.of(edits, "test").tablets[table.tablets[0].id].retired == metadata.retired
    manifest = Manifest.open(env, ROOT)
    manifest.rewrite(edits)
    manifest.close()
    with contextlib.closing(Store(env, ROOT, options)) as store:
        assert read(store.begin(), store.catalog.table("t")) == rows
        # Only while the log may name it.
        store.log_retention.collect()
        (metadata,) = store._services.state.tablets.values()
        assert not metadata.retired


def test_of_rowsets_that_an_older_version_let_go_nothing_is_said() -> None:
    tablet = "0" * 8 + "-0000-0000-0000-" + "0" * 12
    old = replace(TabletEdit(tablet), newest_rowset=7)
    metadata = TabletMetadata().apply(TabletEdit.from_json(old.to_json()), None)
    assert not metadata.lacks_rowset(7) and metadata.lacks_rowset(8)
    new = TabletEdit(tablet, retired={3: 20}, retired_known_from=2, newest_rowset=7)
    metadata = TabletMetadata().apply(TabletEdit.from_json(new.to_json()), None)
    assert [i for i in range(1, 9) if metadata.lacks_rowset(i)] == [2, 4, 5, 6, 7, 8]
    dropped = metadata.apply(TabletEdit(tablet, dropped=[5]), 30)
    assert not dropped.lacks_rowset(5)
    assert dropped.with_log_after(25).retired == {5: 30}


def test_a_database_without_durable_or_with_a_damaged_one_reads_right() -> None:
    data = FILES[MARK]
    read_everything({path: kept for path, kept in FILES.items() if path != MARK}, PAST)
    for place in range(0, len(data), 5):
        flipped = bytearray(data)
        flipped[place] ^= 4
        read_everything(FILES | {MARK: bytes(flipped)}, PAST)
        read_everything(FILES | {MARK: data[:place]}, PAST)


def test_after_a_kill_a_log_that_lacks_an_acknowledged_commit_is_found() -> None:
    disk = disk_of(FILES)
    store = Store(disk, ROOT, StoreOptions(threads=1, maintenance=False))
    table = store.catalog.table("t")
    for key in range(300, 305):
        store.write_row(table, RowOpKind.INSERT, {0: key})
    killed = {path: bytes(content.data) for path, content in disk._files.items() if content.data}
    (path,) = [path for path in LOGS if "/wal/" in path]
    used = len(killed[path].rstrip(b"\0"))
    end = max(end for end in ends_of_records(killed[path][: used + 8 - used % 8]) if end < used)
    with pytest.raises(CorruptionError, match=path):
        Store(disk_of(killed | {path: killed[path][:end]}), ROOT, StoreOptions(threads=1))
    store.close()


def names(paths: list[str]) -> list[str]:
    """Of files, the same in every process, though ids of tablets are not."""
    return [f"{i}-{path.rpartition('/')[2]}" for i, path in enumerate(paths)]


NEEDED = [path for path in FILES if path != MARK]
NUMBERED = [path for path in FILES if "CURRENT" not in path and path != MARK]


@pytest.mark.parametrize("path", NEEDED, ids=names(NEEDED))
def test_a_missing_file_is_named(path: str) -> None:
    assert right_or_named({p: d for p, d in FILES.items() if p != path}, PAST, path)


@pytest.mark.parametrize("path", NUMBERED, ids=names(NUMBERED))
def test_a_file_of_another_database_is_found(path: str) -> None:
    other, _ = build()
    suffix = path.rpartition("/")[2]
    twins = [
        p for p in other if p.rpartition("/")[2] == suffix and ("/wal/" in p) == ("/wal/" in path)
    ]
    for twin in twins:
        assert right_or_named(FILES | {path: other[twin]}, PAST, path)


def test_a_manifest_that_lost_its_newest_edits_loses_no_more_at_the_opening() -> None:
    path = next(p for p in FILES if "/manifest/" in p)
    used = len(FILES[path].rstrip(b"\0"))
    refused = 0
    for length in range(used // 8, used, used // 60):
        files = FILES | {path: FILES[path][:length]}
        disk = disk_of(files)
        try:
            Store(disk, ROOT, StoreOptions(threads=1, maintenance=False)).close()
        except CorruptionError:
            refused += 1
            left = {p for p in disk._files if "/tablets/" in p}
            assert left == {p for p in FILES if "/tablets/" in p}
    assert refused
