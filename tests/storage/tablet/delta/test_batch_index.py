"""An index of batches gives the last change of a row below a bound, however many there are."""

import threading

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.tablet.delta.batch_index import BatchIndex
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.row_change import RowChange
from pykudu_sql.storage.tablet.delta.row_history import NewestCells

ROWS = 8
TYPES = {1: DataType(Kind.INT64), 2: DataType(Kind.STRING)}
UPDATES = frozenset(TYPES)


def outcome(index: BatchIndex, row: int, bound: int) -> RowChange | None:
    newest = NewestCells()
    index.gather(row, bound, TYPES, newest)
    return newest.outcome()


def add(index: BatchIndex, rows: list[int], timestamp: int, order: int) -> None:
    columns = {
        1: pa.array([order * 100 + place for place in range(len(rows))], pa.int64()),
        2: pa.array([None if order % 3 == 0 else f"{order}"] * len(rows)),
    }
    index.add(np.array(rows, np.int64), columns, timestamp, order)


@given(
    batches=st.lists(
        st.tuples(
            st.lists(st.integers(0, ROWS - 1), max_size=12).map(sorted),  # a row may repeat
            st.integers(0, 2),  # several batches may have one time
        ),
        max_size=20,
    )
)
def test_the_last_change_below_each_bound_counts(batches: list[tuple[list[int], int]]) -> None:
    index = BatchIndex(DeltaKind.UPDATE, UPDATES)
    last: dict[int, dict[int, dict[int, Cell]]] = {}
    time = 1
    for order, (rows, step) in enumerate(batches):
        time += step
        add(index, rows, time, order)
        for place, row in enumerate(rows):
            cells = {1: order * 100 + place, 2: None if order % 3 == 0 else f"{order}"}
            last.setdefault(row, {})[time] = cells
    for row in range(-1, ROWS + 1):
        changes = last.get(row, {})
        for bound in (*range(time + 2), EVERYTHING):
            below = [at for at in changes if at < bound]
            change = outcome(index, row, bound)
            if not below:
                assert change is None
                continue
            assert change is not None
            assert (change.timestamp, change.kind) == (max(below), DeltaKind.UPDATE)
            assert change.cells == changes[max(below)]


def test_a_deletion_is_a_decision_without_cells() -> None:
    index = BatchIndex(DeltaKind.DELETE, frozenset())
    index.add(np.array([2, 5], np.int64), {}, 7, 0)
    assert outcome(index, 5, 8) == RowChange(7, DeltaKind.DELETE, {})
    assert outcome(index, 5, 7) is None
    assert outcome(index, 4, 8) is None


def test_a_reader_beside_the_writer_sees_a_row_go_forward_only() -> None:
    index = BatchIndex(DeltaKind.UPDATE, UPDATES)
    rows, batches = list(range(ROWS)), 2000
    add(index, rows, 1, 0)
    wrong: list[int] = []

    def read() -> None:
        before = 0
        while before < batches:
            change = outcome(index, 3, EVERYTHING)
            assert change is not None
            if change.timestamp < before or change.cells[1] != (change.timestamp - 1) * 100 + 3:
                wrong.append(change.timestamp)
            before = change.timestamp

    reader = threading.Thread(target=read)
    reader.start()
    for order in range(1, batches):
        add(index, rows, order + 1, order)
    reader.join()
    assert not wrong
