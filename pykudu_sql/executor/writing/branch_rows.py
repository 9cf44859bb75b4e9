"""The rows of a query that take each branch of a MERGE, or of another statement of several actions.

Values are converted here, so that what cannot be stored fails before anything is written.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.repeated_cells import repeated_cells
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.change_plans import ChangeBranch, ChangeQuery
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.cancellation import cancellable
from pykudu_sql.storage.common.column_defaults import default_array, with_functions
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowResults
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import combine, filled_numbers, plain
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.errors import IntegrityError
from pykudu_sql.storage.transaction.transaction import Transaction

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BranchRows:
    """The rows that take one branch.

    Attributes:
        branch: the branch.
        indices: of the rows in the query's result, ascending.
        operations: what is done to them, values converted.
    """

    branch: ChangeBranch
    indices: Positions
    operations: RowOperations

    def accepted(self, results: RowResults) -> "BranchRows":
        """Those of them that were not refused."""
        positions = _accepted_positions(len(self.indices), results)
        operations = _subset(self.operations, positions)
        return BranchRows(self.branch, self.indices[positions], operations)


def accepted_rows(operations: RowOperations, results: RowResults) -> RowOperations:
    """The rows of a batch that were not refused."""
    return _subset(operations, _accepted_positions(operations.length, results))


def _accepted_positions(length: int, results: RowResults) -> Positions:
    return np.setdiff1d(np.arange(length), results.refused, assume_unique=True)


def _subset(operations: RowOperations, positions: Positions) -> RowOperations:
    columns = {i: values.take(pa.array(positions)) for i, values in operations.columns.items()}
    return RowOperations(operations.kind, columns, len(positions))


def branch_rows(
    state: SessionState,
    plan: ChangeQuery,
    rows: pa.Table,
    parameters: ParameterValues,
    transaction: Transaction,
) -> list[BranchRows]:
    """The rows of each branch that has any: all inserts as one batch first, deletes last.

    Raises DataError: a value does not fit its column.
    """
    # All NULL is of no type.
    actions = filled_numbers(combine(rows.column(0).cast(pa.int64())), -1)
    shares: list[BranchRows] = []
    inserted: list[BranchRows] = []
    for number, branch in enumerate(cancellable(plan.branches, state.check_cancelled)):
        indices = np.flatnonzero(actions == number)
        if not len(indices):
            continue
        picked = picked_columns(rows, [position for _, position in branch.columns], indices)
        ids = (column_id for column_id, _ in branch.columns)
        fitting = transaction.coerce(plan.table, dict(zip(ids, picked, strict=True)))
        del picked
        repeated = repeated_cells(plan.table.schema, branch.constants, parameters)
        fitting.update(repeated.whole(len(indices), state.store.budget))
        operations = RowOperations(branch.kind, fitting, len(indices))
        one_kind = inserted if branch.kind is RowOpKind.INSERT else shares
        one_kind.append(BranchRows(branch, indices, operations))
    shares.sort(key=lambda share: share.branch.kind is RowOpKind.DELETE)
    if inserted:
        shares.insert(0, _one_insert(plan.table, inserted, transaction))
    return shares


def _one_insert(
    table: TableInfo, shares: Sequence[BranchRows], transaction: Transaction
) -> BranchRows:
    """The rows of several inserting branches as one batch, so that they fit or fail together."""
    first = shares[0]
    if len(shares) == 1:
        operations = new_rows(table, first.operations, transaction)
        return BranchRows(first.branch, first.indices, operations)
    ids = {i for share in shares for i in share.operations.columns}
    columns = {
        i: pa.concat_arrays(
            [plain(filled_column(table, share.operations, i, transaction.time)) for share in shares]
        )
        for i in ids
    }
    indices = np.concatenate([share.indices for share in shares])
    operations = RowOperations(RowOpKind.INSERT, columns, len(indices))
    operations = new_rows(table, operations, transaction)
    return BranchRows(first.branch, indices, operations)


def new_rows(
    table: TableInfo, operations: RowOperations, transaction: Transaction
) -> RowOperations:
    """Rows to be inserted with their numbers, and what functions of defaults give them."""
    columns, length = operations.columns, operations.length
    columns = with_functions(table.schema, columns, transaction.time, length)
    return transaction.number(table, RowOperations(operations.kind, columns, length))


def filled_column(
    table: TableInfo, operations: RowOperations, column_id: int, time: StatementTime
) -> pa.Array:
    """A column of rows to be inserted, at its default where they do not set it."""
    values = operations.columns.get(column_id)
    if values is not None:
        return values
    column = table.schema.by_id[column_id]
    return default_array(column, time, operations.length)


def check_changed_once(plan: ChangeQuery, shares: Sequence[BranchRows]) -> None:
    """Check that no row is updated or deleted twice. Raises IntegrityError: one would be."""
    schema = plan.table.schema
    keys = [
        pa.Table.from_arrays(
            [plain(share.operations.columns[i]) for i in schema.key_ids],
            names=[column.name for column in schema.key_columns],
        )
        for share in shares
        if share.branch.kind is not RowOpKind.INSERT
    ]
    if not keys:
        return
    changed = pa.concat_tables(keys)
    names = changed.column_names
    counted = changed.group_by(names, use_threads=False).aggregate([([], "count_all")])
    if counted.num_rows < changed.num_rows:
        twice = counted.filter(pc.greater(counted.column("count_all"), 1)).slice(0, 1)
        key = ", ".join(str(twice.column(name)[0].as_py()) for name in names)
        raise IntegrityError(
            f"{plan.statement} would change row ({', '.join(names)}) = ({key}) of table "
            f"'{plan.table.name}' more than once",
            hint="see that at most one source row matches each row of the table",
            sqlstate="21000",
        )


def picked_columns(
    rows: pa.Table, places: Sequence[int], indices: Positions
) -> Sequence[pa.ChunkedArray]:
    """Some columns of distinct rows; without a copy where these are all, in their order."""
    if len(indices) == rows.num_rows and ascend(indices):
        return [rows.column(place) for place in places]
    return [rows.column(place).take(pa.array(indices)) for place in places]


def ascend(indices: Positions) -> bool:
    """Whether rows are in their order, each once."""
    return bool((indices[1:] > indices[:-1]).all())
