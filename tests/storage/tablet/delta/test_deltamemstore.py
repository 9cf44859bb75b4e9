"""A DeltaMemStore tells of one row, and of all, what a plain list of the changes tells."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.types.hybrid_time import Timestamp, bound_at
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.tablet.delta.batch_index import BatchIndex
from pykudu_sql.storage.tablet.delta.delta_applier import apply_patch, apply_patches
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import cells_set_by
from pykudu_sql.storage.tablet.delta.delta_view import DeltaView
from pykudu_sql.storage.tablet.delta.deltamemstore import DeltaMemStore
from pykudu_sql.storage.tablet.delta.row_change import RowChange
from pykudu_sql.storage.tablet.rowset.row_patches import RowPatches
from pykudu_sql.storage.tablet.rowset.rowset import replay_changes

ROWS = 5
MANY = 300
COLUMNS = (ColumnSchema(1, "a", DataType(Kind.INT32)), ColumnSchema(2, "b", DataType(Kind.STRING)))
TYPES = {column.id: column.type for column in COLUMNS}
CELLS: dict[int, st.SearchStrategy[Cell]] = {
    1: st.none() | st.integers(-9, 9),
    2: st.none() | st.sampled_from(["", "x", "y"]),
}


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[list[int], RowChange]]:
    """Steps that each change some distinct rows alike; dead rows only come back whole."""
    alive = [True] * ROWS
    steps: list[tuple[list[int], RowChange]] = []
    for timestamp in range(1, draw(st.integers(1, 25))):
        living = draw(st.booleans())
        candidates = [row for row in range(ROWS) if alive[row] is living]
        if not candidates:
            continue
        rows = draw(st.lists(st.sampled_from(candidates), min_size=1, unique=True))
        kind = DeltaKind.REINSERT
        if living:
            kind = draw(st.sampled_from([DeltaKind.UPDATE, DeltaKind.DELETE]))
        chosen: list[int] = []
        if kind is DeltaKind.REINSERT:
            chosen = [1, 2]
        elif kind is DeltaKind.UPDATE:
            chosen = draw(st.lists(st.sampled_from([1, 2]), min_size=1, unique=True))
        cells = {i: draw(CELLS[i]) for i in chosen}
        for row in rows:
            alive[row] = kind is not DeltaKind.DELETE
        steps.append((rows, RowChange(timestamp, kind, cells)))
    return steps


def expected(
    steps: Sequence[tuple[list[int], RowChange]], row: int, bound: int
) -> list[Cell] | None:
    changes = [c for rows, c in steps if row in rows and c.timestamp < bound]
    return replay_changes([0, "base"], COLUMNS, changes)


@given(steps=histories(), batches=st.randoms(use_true_random=False))
def test_one_rows_changes_come_to_what_a_list_of_them_comes_to(
    steps: list[tuple[list[int], RowChange]], batches: object
) -> None:
    store = DeltaMemStore(1, TYPES)
    for rows, change in steps:
        add(store, rows, change, batched=batches.random() < 0.5)  # type: ignore[attr-defined]
    for bound in range(1, 27):
        view = DeltaView(store.visible(bound))
        alive = view.alive(ROWS)
        for row in range(ROWS):
            wanted = expected(steps, row, bound)
            outcome = store.outcome_of(row, bound)
            changes = [] if outcome is None else [outcome]
            assert replay_changes([0, "base"], COLUMNS, changes) == wanted
            assert (alive is None or bool(alive[row])) is (wanted is not None)


@given(
    sizes=st.lists(st.integers(1, MANY), min_size=1, max_size=12),
    seed=st.integers(0, 1 << 32),
    every=st.integers(1, 3),
)
def test_runs_read_between_changes_come_to_the_last_cell_of_each_row(
    sizes: list[int], seed: int, every: int
) -> None:
    generator = np.random.default_rng(seed)
    store = DeltaMemStore(1, TYPES)
    base = {1: pa.array(range(MANY), pa.int32()), 2: pa.array(["base"] * MANY)}
    rows = {i: values.to_pylist() for i, values in base.items()}
    for step, size in enumerate(sizes, 1):
        changed = generator.choice(MANY, size, replace=False)
        cells: dict[int, Cell] = {1: -step, 2: None if step % 4 == 0 else f"step {step}"}
        cells.pop(int(generator.integers(1, 4)), None)
        add(store, changed.tolist(), RowChange(step, DeltaKind.UPDATE, cells), batched=True)
        for i, cell in cells.items():
            for row in changed:
                rows[i][row] = cell
        if step % every == 0 or step == len(sizes):
            view = DeltaView(store.visible(step + 1))
            for column in COLUMNS:
                plain, encoded = base[column.id], base[column.id].dictionary_encode()
                for image in (plain, encoded) if column.id == 2 else (plain,):
                    patched = apply_patches(image, 0, view.layers(column.id), column.type)
                    assert patched.to_pylist() == rows[column.id]
                whole = apply_patch(plain, 0, view.patch(column.id), column.type)
                assert whole.to_pylist() == rows[column.id]
                merged = view.patch(column.id)
                touched = view.changed(column.id, lambda cells: np.ones(len(cells), np.bool_))
                assert touched.tolist() == sorted(touched.tolist())
                assert set(touched) == (set() if merged is None else set(merged.ordinals))
                some = np.array([3, 0, 4])
                of_some = RowPatches(view, some)
                for _ in range(2):
                    read = plain.take(pa.array(some))
                    patched = apply_patch(read, 0, of_some.patch(column.id), column.type)
                    assert patched.to_pylist() == [rows[column.id][row] for row in some]


def add(store: DeltaMemStore, rows: list[int], change: RowChange, *, batched: bool) -> None:
    if not batched:
        for row in rows:
            store.add_one(row, change.kind, change.cells, change.timestamp)
        return
    columns = {i: pa.array([cell] * len(rows), TYPES[i].arrow) for i, cell in change.cells.items()}
    store.add_batch(change.kind, np.array(rows, np.int64), columns, change.timestamp)


def test_what_came_since_has_changes_that_later_ones_than_the_bound_supersede() -> None:
    store = DeltaMemStore(1, TYPES)
    for time in range(1, 40):
        cells = {1: pa.array([time], pa.int32())}
        store.add_batch(DeltaKind.UPDATE, np.array([3]), cells, Timestamp(time))
    store.current()
    changes = cells_set_by(store.since(Timestamp(0), bound_at(Timestamp(20))), 1)
    assert [value for _, values in changes for value in values.to_pylist()][-1] == 20


def test_a_batch_that_is_being_added_is_not_below_an_earlier_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = DeltaMemStore(1, TYPES)

    def add(time: int) -> None:
        cells = {1: pa.array([time], pa.int32())}
        store.add_batch(DeltaKind.UPDATE, np.array([3]), cells, Timestamp(time))

    add(1)
    seen = []
    index_batch = BatchIndex.add

    def read_meanwhile(*arguments: Any) -> None:
        for changes in store.since(Timestamp(0), bound_at(Timestamp(1))):
            seen.extend(changes.timestamps.tolist())
        index_batch(*arguments)

    monkeypatch.setattr(BatchIndex, "add", read_meanwhile)
    add(2)
    assert seen == [1]
