"""Histories of rows, built, spliced and laid out as versions, against a model of single rows.

A model's row is a list of its states: from a commit on, its one cell, or None while it is deleted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import DeltaCells, Deltas, select
from pykudu_sql.storage.tablet.history.history_splice import splice
from pykudu_sql.storage.tablet.history.row_slice import ColumnGather, ColumnsInMemory, RowSlice
from pykudu_sql.storage.tablet.history.row_versions import (
    CHANGE_TYPES,
    STILL_VALID,
    changes_of,
    versions_of,
)
from pykudu_sql.storage.tablet.history.undo_builder import build_history

ID, CELL = 0, 1
INT64 = DataType(Kind.INT64)
KEYS = KeyEncoder([ColumnSchema(ID, "id", INT64, nullable=False)])
END = SnapshotBound(1000)

Row = list[tuple[int, int | None]]  # from which commit on, and the cell; the first is no None


@st.composite
def tables(draw: st.DrawFn) -> list[Row]:
    """Rows by key, each with commits of its own in 1 .. 99."""
    rows = []
    for _ in range(draw(st.integers(1, 5))):
        times = sorted(draw(st.sets(st.integers(1, 99), min_size=1, max_size=7)))
        row: Row = [(times[0], draw(st.integers(0, 9)))]
        for time in times[1:]:
            dead = row[-1][1] is None
            row.append((time, draw(st.integers(0, 9) if dead else st.none() | st.integers(0, 9))))
        rows.append(row)
    return rows


def redo_of(rows: Sequence[Row]) -> Deltas:
    """What commits did to rows after their insertion."""
    records: list[tuple[int, int, DeltaKind]] = []
    positions: list[int] = []
    values: list[int] = []
    for ordinal, row in enumerate(rows):
        dead = False
        for time, cell in row[1:]:
            if cell is not None:
                positions.append(len(records))
                values.append(cell)
            kind = DeltaKind.DELETE if cell is None else DeltaKind.UPDATE
            records.append((ordinal, time, DeltaKind.REINSERT if dead else kind))
            dead = cell is None
    return Deltas(
        np.array([record[0] for record in records], np.int64),
        np.array([record[1] for record in records], np.uint64),
        np.array([record[2] for record in records], np.uint8),
        {CELL: DeltaCells(np.array(positions, np.int64), pa.array(values, pa.int64()))},
    )


def slice_of(rows: Sequence[Row], ids: Sequence[int]) -> RowSlice:
    """Rows as a DiskRowSet would have them, whose history is all records of the way back."""
    columns = {
        ID: pa.array(ids, pa.int64()),
        CELL: pa.array([row[0][1] for row in rows], pa.int64()),
    }
    inserted = np.array([row[0][0] for row in rows], np.uint64)
    built = build_history(columns, (ID,), inserted, redo_of(rows), {ID: INT64, CELL: INT64})
    deleted = np.zeros(len(rows), np.uint64)
    deleted[built.redo.ordinals] = built.redo.timestamps
    return RowSlice(
        KEYS.encode({ID: columns[ID]}),
        ColumnGather([ColumnsInMemory(built.columns)], None),
        built.undo,
        deleted,
        np.zeros(len(rows), np.uint64),
    )


@dataclass(frozen=True, slots=True)
class Version:
    id: int
    begin: int
    end: int | None
    cell: int


def model_versions(rows: Sequence[Row]) -> Iterator[Version]:
    for number, row in enumerate(rows):
        ends = [time for time, _ in row[1:]]
        for (begin, cell), end in zip(row, [*ends, None], strict=True):
            if cell is not None:
                yield Version(number, begin, end, cell)


def versions_in(rows: RowSlice, low: int, high: int, until: int) -> list[Version]:
    bounds = SnapshotBound(low), SnapshotBound(high), SnapshotBound(until)
    found = versions_of(rows, (ID, CELL), *bounds)
    ids, cells = (column.to_pylist() for column in found.columns)
    times = zip(found.valid_from.tolist(), found.valid_to.tolist(), strict=True)
    return [
        Version(row, begin, None if end == int(STILL_VALID) else end, cell)
        for row, (begin, end), cell in zip(ids, times, cells, strict=True)
    ]


@given(tables(), st.integers(1, 100), st.integers(1, 100))
def test_versions_are_those_that_a_range_of_snapshots_shows(
    rows: list[Row], low: int, width: int
) -> None:
    made = slice_of(rows, range(len(rows)))
    assert versions_in(made, 0, END, END) == list(model_versions(rows))
    expected = [
        version
        for version in model_versions(rows)
        if version.begin < low + width and (version.end is None or version.end >= low)
    ]
    assert versions_in(made, low, low + width, END) == expected


@given(tables(), st.integers(1, 100))
def test_commits_at_or_above_a_bound_are_not_seen(rows: list[Row], until: int) -> None:
    expected = [
        Version(v.id, v.begin, v.end if v.end is not None and v.end < until else None, v.cell)
        for v in model_versions(rows)
        if v.begin < until
    ]
    assert versions_in(slice_of(rows, range(len(rows))), 0, END, until) == expected


@given(tables(), st.integers(1, 100), st.integers(1, 100))
def test_changes_are_what_the_commits_of_a_range_did(rows: list[Row], low: int, width: int) -> None:
    expected = []
    for row in rows:
        before: int | None = None
        for time, cell in row:
            if low <= time < low + width:
                if before is None:
                    expected.append(("insert", time, cell))
                elif cell is None:
                    expected.append(("delete", time, before))
                else:
                    expected.append(("update_preimage", time, before))
                    expected.append(("update_postimage", time, cell))
            before = cell
    made = slice_of(rows, range(len(rows)))
    changes = changes_of(made, (CELL,), SnapshotBound(low), SnapshotBound(low + width))
    kinds = [CHANGE_TYPES[kind] for kind in changes.kinds]
    cells = changes.columns[0].to_pylist()
    assert list(zip(kinds, changes.timestamps.tolist(), cells, strict=True)) == expected


@given(tables(), st.integers(0, 100))
def test_the_lives_of_a_key_in_two_rowsets_become_one_row(rows: list[Row], mark: int) -> None:
    ghosts: list[tuple[int, Row]] = []
    newest: list[tuple[int, Row]] = []
    for number, row in enumerate(rows):
        deaths = [place for place, (_, cell) in enumerate(row) if cell is None]
        begin = deaths[-1] + 1 if deaths and deaths[-1] + 1 < len(row) else 0
        newest.append((number, row[begin:]))
        if begin:
            ghosts.append((number, row[:begin]))
    slices = [
        slice_of([row for _, row in part], [number for number, _ in part])
        for part in (ghosts, newest)
        if part
    ]
    spliced = splice(slices, (ID,), SnapshotBound(mark))
    visible = [v for v in model_versions(rows) if v.end is None or v.end >= max(mark, 1)]
    assert versions_in(spliced.rows, max(mark, 1), END, END) == visible
    kept = spliced.rows.columns[ID].to_pylist()
    for part, ordinals in zip([p for p in (ghosts, newest) if p], spliced.ordinals, strict=True):
        for (number, _), ordinal in zip(part, ordinals.tolist(), strict=True):
            assert (kept[ordinal] if ordinal >= 0 else None) == (number if number in kept else None)


def without_ancient(rows: RowSlice, mark: int) -> RowSlice:
    return replace(rows, undo=select(rows.undo, rows.undo.timestamps >= mark))


def lives_of(row: Row) -> list[Row]:
    lives: list[Row] = [[]]
    for state in row:
        lives[-1].append(state)
        if state[1] is None:
            lives.append([])
    return [life for life in lives if life]


@given(tables(), st.integers(0, 100), st.data())
def test_lives_of_a_key_that_alternate_between_rowsets_become_one_row(
    rows: list[Row], mark: int, data: st.DataObject
) -> None:
    rowsets: list[dict[int, Row]] = [{}, {}, {}]
    for number, row in enumerate(rows):
        for life in lives_of(row):
            rowsets[data.draw(st.integers(0, 2))].setdefault(number, []).extend(life)
    slices = [
        without_ancient(slice_of(list(part.values()), list(part)), mark) for part in rowsets if part
    ]
    spliced = splice(slices, (ID,), SnapshotBound(mark))
    visible = [
        replace(v, begin=v.begin if v.begin >= mark else 0)
        for v in model_versions(rows)
        if v.end is None or v.end >= max(mark, 1)
    ]
    assert versions_in(spliced.rows, max(mark, 1), END, END) == visible
    undo = spliced.rows.undo
    back = list(
        zip(undo.ordinals.tolist(), (-undo.timestamps.astype(np.int64)).tolist(), strict=True)
    )
    assert back == sorted(back)


@pytest.mark.parametrize("turn", [1, -1])
def test_of_lives_that_one_commit_ends_the_last_that_began_is_the_newest(turn: int) -> None:
    one = slice_of([[(5, 1), (9, None)]], [0])
    other = slice_of([[(1, 2), (3, None), (9, 4), (9, None)]], [0])
    spliced = splice([one, other][::turn], (ID,), SnapshotBound(0))
    assert spliced.rows.columns[CELL].to_pylist() == [4]
    assert spliced.rows.undo.timestamps.tolist() == [9, 9, 5, 3, 1]
    assert versions_in(spliced.rows, 0, END, END) == [Version(0, 1, 3, 2), Version(0, 5, 9, 1)]


@pytest.mark.parametrize("mark", [30, 31])
def test_a_row_that_died_before_the_mark_goes(mark: int) -> None:
    spliced = splice([slice_of([[(10, 1), (30, None)]], [0])], (ID,), SnapshotBound(mark))
    assert len(spliced.rows.keys) == (mark == 30)
    assert spliced.ordinals[0].tolist() == [0 if mark == 30 else -1]
