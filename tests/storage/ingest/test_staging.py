"""Rows staged by many processes and committed by one: all of them once, or none."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.alter import AddCheck, AddColumn, SetDefault
from pykudu_sql.storage.catalog.check_constraint import CheckConstraint
from pykudu_sql.storage.catalog.store_state import StoreState
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.catalog.writer_batch import WriterBatch
from pykudu_sql.storage.common.coercion.coercion import coerce
from pykudu_sql.storage.common.default_function import DefaultFunction
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    PartitionSchema,
    RangePartition,
)
from pykudu_sql.storage.common.predicate.column_predicate import Op
from pykudu_sql.storage.common.predicate.row_condition import ColumnCell, Compared, TextLength
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.hybrid_time import Timestamp, bound_at, from_micros
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import (
    AlreadyPresentError,
    CheckViolationError,
    CorruptionError,
    DatabaseError,
    DataError,
    NotNullError,
    NotSupportedError,
    RowNotFoundError,
    SerializationError,
    ValueOutOfRangeError,
)
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.ingest.staging import (
    StagedFile,
    StageTarget,
    create_staging,
    stage_rows,
    staging_chunks,
)
from pykudu_sql.storage.remote.scan_planner import plan_tokens
from pykudu_sql.storage.remote.staged_commit import StagedWrite, WriteReport, commit_staged
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.rowset.cfile_set import CFileSet

ENV = LocalEnv()
LONG, TEXT = DataType(Kind.INT64), DataType(Kind.STRING)
Rows = Sequence[tuple[int, str]]


def open_store(path: Path) -> Store:
    return Store(ENV, str(path), StoreOptions(maintenance=False))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "db")
    columns = [
        ColumnSchema(0, "id", LONG, nullable=False),
        ColumnSchema(1, "v", TEXT),
        ColumnSchema(2, "w", LONG, write_default=7),
    ]
    hashed = HashDimension((0,), 3, 0)
    partitions = PartitionSchema((hashed,), (), ())
    opened.create_table("t", create_schema(columns, ["id"]), partitions)
    yield opened
    opened.close()


class Job:
    """One write, whose tasks may be run and then committed."""

    def __init__(self, store: Store, kind: RowOpKind = RowOpKind.INSERT) -> None:
        self.store = store
        self.table: TableInfo = store.catalog.table("t")
        write_id, self.lock = create_staging(ENV, store.path)
        self.target = StageTarget(store.path, store.database_id, self.table, kind, write_id)
        self.files: list[StagedFile] = []
        self.column_ids: tuple[int, ...] = ()

    def task(self, rows: Rows) -> list[StagedFile]:
        """Stage rows, as a task does; a DELETE takes the keys alone."""
        columns = {0: coerce(pa.array([i for i, _ in rows]), LONG, "id")}
        if self.target.kind is not RowOpKind.DELETE:
            columns[1] = coerce(pa.array([v for _, v in rows], pa.string()), TEXT, "v")
        self.column_ids = tuple(columns)
        files = list(stage_rows(ENV, self.target, columns))
        self.files += files
        return files

    def commit(self, replaces: bool = False, batch: WriterBatch | None = None) -> WriteReport:
        write = StagedWrite(self.target, self.column_ids, self.files, replaces, batch)
        return commit_staged(ENV, self.store, write)


def read(store: Store, bound: int | None = None) -> list[tuple[int, str, int]]:
    table = store.catalog.table("t")
    found = store.begin().table_scan(table, ScanSpec((0, 1, 2)), bound).to_pylist()
    return sorted((row["id"], row["v"], row["w"]) for row in found)


def files_of(store: Store) -> set[str]:
    root = Path(store.path)
    return {
        str(path.relative_to(root))
        for folder in ("staging", "tmp", "tablets")
        for path in (root / folder).rglob("*")
        if path.is_file()
    }


def test_rows_of_many_tasks_get_one_time_and_each_its_uuid(store: Store) -> None:
    at = ColumnSchema(0, "at", parse_type("TIMESTAMP"), default_function=DefaultFunction.NOW)
    token = ColumnSchema(0, "token", TEXT)
    store.alter_table("t", [AddColumn(replace(at, read_default=5)), AddColumn(token)])
    store.alter_table("t", [SetDefault("token", None, DefaultFunction.UUID)])
    job = Job(store)
    job.target = replace(job.target, time=from_micros(1_700_000_000_000_000))
    assert StageTarget.from_json(job.target.to_json()) == job.target
    for start in range(0, 300, 100):
        job.task([(i, "v") for i in range(start, start + 100)])
    job.commit()
    upsert = Job(store, RowOpKind.UPSERT)
    upsert.task([(0, "w"), (300, "w")])
    upsert.commit()
    found = store.begin().table_scan(store.catalog.table("t"), ScanSpec((0, 3, 4))).to_pylist()
    times = {row["id"]: to_cell(row["at"], at.type) for row in found}
    assert {times.pop(300)} != {1_700_000_000_000_000} == set(times.values())
    assert len({row["token"] for row in found}) == 301


def test_rows_of_many_tasks_are_there_at_one_moment_and_after_reopening(
    store: Store, tmp_path: Path
) -> None:
    job = Job(store)
    for start in range(0, 300, 100):
        job.task([(i, f"v{i}") for i in range(start, start + 100)])
    assert read(store) == []
    report = job.commit()
    expected = [(i, f"v{i}", 7) for i in range(300)]
    assert (report.rows, report.files) == (300, len(job.files))
    assert report.timestamp is not None
    assert read(store) == expected
    assert read(store, report.timestamp) == []
    assert read(store, report.timestamp + 1) == expected
    assert not list((tmp_path / "db" / "staging").iterdir())
    store.flush()
    store.optimize("t", full=True)
    store.close()
    again = open_store(tmp_path / "db")
    assert read(again) == expected
    again.close()


@pytest.mark.parametrize("second", [[(3, "again")], [(9, "new"), (0, "again")]])
def test_a_key_that_two_tasks_bring_is_found_and_nothing_is_done(
    store: Store, second: Rows
) -> None:
    job = Job(store)
    job.task([(i, "v") for i in range(5)])
    job.task(second)
    with pytest.raises(AlreadyPresentError, match="given twice in one write"):
        job.commit()
    assert read(store) == []
    assert files_of(store) == set()


def test_a_key_that_the_table_has_is_found_and_nothing_is_done(store: Store) -> None:
    first = Job(store)
    first.task([(1, "a")])
    first.commit()
    before = files_of(store)
    job = Job(store)
    job.task([(2, "b"), (1, "b")])
    with pytest.raises(AlreadyPresentError, match="1"):
        job.commit()
    assert read(store) == [(1, "a", 7)]
    assert files_of(store) == before


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (RowOpKind.INSERT_IGNORE, [(1, "a", 7), (2, "b", 7), (3, "new", 7)]),
        (RowOpKind.UPSERT, [(1, "a", 7), (2, "new", 7), (3, "new", 7)]),
        (RowOpKind.UPDATE_IGNORE, [(1, "a", 7), (2, "new", 7)]),
        (RowOpKind.UPDATE, RowNotFoundError),
    ],
)
def test_each_operation_does_what_it_does_in_sql(
    store: Store, kind: RowOpKind, expected: list[tuple[int, str, int]] | type[DatabaseError]
) -> None:
    first = Job(store)
    first.task([(1, "a"), (2, "b")])
    first.commit()
    job = Job(store, kind)
    job.task([(2, "new"), (3, "new")])
    if isinstance(expected, list):
        job.commit()
        assert read(store) == expected
    else:
        with pytest.raises(expected):
            job.commit()
        assert read(store) == [(1, "a", 7), (2, "b", 7)]
    assert not any(name.startswith(("tmp", "staging")) for name in files_of(store))


def test_rows_are_deleted_by_their_keys(store: Store) -> None:
    first = Job(store)
    first.task([(1, "a"), (2, "b")])
    first.commit()
    job = Job(store, RowOpKind.DELETE)
    job.task([(2, "")])
    job.commit()
    assert read(store) == [(1, "a", 7)]


def test_replaced_rows_stay_readable_at_their_time(store: Store) -> None:
    first = Job(store)
    first.task([(i, "old") for i in range(10)])
    before = first.commit().timestamp
    assert before is not None
    job = Job(store)
    job.task([(i, "new") for i in range(5, 15)])
    job.commit(replaces=True)
    assert read(store) == [(i, "new", 7) for i in range(5, 15)]
    assert read(store, before + 1) == [(i, "old", 7) for i in range(10)]


def test_many_rows_are_replaced_by_files_without_which_the_log_stays_short(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pykudu_sql.storage.remote.staged_commit._ROWS_IN_LOG", 10)
    moments: list[int] = []
    searched: list[int] = []
    find = CFileSet.find

    def counted(base: CFileSet, keys: EncodedKeys) -> Ordinals:
        searched.append(len(keys))
        return find(base, keys)

    monkeypatch.setattr(CFileSet, "find", counted)
    for value in ("a", "b", "c"):
        searched.clear()
        job = Job(store)
        job.task([(i, value) for i in range(30)])
        moment = job.commit(replaces=True).timestamp
        assert moment is not None
        moments.append(moment)
        assert not searched  # no rowset has a row any more in which a key might be
    store.close()
    reopened = open_store(tmp_path / "db")
    try:
        for value, moment in zip("abc", moments, strict=True):
            assert read(reopened, moment + 1) == [(i, value, 7) for i in range(30)]
        table = reopened.catalog.table("t")
        rowsets = [r for t in table.tablets for r in reopened.tablets[t.id].components.tree.rowsets]
        assert len(rowsets) == 9
        assert not any(len(rowset.tracker.memory) for rowset in rowsets)
        with plan_tokens(reopened, table, ScanSpec((0,))) as plan:
            assert len(plan.tokens) == 3
        with plan_tokens(reopened, table, ScanSpec((0,)), bound_at(Timestamp(moments[0]))) as plan:
            assert len(plan.tokens) == 3
    finally:
        reopened.close()


def test_keys_are_not_looked_for_where_none_is_alive_or_all_lie_apart(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pykudu_sql.storage.remote.staged_commit._ROWS_IN_LOG", 10)
    monkeypatch.setattr("pykudu_sql.storage.transaction.transaction.LEAST_ROWS", 1)
    first = Job(store)
    first.task([(i, "a") for i in range(90)])
    first.commit()
    dead = Job(store, RowOpKind.DELETE)
    dead.task([(i, "") for i in range(30)])
    dead.commit()
    searched: list[str] = []
    find = CFileSet.find

    def counted(base: CFileSet, keys: EncodedKeys) -> Ordinals:
        searched.append(base.path)
        return find(base, keys)

    monkeypatch.setattr(CFileSet, "find", counted)
    over = Job(store)
    over.task([(i, "b") for i in range(60)])
    over.task([(i, "b") for i in range(60, 120)])
    over.commit(replaces=True)
    assert not searched
    assert read(store) == [(i, "b", 7) for i in range(120)]
    more = Job(store)
    more.task([(i, "c") for i in range(120, 150)])
    more.commit()
    assert not searched
    again = Job(store)
    again.task([(i, "d") for i in range(150, 180)])
    again.task([(i, "d") for i in range(170, 200)])
    with pytest.raises(AlreadyPresentError, match="key given twice in one write"):
        again.commit(replaces=True)
    assert searched


def test_many_changes_of_rows_on_disk_are_files_and_the_log_stays_short(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pykudu_sql.storage.transaction.transaction.LEAST_ROWS", 5)
    first = Job(store)
    first.task([(i, "old") for i in range(100)])
    moments = [first.commit().timestamp]
    job = Job(store, RowOpKind.UPSERT)
    job.task([(i, "new") for i in range(60, 130)])
    job.task([(i, "newer") for i in range(50, 70)])
    moments.append(job.commit().timestamp)
    job = Job(store, RowOpKind.DELETE)
    job.task([(i, "") for i in range(0, 40)])
    moments.append(job.commit().timestamp)
    rows = {i: "old" for i in range(100)}
    states = [dict(rows)]
    rows |= {i: "new" for i in range(60, 130)} | {i: "newer" for i in range(50, 70)}
    states.append(dict(rows))
    states.append({i: v for i, v in rows.items() if i >= 40})
    store.close()
    reopened = open_store(tmp_path / "db")
    try:
        for moment, state in zip(moments, states, strict=True):
            assert moment is not None
            expected = sorted((i, v, 7) for i, v in state.items())
            assert read(reopened, moment + 1) == expected
        assert read(reopened) == expected
        rowsets = [r for t in reopened.tablets.values() for r in t.components.tree.rowsets]
        assert sum(file.meta.stats.deletes for r in rowsets for file in r.tracker.redo) == 40
        assert not any(len(rowset.tracker.memory) for rowset in rowsets)
    finally:
        reopened.close()


def test_files_of_attempts_that_do_not_count_leave_no_trace(store: Store) -> None:
    job = Job(store)
    job.task([(1, "failed attempt")])
    job.files = []
    job.task([(1, "counts")])
    job.commit()
    assert read(store) == [(1, "counts", 7)]
    assert not any(name.startswith(("tmp", "staging")) for name in files_of(store))


def test_a_write_is_committed_once(store: Store) -> None:
    job = Job(store)
    job.task([(1, "a")])
    job.commit()
    with pytest.raises(CorruptionError, match="committed or aborted before"):
        job.commit()
    assert read(store) == [(1, "a", 7)]


def test_a_batch_of_a_writer_is_done_once_even_after_reopening(
    store: Store, tmp_path: Path
) -> None:
    job = Job(store)
    job.task([(1, "a")])
    assert job.commit(batch=WriterBatch("stream", 0)).timestamp is not None
    assert Job(store).commit(batch=WriterBatch("stream", 1)).timestamp is not None
    store.close()
    again = open_store(tmp_path / "db")
    replay = Job(again)
    replay.task([(2, "b")])
    assert replay.commit(batch=WriterBatch("stream", 1)).timestamp is None
    assert read(again) == [(1, "a", 7)]
    later = Job(again)
    later.task([(2, "b")])
    later.commit(batch=WriterBatch("stream", 2))
    assert len(read(again)) == 2
    again.close()


def test_a_rewritten_manifest_still_knows_the_batches_of_writers() -> None:
    edit = {"op": "tablets", "ts": 5, "sequence": 0, "tablets": []}
    done = {"done": WriterBatch("stream", 3).to_json()}
    state = StoreState.of([edit | done], "manifest")
    again = StoreState.of(state.condensed(), "manifest")
    assert again.writers == state.writers == {"stream": 3}
    with pytest.raises(CorruptionError, match="'done'"):
        StoreState.of([edit | {"done": {"writer": 1}}], "manifest")


def forged(job: Job) -> Iterator[tuple[StagedFile, type[DatabaseError]]]:
    (file,) = job.files
    other = "00000000-0000-0000-0000-000000000000"
    yield replace(file, table_id=other), DataError
    yield replace(file, write_id=other), DataError
    yield replace(file, tablet_id=other), DataError
    yield replace(file, checksum=file.checksum ^ 1), CorruptionError
    yield replace(file, size=file.size + 1), CorruptionError
    yield replace(file, number=file.number + 1), CorruptionError
    yield replace(file, min_key=b"\0" * 8), CorruptionError


@pytest.mark.parametrize("number", range(7))
def test_a_message_that_is_not_true_is_refused(store: Store, number: int) -> None:
    job = Job(store)
    job.task([(1, "a")])
    lie, error = list(forged(job))[number]
    job.files = [lie]
    with pytest.raises(error):
        job.commit()
    assert read(store) == []
    assert files_of(store) == set()


@pytest.mark.parametrize(
    ("member", "value"),
    [("write", "../../etc"), ("tablet", "../x"), ("number", 5), ("rows", 0), ("min_key", "zz")],
)
def test_a_message_that_makes_no_sense_is_refused(store: Store, member: str, value: object) -> None:
    job = Job(store)
    (file,) = job.task([(1, "a")])
    assert StagedFile.from_json(file.to_json()) == file
    with pytest.raises(DataError, match="no staged file"):
        StagedFile.from_json({**file.to_json(), member: value})


def test_a_table_dropped_meanwhile_is_a_conflict(store: Store) -> None:
    job = Job(store)
    job.task([(1, "a")])
    store.drop_table("t")
    with pytest.raises((SerializationError, DataError)):
        job.commit()
    assert files_of(store) == set()


def test_an_opening_removes_what_nobody_holds_and_nothing_else(
    store: Store, tmp_path: Path
) -> None:
    kept, left = Job(store), Job(store)
    kept.task([(1, "a")])
    left.task([(2, "b")])
    left.lock.release()
    store.close()
    again = open_store(tmp_path / "db")
    names = [path.name for path in (tmp_path / "db" / "staging").iterdir()]
    assert names == [kept.target.write_id]
    kept.store = again
    kept.commit()
    assert read(again) == [(1, "a", 7)]
    again.close()


SHORT = AddCheck(CheckConstraint("short", Compared(TextLength(1), Op.LT, ColumnCell(2))))


@pytest.mark.parametrize("kind", [RowOpKind.UPSERT, RowOpKind.UPDATE])
def test_staged_rows_are_held_to_what_comes_of_them(store: Store, kind: RowOpKind) -> None:
    first = Job(store)
    first.task([(1, "a"), (2, "b")])
    first.commit()
    store.alter_table("t", [SHORT])
    for rows in ([(1, "seven..")], [(1, "x"), (2, "seven.."), (9, "y")][: 3 - kind.updates]):
        job = Job(store, kind)
        job.task(rows)
        with pytest.raises(CheckViolationError, match="'short': length"):
            job.commit()
    assert read(store) == [(1, "a", 7), (2, "b", 7)]
    job = Job(store, kind)
    job.task([(1, "six...")])
    job.commit()
    assert read(store) == [(1, "six...", 7), (2, "b", 7)]


def test_new_rows_break_a_constraint_when_they_are_staged_or_committed(store: Store) -> None:
    store.alter_table("t", [SHORT])
    with pytest.raises(CheckViolationError, match="'short'"):
        Job(store).task([(1, "seven..")])
    job = Job(store, RowOpKind.UPSERT)
    job.task([(1, "seven..")])
    with pytest.raises(CheckViolationError, match="'short'"):
        job.commit()
    assert read(store) == []


def test_rows_staged_before_a_constraint_came_are_not_committed(store: Store) -> None:
    job = Job(store)
    job.task([(1, "seven..")])
    store.alter_table("t", [SHORT])
    with pytest.raises(SerializationError):
        job.commit()
    assert read(store) == []


def test_batches_are_put_together_until_a_chunk_is_large() -> None:
    columns = [pa.array([number] * rows, pa.int64()) for number, rows in enumerate((3, 0, 2, 4))]
    batches = [pa.record_batch({"a": column}) for column in columns]
    assert [chunk.num_rows for chunk in staging_chunks(batches, 5 * 8)] == [5, 4]


class NumberedJob:
    """One write of rows whose identity column is left out."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.table = store.catalog.table(name)
        write_id, self.lock = create_staging(ENV, store.path)
        key = (store.path, store.database_id, self.table)
        self.target = StageTarget(*key, RowOpKind.INSERT, write_id)
        self.files: list[StagedFile] = []

    def task(self, *texts: str) -> None:
        columns = {1: coerce(pa.array(texts, pa.string()), TEXT, "v")}
        self.files += stage_rows(ENV, self.target, columns)

    def commit(self) -> None:
        commit_staged(ENV, self.store, StagedWrite(self.target, (1,), self.files, False, None))

    def rows(self) -> list[tuple[int, str]]:
        found = self.store.begin().table_scan(self.table, ScanSpec((0, 1)), None).to_pylist()
        return sorted((row["id"], row["v"]) for row in found)


