"""Validation: the rules that every written row must satisfy, in their order.

A rule looks at a batch and gives a mask of the rows that it refuses, with the reason of each. They
stand in the order in which Kudu finds fault (`common/row_operations.cc`, then `tablet/tablet.cc`):
cell by cell in the order of the columns, then the row, then its encoded key, then the partition
that would take it. Whether the key exists already is for the tablet to say (`keyed_operations`).

Who writes says what happens to refused rows: `raise_first` ends the statement with the first
reason; whoever collects takes the rows out of the batch and goes on with the others.

A single row is a batch of one. So that it need not become one, each rule has a precheck: a cheap
condition under which the rule cannot refuse a row of a table, made once for a table that has such
rows at all. Where one fails, the batch of one is validated, and gives the error. Only the range
partition is left to the row's own routing.
"""

from collections.abc import Callable, Collection, Mapping
from typing import NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.predicate.condition_eval import holds
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import plain, validity
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import MAX_CELL_BYTES, Cell
from pykudu_sql.storage.errors import (
    DatabaseError,
    NotNullError,
    ValueOutOfRangeError,
    ValueTooLargeError,
)
from pykudu_sql.storage.ingest.check_rule import (
    RowsSet,
    decided_now,
    find_violations,
    violation_error,
)
from pykudu_sql.storage.ingest.row_batch import RowBatch, batch_of_one

MAX_ENCODED_KEY_BYTES = 16 * 1024

Cells = Mapping[int, Cell]
Mask = npt.NDArray[np.bool_]
Precheck = Callable[[Cells], bool]
MakePrecheck = Callable[[TableInfo], Precheck | None]


@dataclass(frozen=True, slots=True)
class Violation:
    """Rows that a rule refuses.

    `mask`: which, bool[n]; `reason`: the error of the row in a place.
    """

    mask: Mask
    reason: Callable[[int], DatabaseError]


@dataclass(frozen=True, slots=True)
class CellRule:
    """A rule on the cells of each column by itself.

    Attributes:
        check: a batch and one of the columns that it sets to the rows refused; None, or a mask
            without any, where all fit.
        precheck: for a table, whether one row surely fits; False where only `check` decides. None
            for a table whose rows all do.
    """

    check: Callable[[RowBatch, ColumnSchema], Violation | None]
    precheck: MakePrecheck


@dataclass(frozen=True, slots=True)
class RowRule:
    """A rule on whole rows.

    `check`: a batch to the rows refused; `precheck`: both as of `CellRule`; None for the rule that
    `PartitionAssigner.assign_one` applies to a single row, with the same error.
    """

    check: Callable[[RowBatch], Violation | None]
    precheck: MakePrecheck | None


Refuse = Callable[[RowBatch, Violation], RowBatch]


def validate(batch: RowBatch, refuse: Refuse) -> RowBatch:
    """Apply the rules on cells and rows.

    Args:
        batch: the rows; those named by address have no cells of their key.
        refuse: what to do with refused rows; gives the batch without them.

    Returns the rows that are left.
    """
    for column_id in batch.explicit:
        for cell_rule in CELL_RULES:
            violation = cell_rule.check(batch, batch.table.schema.by_id[column_id])
            batch = _without(batch, violation, refuse)
    return _apply(ROW_RULES, batch, refuse)


def validate_keys(batch: RowBatch, refuse: Refuse) -> RowBatch:
    """Apply the rules on keys and partitions, for rows that `validate` has left; see there."""
    return _apply(KEY_RULES, batch, refuse)


def _apply(rules: tuple[RowRule, ...], batch: RowBatch, refuse: Refuse) -> RowBatch:
    for rule in rules:
        batch = _without(batch, rule.check(batch), refuse)
    return batch


def _without(batch: RowBatch, violation: Violation | None, refuse: Refuse) -> RowBatch:
    return refuse(batch, violation) if violation is not None and violation.mask.any() else batch


def raise_first(batch: RowBatch, violation: Violation) -> NoReturn:
    """All or nothing: the first row refused ends the statement.

    Raises IntegrityError, DataError: the row's reason.
    """
    raise violation.reason(int(np.argmax(violation.mask)))


def prechecks(table: TableInfo) -> tuple[Precheck, ...]:
    """The conditions under which no rule refuses a row of a table; see `CellRule`."""
    makers = [rule.precheck for rule in (*CELL_RULES, *ROW_RULES, *KEY_RULES)]
    all_prechecks = (make(table) for make in makers if make is not None)
    return tuple(precheck for precheck in all_prechecks if precheck is not None)


def check_row(table: TableInfo, kind: RowOpKind, cells: Cells, explicit: Collection[int]) -> None:
    """Apply all rules to one row, but for that on the range partition.

    `cells`: complete, by column id; `explicit`: the columns that the statement sets. Raises
    IntegrityError, DataError: what `validate` and `validate_keys` say of the batch of one.
    """
    batch = batch_of_one(table, kind, cells, explicit)
    validate_keys(validate(batch, raise_first), raise_first)


def can_hold(table: TableInfo, key: tuple[Cell, ...]) -> bool:
    """Whether a row of a table can have a key: some range covers it and it is not too long."""
    encoder = table.key_encoder
    if not encoder.width and len(encoder.encode_one(key)) > MAX_ENCODED_KEY_BYTES:
        return False
    return table.assigner.covers(dict(zip(table.schema.key_ids, key, strict=True)))


