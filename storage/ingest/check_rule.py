"""CHECK constraints as a rule on rows: which of them the columns at hand decide.

An INSERT has whole rows, so its constraints are decided before anything is looked up. An UPSERT of
a row that is there sets some columns and leaves the others as they are stored: a constraint about
both kinds is decided on the row that comes of it, when that is found, and so are all of an UPDATE,
whose row may not be there (`transaction/resulting_rows`). One about stored columns alone holds.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.catalog.check_constraint import CheckConstraint
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.predicate.condition_eval import holds, truth
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.cells import from_cell
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import CheckViolationError

Mask = npt.NDArray[np.bool_]


class RowsSet(NamedTuple):
    """What operations do; `changed`: the columns that they set in rows that are there already."""

    kind: RowOpKind
    changed: Collection[int]


def decided_now(table: TableInfo, rows: RowsSet) -> Sequence[CheckConstraint]:
    """The constraints that the cells at hand decide."""
    return [check for check in table.checks if _is_decided(check, table, rows)]


def decided_later(table: TableInfo, rows: RowsSet) -> Sequence[CheckConstraint]:
    """The constraints that are decided when the rows are found."""
    return [
        check
        for check in table.checks
        if _concerns(check, rows) and not _is_decided(check, table, rows)
    ]


def _concerns(check: CheckConstraint, rows: RowsSet) -> bool:
    """Whether operations may break a constraint."""
    if rows.kind.deletes:
        return False
    return rows.kind.may_insert or not check.column_ids.isdisjoint(rows.changed)


def _is_decided(check: CheckConstraint, table: TableInfo, rows: RowsSet) -> bool:
    key_ids = table.schema.key_ids
    if not rows.kind.may_insert:
        return False
    return rows.kind.numbers or all(i in key_ids or i in rows.changed for i in check.column_ids)


def find_violations(
    table: TableInfo, checks: Sequence[CheckConstraint], columns: Mapping[int, pa.Array]
) -> tuple[Mask, Callable[[int], CheckConstraint]] | None:
    """The rows that violate constraints, and a function for the first constraint that a row does.

    `columns`: by id, those that the constraints are about among them. None where all rows pass.
    """
    types = {column.id: column.type for column in table.schema.columns}
    masks = [truth(check.condition, columns, types).false for check in checks]
    if not any(mask.any() for mask in masks):
        return None

    def first(row: int) -> CheckConstraint:
        return next(check for check, mask in zip(checks, masks, strict=True) if mask[row])

    joined: Mask = np.logical_or.reduce(masks)
    return joined, first


def check_cells(
    table: TableInfo, checks: Sequence[CheckConstraint], cells: Mapping[int, Cell]
) -> None:
    """See that one row passes constraints.

    `cells`: by column id, those of the constraints and the key among them. Raises
    CheckViolationError: it breaks one.
    """
    for check in checks:
        if holds(check.condition, cells) is False:
            columns = table.schema.key_columns
            values = [str(from_cell(cells[column.id], column.type)) for column in columns]
            key = f"({', '.join(column.name for column in columns)}) = ({', '.join(values)})"
            raise violation_error(table, check, key)


def violation_error(table: TableInfo, check: CheckConstraint, key: str) -> CheckViolationError:
    """The error of a row; `key`: of the row, for people."""
    return CheckViolationError(
        f"the row {key} of table '{table.name}' violates CHECK constraint '{check.name}': "
        f"{check.text(table.schema)}",
        hint=f"give other values, or ALTER TABLE {table.name} DROP CONSTRAINT {check.name}",
    )
