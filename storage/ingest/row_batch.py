"""A batch of rows on its way into a table: complete, and each row with its place in the statement.

First the set of columns is checked, which fits all rows of a batch or none; then an INSERT or
UPSERT gets the columns that it leaves out. Single rows are checked by `validation` and
assigned to tablets by `routing`.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.cached_property import cached_property
from pykudu_sql.storage.common.column_defaults import default_array, default_cell
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import cells_to_array, plain
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import NotNullError, ProgrammingError
from pykudu_sql.storage.ingest.auto_increment import check_counter

Positions = npt.NDArray[np.int64]


class SetColumns(NamedTuple):
    """What an operation sets in a row that is there already.

    `ids`: see `KeyedOperations.set_ids`; `fixed`: see `KeyedOperations`.
    """

    ids: tuple[int, ...]
    fixed: str | None


@dataclass(frozen=True)
class RowBatch:
    """Rows of one kind of operation, with every column that this needs.

    Attributes:
        explicit: the columns that the statement sets; the others are at their defaults.
        changed: what is set in rows that are there already.
        positions: of the rows in the statement, int64[n].
    """

    table: TableInfo
    operations: RowOperations
    explicit: tuple[int, ...]
    changed: SetColumns
    positions: Positions

    @cached_property
    def keys(self) -> EncodedKeys:
        """The rows' keys; no cell of these may be NULL. They may be too long to be stored."""
        return self.table.key_encoder.encode(self.operations.columns)

    @cached_property
    def tablets(self) -> npt.NDArray[np.int32]:
        """Index into the table's tablets of each row, -1 outside all range partitions, int32[n]."""
        return self.table.assigner.find(self.key_columns)

    @property
    def key_columns(self) -> dict[int, pa.Array]:
        """The cells of the key."""
        return {i: self.operations.columns[i] for i in self.table.schema.key_ids}

    def take(self, indices: Positions) -> "RowBatch":
        """Some of the rows, by index."""
        columns = take(self.operations.columns, indices)
        operations = RowOperations(self.operations.kind, columns, len(indices))
        return replace(self, operations=operations, positions=self.positions[indices])

    def key_block(self, start: int, stop: int) -> "RowBatch":
        """The keys of rows that stand one behind another, without a copy."""
        rows = self.positions[start:stop]
        columns = {i: values.slice(start, len(rows)) for i, values in self.key_columns.items()}
        operations = RowOperations(self.operations.kind, columns, len(rows))
        return RowBatch(self.table, operations, tuple(columns), self.changed, rows)

    def key_text(self, row: int) -> str:
        """The key of one row for people; see `key_text`."""
        return key_text(self.table, self.operations.columns, row)


def complete(
    table: TableInfo, operations: RowOperations, time: StatementTime | None = None
) -> RowBatch:
    """Operations with every column that an insert needs, unset ones at their default.

    `operations`: what to do; the rows of a table that counts are numbered; `time`: of the
    statement, None for now. Raises NotNullError: a NOT NULL column has neither a value nor a
    default.
    """
    explicit = tuple(operations.columns)
    changed = set_columns(table.schema, operations.kind, operations.columns)
    if operations.kind.may_insert:
        time = time or StatementTime()
        columns: dict[int, pa.Array] = {}
        for column in table.schema.columns:
            values = operations.columns.get(column.id)
            columns[column.id] = (
                _default(table.name, column, time, operations.length) if values is None else values
            )
        operations = RowOperations(operations.kind, columns, operations.length)
    positions = np.arange(operations.length, dtype=np.int64)
    return RowBatch(table, operations, explicit, changed, positions)


def batch_of_one(
    table: TableInfo, kind: RowOpKind, cells: Mapping[int, Cell], explicit: Collection[int]
) -> RowBatch:
    """One row, its cells complete, as a batch.

    `cells`: by column id; `explicit`: the columns that the statement sets.
    """
    by_id = table.schema.by_id
    columns = {i: cells_to_array([cell], by_id[i].type) for i, cell in cells.items()}
    changed = set_columns(table.schema, kind, dict.fromkeys(explicit))
    place = np.zeros(1, np.int64)
    return RowBatch(table, RowOperations(kind, columns, 1), tuple(explicit), changed, place)


def _default(table: str, column: ColumnSchema, time: StatementTime, length: int) -> pa.Array:
    check_default(table, column)
    return plain(default_array(column, time, length))