def identity_table(
    store: Store, name: str, kind: Kind = Kind.INT32, partitions: PartitionSchema | None = None
) -> None:
    columns = [
        ColumnSchema(0, "id", DataType(kind), nullable=False, identity=True),
        ColumnSchema(1, "v", TEXT),
    ]
    hashed = PartitionSchema((HashDimension((0,), 3, 0),), (), ())
    store.create_table(name, create_schema(columns, ["id"]), partitions or hashed)


def test_an_identity_column_that_rows_leave_out_is_numbered_at_the_commit(store: Store) -> None:
    identity_table(store, "numbered")
    first = NumberedJob(store, "numbered")
    first.target.check((1,))
    first.task("a", "b")
    first.task("c")
    first.commit()
    assert [number for number, _ in first.rows()] == [1, 2, 3]
    second = NumberedJob(store, "numbered")
    second.task("d")
    second.commit()
    assert second.rows()[-1] == (4, "d")
    assert sorted(text for _, text in second.rows()) == ["a", "b", "c", "d"]


def test_an_identity_column_that_rows_bring_keeps_their_numbers(store: Store) -> None:
    identity_table(store, "numbered")
    job = NumberedJob(store, "numbered")
    columns = {0: coerce(pa.array([40, 7]), DataType(Kind.INT32), "id")}
    files = list(stage_rows(ENV, job.target, columns))
    commit_staged(ENV, store, StagedWrite(job.target, (0,), files, False, None))
    later = NumberedJob(store, "numbered")
    later.task("next")
    later.commit()
    assert [number for number, _ in later.rows()] == [7, 40, 41]


