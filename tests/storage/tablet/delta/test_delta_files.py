"""Delta files are opened only for what a read needs, and never trusted."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.container import FileIdentity
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.tablet.delta.delta_collapse import collapse
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import (
    DeltaCells,
    Deltas,
    liveness,
    select,
    winners,
    without_columns,
)
from pykudu_sql.storage.tablet.delta.delta_view import DeltaView, FilePart
from pykudu_sql.storage.tablet.delta.deltafile import REDO, DeltaFile, write_delta_file

TYPES = {1: DataType(Kind.INT64), 2: DataType(Kind.INT64)}
ROWS = 4
Record = tuple[int, int, DeltaKind, dict[int, int]]


def deltas_of(records: Sequence[Record]) -> Deltas:
    """Records of ordinal, time, kind and cells, in REDO order."""
    cells = {}
    for column_id in TYPES:
        places = [place for place, record in enumerate(records) if column_id in record[3]]
        if places:
            values = pa.array([records[place][3][column_id] for place in places])
            cells[column_id] = DeltaCells(np.array(places, np.int64), values)
    ordinals, times, kinds = zip(*(record[:3] for record in records), strict=True)
    return Deltas(
        np.array(ordinals, np.int64), np.array(times, np.uint64), np.array(kinds, np.uint8), cells
    )


def file_of(env: MemoryEnv, number: int, deltas: Deltas, rows: int = ROWS) -> DeltaFile:
    identity = FileIdentity(bytes(16), "tablet", REDO, number)
    meta = write_delta_file(env, f"/{number}", identity, deltas, TYPES)
    return DeltaFile(env, f"/{number}", identity, meta, rows, BlockCache(1 << 20))


UPDATES = deltas_of(
    [(0, 5, DeltaKind.UPDATE, {1: 10}), (0, 6, DeltaKind.UPDATE, {1: 11}), (2, 7, DeltaKind(0), {})]
)
DELETES = deltas_of([(1, 8, DeltaKind.DELETE, {}), (3, 9, DeltaKind.UPDATE, {2: 5})])


def test_a_file_without_changes_of_the_columns_wanted_is_not_opened() -> None:
    env = MemoryEnv()
    updates, deletes = file_of(env, 1, UPDATES), file_of(env, 2, DELETES)
    env.unlink("/1", point="test")
    view = DeltaView([FilePart(updates, 100), FilePart(deletes, 100)])
    patch, alive = view.patch(2), view.alive(ROWS)
    assert patch is not None and patch.ordinals.tolist() == [3]
    assert alive is not None and alive.tolist() == [True, False, True, True]
    with pytest.raises(CorruptionError, match="'/1' is missing"):
        view.patch(1)


def test_only_the_cells_of_the_columns_wanted_are_read() -> None:
    env = MemoryEnv()
    file = file_of(env, 1, DELETES)
    assert file.deltas(()).cells == {}
    assert set(file.deltas((1, 2)).cells) == {2}
    env.unlink("/1", point="test")
    assert file.deltas().cells[2].values.to_pylist() == [5]


def test_a_file_says_which_snapshots_need_it() -> None:
    file = file_of(MemoryEnv(), 1, UPDATES)
    assert [file.is_needed(bound) for bound in (5, 6, 7, 8)] == [False, True, True, True]
    assert [file.is_whole(bound) for bound in (5, 6, 7, 8)] == [False, False, False, True]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (replace(UPDATES, ordinals=np.array([0, 0, 4])), "for row 4 of 4"),
        (replace(UPDATES, ordinals=np.array([2, 0, 0])), "not sorted"),
        (replace(UPDATES, ordinals=np.array([-1, 0, 0])), "not sorted"),
        (replace(UPDATES, kinds=np.array([0, 0, 7], np.uint8)), "kind 7"),
        (
            replace(UPDATES, cells={1: DeltaCells(np.array([0, 3]), pa.array([1, 2]))}),
            "out of range",
        ),
    ],
)
def test_records_that_cannot_be_are_corruption(broken: Deltas, message: str) -> None:
    file = file_of(MemoryEnv(), 1, broken)
    with pytest.raises(CorruptionError, match=message):
        file.deltas()


@st.composite
def redo(draw: st.DrawFn) -> Deltas:
    """REDO deltas of a few rows, some of one commit; rows deleted may come back whole."""
    records: list[Record] = []
    for ordinal in range(draw(st.integers(1, ROWS))):
        time, alive = 1, True
        for _ in range(draw(st.integers(1, 8))):
            time += draw(st.integers(0, 3))
            kind = DeltaKind.REINSERT
            if alive:
                kind = draw(st.sampled_from([DeltaKind.UPDATE] * 3 + [DeltaKind.DELETE]))
            wanted = {DeltaKind.DELETE: [], DeltaKind.REINSERT: [1, 2]}.get(kind)
            if wanted is None:
                wanted = draw(st.lists(st.sampled_from([1, 2]), min_size=1, unique=True))
            alive = kind is not DeltaKind.DELETE
            records.append((ordinal, time, kind, {i: draw(st.integers(0, 9)) for i in wanted}))
    return deltas_of(records)


def state(deltas: Deltas, bound: int) -> dict[int, tuple[bool, dict[int, int]]]:
    """For each row changed below a bound: whether it is alive, and if so its cells."""
    seen = select(deltas, deltas.timestamps < np.uint64(bound))
    living = {o: bool(a) for o, a in zip(*liveness(seen), strict=True)}
    rows: dict[int, tuple[bool, dict[int, int]]]
    rows = {int(o): (living.get(o, True), {}) for o in seen.ordinals}
    for column_id in TYPES:
        patch = winners(seen, column_id)
        if patch is not None:
            for ordinal, value in zip(patch.ordinals, patch.values.to_pylist(), strict=True):
                rows[int(ordinal)][1][column_id] = value
    return {o: (alive, cells if alive else {}) for o, (alive, cells) in rows.items()}


@given(deltas=redo(), mark=st.integers(0, 30))
def test_collapsed_deltas_come_to_the_same_at_and_above_the_mark(deltas: Deltas, mark: int) -> None:
    collapsed = collapse(deltas, mark)
    for bound in range(mark, 32):
        assert state(collapsed, bound) == state(deltas, bound)
    assert len(collapse(collapsed, mark)) == len(collapsed)
    decisions = np.count_nonzero(collapsed.kinds != DeltaKind.UPDATE)
    if mark > 30:
        assert len(collapsed) <= ROWS * len(TYPES) + decisions


@given(deltas=redo())
def test_deltas_without_a_column_keep_all_else(deltas: Deltas) -> None:
    rest = without_columns(deltas, {1})
    assert set(rest.cells) <= {2}
    for bound in range(32):
        wanted = {o: (a, {2: c[2]} if 2 in c else {}) for o, (a, c) in state(deltas, bound).items()}
        found = state(rest, bound)
        assert all(found.get(o, (True, {})) == value for o, value in wanted.items())