def check_default(table: str, column: ColumnSchema) -> None:
    """See that an INSERT may leave a column out.

    Raises NotNullError: it is NOT NULL and has no default.
    """
    if not column.has_default and not column.nullable:
        raise NotNullError(
            f"no value provided for required column '{column.name}' of table '{table}'",
            hint="give a value, or set a DEFAULT",
        )


def complete_cells(
    table: TableInfo, cells: Mapping[int, Cell], time: StatementTime | None = None
) -> dict[int, Cell]:
    """`complete` for the cells of one row, in the order of the table's columns."""
    time = time or StatementTime()
    full: dict[int, Cell] = {}
    for column in table.schema.columns:
        if column.id in cells:
            full[column.id] = cells[column.id]
        else:
            check_default(table.name, column)
            full[column.id] = default_cell(column, time)
    return full


def set_columns(schema: Schema, kind: RowOpKind, columns: Mapping[int, object]) -> SetColumns:
    """What an operation sets in a present row: *_IGNORE leaves immutable columns alone."""
    key_ids = schema.key_ids
    ids = tuple([i for i in columns if i not in key_ids])
    immutable = schema.immutable_ids
    if not immutable or kind.numbers or immutable.isdisjoint(ids):
        return SetColumns(ids, None)
    if kind.ignores:
        return SetColumns(tuple(i for i in ids if i not in immutable), None)
    return SetColumns(ids, next(schema.by_id[i].name for i in ids if i in immutable))


def check_columns(table: TableInfo, kind: RowOpKind, column_ids: Collection[int]) -> None:
    """See that rows of some columns can be written, before there are any.

    Raises NotNullError: a column of the key is missing, or an insert lacks one that is NOT NULL and
    has no default; ProgrammingError: an UPDATE sets nothing but the key, or a DELETE more;
    ValueOutOfRangeError: an INSERT sets the table's hidden counter.
    """
    schema = table.schema
    if schema.auto_incrementing and kind.may_insert:
        check_counter(table, kind, schema.key_ids[-1] in column_ids)
    check_set(schema, kind, column_ids, table.name)
    if kind.may_insert:
        for column in schema.columns:
            is_counted = kind.numbers and (schema.is_hidden(column) or column.identity)
            if column.id not in column_ids and not is_counted:
                check_default(table.name, column)


def check_set(schema: Schema, kind: RowOpKind, column_ids: Collection[int], table: str) -> None:
    """Check that a kind of operation may set just these columns.

    `column_ids`: the columns set. Raises NotNullError: a column of the key is not set, other than
    the counter of an INSERT and what has a default; ProgrammingError: an UPDATE sets nothing but
    the key, or a DELETE more than that.
    """
    for column in schema.key_columns:
        if column.id in column_ids:
            continue
        is_counted = schema.is_hidden(column) or column.identity
        if not (kind.numbers and (is_counted or column.has_default)):
            if schema.is_hidden(column):
                raise NotNullError(f"{column.name} of table '{table}' should be set for {kind}")
            raise NotNullError(
                f"no value provided for key column '{column.name}' of table '{table}'",
                hint=_why_whole_key(schema, kind),
            )
    if not kind.updates and not kind.deletes:
        return
    others = [i for i in column_ids if i not in schema.key_ids]
    if kind.updates and not others:
        raise ProgrammingError(
            f"no fields updated: {kind} of table '{table}' sets only its key", sqlstate="42601"
        )
    if kind.deletes and others:
        raise ProgrammingError(
            f"{kind} should not have a value for column '{schema.by_id[others[0]].name}' of table "
            f"'{table}'",
            hint="give only the columns of the key",
            sqlstate="42601",
        )


def _why_whole_key(schema: Schema, kind: RowOpKind) -> str:
    """Why an operation needs each column of the key."""
    if kind.updates or kind.deletes:
        return f"{kind} finds rows by their whole key"
    names = ", ".join(c.name for c in schema.key_columns if not schema.is_hidden(c))
    return f"each row needs the whole key ({names}); only columns with a DEFAULT can be left out"


def key_text(table: TableInfo, columns: Mapping[int, pa.Array], row: int) -> str:
    """The key of one row of a batch for people: `(id) = (5)`; NULL where it has no value."""
    names = ", ".join(c.name for c in table.schema.key_columns)
    values = [plain(columns[i].slice(row, 1))[0].as_py() for i in table.schema.key_ids]
    text = ", ".join("NULL" if value is None else str(value) for value in values)
    return f"({names}) = ({text})"


def take(columns: Mapping[int, pa.Array], rows: Positions) -> dict[int, pa.Array]:
    """Some rows of columns, by index."""
    indices = integers(rows)
    return {i: pc.pick(values, indices) for i, values in columns.items()}