def test_an_identity_column_has_only_so_many_numbers(store: Store) -> None:
    identity_table(store, "tiny", Kind.INT8)
    with pytest.raises(ValueOutOfRangeError, match="max auto-incrementing column value reached"):
        NumberedJob(store, "tiny").task(*("x" * 128))
    job = NumberedJob(store, "tiny")
    for _ in range(2):
        job.task(*("x" * 100))
    with pytest.raises(ValueOutOfRangeError, match="max auto-incrementing column value reached"):
        job.commit()


def test_numbers_given_later_cannot_decide_whether_rows_fit(store: Store) -> None:
    below = PartitionSchema((), (0,), (RangePartition((100,), (200,)),))
    identity_table(store, "ranged", partitions=below)
    with pytest.raises(NotSupportedError, match="have no 'id' yet"):
        NumberedJob(store, "ranged").target.check((1,))
    NumberedJob(store, "ranged").target.check((0, 1))


@pytest.mark.parametrize("column_ids", [(), (1,), (1, 2)])
def test_rows_without_a_column_of_the_key_are_refused_before_they_are_staged(
    store: Store, column_ids: tuple[int, ...]
) -> None:
    with pytest.raises(NotNullError, match="no value provided for key column 'id'"):
        Job(store).target.check(column_ids)
