"""What holds for runs, as what holds for rows of a part of the column."""

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.cfile.column_runs import ColumnRuns, runs_of
from pykudu_sql.storage.common.types.type_names import parse_type


def test_each_part_of_the_rows_has_what_holds_for_its_runs() -> None:
    lengths = [3, 1, 4, 2]
    by_run = np.array([True, False, True, False])
    by_row = np.repeat(by_run, lengths)
    runs = ColumnRuns(pa.array([1, 2, 3, 4]), np.cumsum(lengths))
    for start in range(10):
        for stop in range(start + 1, 11):
            spread = runs.expand(by_run, start, stop)
            assert spread.tolist() == by_row[start:stop].tolist(), (start, stop)


def test_a_column_without_blocks_has_no_runs() -> None:
    assert runs_of([], parse_type("INT")) is None
