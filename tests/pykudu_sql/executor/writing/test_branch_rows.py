"""The rows of each branch of a statement: in their order, each once, and those not refused."""

import numpy as np
import pyarrow as pa

from pykudu_sql.executor.writing.branch_rows import (
    BranchRows,
    accepted_rows,
    ascend,
    picked_columns,
)
from pykudu_sql.planner.plan.change_plans import ChangeBranch
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowResults

ROWS = RowOperations(RowOpKind.UPDATE, {0: pa.array([5, 6, 7])}, 3)
RESULTS = RowResults(applied=2, ignored=0, failed=1, errors=(), refused=np.array([1]))


def test_rows_that_were_refused_are_left_out() -> None:
    accepted = accepted_rows(ROWS, RESULTS)
    assert (accepted.kind, accepted.length) == (RowOpKind.UPDATE, 2)
    assert accepted.columns[0].to_pylist() == [5, 7]


def test_rows_of_a_branch_keep_their_places_in_the_query() -> None:
    branch = ChangeBranch(RowOpKind.UPDATE, ((0, 1),))
    accepted = BranchRows(branch, np.array([10, 20, 30]), ROWS).accepted(RESULTS)
    assert accepted.branch is branch
    assert accepted.indices.tolist() == [10, 30]
    assert accepted.operations.columns[0].to_pylist() == [5, 7]


def test_all_rows_in_their_order_are_not_copied() -> None:
    rows = pa.table({"a": pa.array([1, 2, 3]), "b": pa.array([4, 5, 6])})
    (whole,) = picked_columns(rows, [1], np.arange(3))
    assert whole.chunk(0).buffers()[1].address == rows.column(1).chunk(0).buffers()[1].address
    (turned,) = picked_columns(rows, [1], np.array([2, 1, 0]))
    assert turned.to_pylist() == [6, 5, 4]
    assert ascend(np.array([0, 2])) and not ascend(np.array([0, 0]))