def _check_null(batch: RowBatch, column: ColumnSchema) -> Violation | None:
    valid = None if column.nullable else validity(batch.operations.columns[column.id])
    if valid is None:
        return None
    error = NotNullError(
        f"NULL values not allowed for non-nullable column '{column.name}' of table "
        f"'{batch.table.name}'",
        hint="give a value, or leave the column out if it has a DEFAULT",
    )
    return Violation(~valid, lambda row: error)


def _precheck_null(table: TableInfo) -> Precheck:
    required = table.schema.required_ids

    def fits(cells: Cells) -> bool:
        return None not in cells.values() or required.isdisjoint(
            [column_id for column_id, cell in cells.items() if cell is None]
        )

    return fits


def _check_cell_size(batch: RowBatch, column: ColumnSchema) -> Violation | None:
    values = batch.operations.columns[column.id]
    if not column.type.is_variable or _longest(values) <= MAX_CELL_BYTES:
        return None
    sizes = pc.fill_null(pc.binary_length(plain(values)), 0).to_numpy(zero_copy_only=False)

    def reason(row: int) -> ValueTooLargeError:
        return ValueTooLargeError(
            f"value too large for column '{column.name}' ({sizes[row]} bytes, maximum is "
            f"{MAX_CELL_BYTES} bytes)"
        )

    return Violation(sizes > MAX_CELL_BYTES, reason)


def _longest(values: pa.Array) -> int:
    words = values.dictionary if pa.types.is_dictionary(values.type) else values
    return int(pc.max(pc.binary_length(words)).as_py() or 0)


def _precheck_cell_size(table: TableInfo) -> Precheck | None:
    variable_ids = table.schema.variable_ids

    def fits(cells: Cells) -> bool:
        # A character takes at most four bytes.
        for column_id in variable_ids:
            cell = cells.get(column_id)
            if cell is not None and len(cell) * 4 > MAX_CELL_BYTES:  # type: ignore[arg-type]
                return False
        return True

    return fits if variable_ids else None


def _check_counter(batch: RowBatch) -> Violation | None:
    schema = batch.table.schema
    counter = schema.key_ids[-1]
    if not schema.auto_incrementing or not batch.operations.kind.may_insert:
        return None
    numbers = batch.operations.columns[counter].to_numpy(zero_copy_only=False)
    if not len(numbers) or int(numbers.min()) >= 0:
        return None
    return Violation(numbers < 0, lambda row: _negative_number(batch.table, int(numbers[row])))


def _negative_number(table: TableInfo, value: int) -> ValueOutOfRangeError:
    column = table.schema.key_columns[-1].name
    return ValueOutOfRangeError(
        f"auto-incrementing column '{column}' of table '{table.name}' cannot be {value}",
        hint="values start at 1",
    )


def _precheck_counter(table: TableInfo) -> Precheck | None:
    counter = table.schema.key_ids[-1]

    def fits(cells: Cells) -> bool:
        number = cells[counter]
        return isinstance(number, int) and number >= 0

    return fits if table.schema.auto_incrementing else None


def _check_constraints(batch: RowBatch) -> Violation | None:
    table, operations = batch.table, batch.operations
    if not table.checks or not operations.length:
        return None
    columns = operations.columns
    checks = decided_now(table, RowsSet(operations.kind, batch.changed.ids))
    violated = find_violations(table, checks, columns) if checks else None
    if violated is None:
        return None
    mask, first = violated
    return Violation(mask, lambda row: violation_error(table, first(row), batch.key_text(row)))


def _precheck_constraints(table: TableInfo) -> Precheck | None:
    checks = table.checks

    def fits(cells: Cells) -> bool:
        return not any(
            cells.keys() >= check.column_ids and holds(check.condition, cells) is False
            for check in checks
        )

    return fits if checks else None


def _check_key_size(batch: RowBatch) -> Violation | None:
    sizes = batch.keys.sizes()
    if sizes is None or int(sizes.max(initial=0)) <= MAX_ENCODED_KEY_BYTES:
        return None

    def reason(row: int) -> ValueTooLargeError:
        return ValueTooLargeError(
            f"encoded primary key too large ({sizes[row]} bytes, maximum is "
            f"{MAX_ENCODED_KEY_BYTES} bytes)"
        )

    return Violation(sizes > MAX_ENCODED_KEY_BYTES, reason)


def _precheck_key_size(table: TableInfo) -> Precheck | None:
    key_ids = table.schema.key_ids

    def fits(cells: Cells) -> bool:
        # Zero bytes inside a key take two, its strings end with two more, numbers take at most 16.
        bound = 0
        for column_id in key_ids:
            cell = cells[column_id]
            bound += 8 * len(cell) + 2 if isinstance(cell, str | bytes) else 16
        return bound <= MAX_ENCODED_KEY_BYTES

    return None if table.key_encoder.width else fits


def _check_covered(batch: RowBatch) -> Violation | None:
    outside = batch.tablets < 0
    if not batch.table.partition_schema.range_column_ids:
        return None
    assigner, columns = batch.table.assigner, batch.key_columns
    return Violation(outside, lambda row: assigner.uncovered(columns, row))


CELL_RULES = (
    CellRule(_check_null, _precheck_null),
    CellRule(_check_cell_size, _precheck_cell_size),
)
ROW_RULES = (
    RowRule(_check_counter, _precheck_counter),
    RowRule(_check_constraints, _precheck_constraints),
)
KEY_RULES = (
    RowRule(_check_key_size, _precheck_key_size),
    RowRule(_check_covered, None),
)
