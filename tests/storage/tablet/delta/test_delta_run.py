"""A run of deltas in memory: the cells that count in each column, and which rows live."""

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_run import DeltaRun
from pykudu_sql.storage.tablet.delta.delta_store import DeltaCells, Deltas

UPDATE, DELETE, REINSERT = DeltaKind.UPDATE, DeltaKind.DELETE, DeltaKind.REINSERT


def run_of(*records: tuple[int, DeltaKind, int | None]) -> DeltaRun:
    """Ordinal, kind and cell of column 1 of each record, at times 1, 2, ..."""
    setting = [place for place, (_, _, cell) in enumerate(records) if cell is not None]
    cells = DeltaCells(np.array(setting), pa.array([records[place][2] for place in setting]))
    return DeltaRun(
        Deltas(
            np.array([record[0] for record in records], np.int64),
            np.arange(1, len(records) + 1, dtype=np.uint64),
            np.array([record[1] for record in records], np.uint8),
            {1: cells},
        )
    )


def test_the_last_cell_of_each_row_counts() -> None:
    run = run_of((3, UPDATE, 10), (3, UPDATE, 11), (5, DELETE, None), (5, REINSERT, 12))
    (patch,) = run.layers(1)
    assert patch.ordinals.tolist() == [3, 5] and patch.values.to_pylist() == [11, 12]
    assert run.layers(2) == ()
    assert (len(run), run.records) == (4, 4)


def test_rows_live_as_their_last_decision_says() -> None:
    run = run_of((1, UPDATE, 1), (3, DELETE, None), (5, DELETE, None), (5, REINSERT, 2))
    ordinals, alive = run.liveness()
    assert ordinals.tolist() == [3, 5] and alive.tolist() == [False, True]


def test_what_was_worked_out_once_is_given_again() -> None:
    run = run_of((3, UPDATE, 10))
    assert run.layers(1) is run.layers(1)
    assert run.liveness() is run.liveness()
