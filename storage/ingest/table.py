"""Rows of a table to the tablets that hold them, and blocks of tablets back to one Arrow table.

The two crossings between what a statement hands over (columns of any tablet) and what tablets take
and give (`KeyedOperations`, `RowBlock`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.keys.key_encoder import MAX_ENCODED_KEY_BYTES
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind, check_columns
from pykudu_sql.storage.common.types.arrays import cells_to_array, plain
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema
from pykudu_sql.storage.common.types.types import Cell, DataType
from pykudu_sql.storage.errors import AlreadyPresentError, NotNullError, UncoveredRangeError
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock
from pykudu_sql.storage.tablet.write.keyed_operations import KeyedOperations

_MOSTLY = 8


@dataclass(frozen=True, slots=True)
class SetColumns:
    """What an operation sets in a row that is there already.

    Attributes:
        ids: see `KeyedOperations.set_ids`.
        fixed: see `KeyedOperations`.
    """

    ids: tuple[int, ...]
    fixed: str | None


@dataclass(frozen=True, slots=True)
class AssignedRows:
    """A batch whose keys are encoded and distinct and whose rows know their tablets.

    Attributes:
        operations: what to do.
        keys: encoded, one a row.
        tablets: index into the table's tablets, one a row, int32[n].
        changed: what is set in rows that are there already.
    """

    operations: RowOperations
    keys: EncodedKeys
    tablets: npt.NDArray[np.int32]
    changed: SetColumns


def complete(table: TableInfo, operations: RowOperations) -> RowOperations:
    """The operations with every column that an insert needs, unset ones at their write default.

    Raises:
        NotNullError: a NOT NULL column has neither a value nor a default, or a value is NULL.
        ValueTooLargeError: a cell is over its limit.
    """
    check_columns(table.schema, operations.columns, table.name)
    if not operations.kind.may_insert:
        return operations
    columns: dict[int, pa.Array] = {}
    for column in table.schema.columns:
        given = operations.columns.get(column.id)
        columns[column.id] = (
            _default(table.name, column, operations.length) if given is None else given
        )
    return replace(operations, columns=columns)


def _default(table: str, column: ColumnSchema, length: int) -> pa.Array:
    check_default(table, column)
    cell = cells_to_array([column.write_default], column.type)
    return cell.take(pa.array(np.zeros(length, np.int64)))


def check_default(table: str, column: ColumnSchema) -> None:
    """See that an INSERT may leave a column out.

    Raises:
        NotNullError: it is NOT NULL and has no default.
    """
    if column.write_default is None and not column.nullable:
        raise NotNullError(
            f"no value provided for required column '{column.name}' of table '{table}'",
            hint="give a value, or set a DEFAULT",
        )


def complete_cells(table: TableInfo, cells: Mapping[int, Cell]) -> dict[int, Cell]:
    """`complete` for the cells of one row, in the order of the table's columns."""
    full: dict[int, Cell] = {}
    for column in table.schema.columns:
        if column.id in cells:
            full[column.id] = cells[column.id]
        else:
            check_default(table.name, column)
            full[column.id] = column.write_default
    return full


def set_columns(schema: Schema, kind: RowOpKind, columns: Mapping[int, object]) -> SetColumns:
    """What an operation sets in a present row: *_IGNORE leaves immutable columns alone."""
    ids = tuple([i for i in columns if i not in schema.key_ids])
    immutable = schema.immutable_ids
    if not immutable or kind.numbers or immutable.isdisjoint(ids):
        return SetColumns(ids, None)
    if kind.ignores:
        return SetColumns(tuple(i for i in ids if i not in immutable), None)
    return SetColumns(ids, next(schema.by_id[i].name for i in ids if i in immutable))


def assign(table: TableInfo, operations: RowOperations, changed: SetColumns) -> AssignedRows:
    """Encode keys, settle keys that a batch names twice, and find each row's tablet.

    A key named twice is an error in an INSERT; the first counts for INSERT_IGNORE and DELETE, the
    last for the others.

    Args:
        table: to be written.
        operations: complete.
        changed: what it sets in rows that are there already.

    Raises:
        AlreadyPresentError: an INSERT names a key twice.
        UncoveredRangeError: a key lies outside all range partitions.
        ValueTooLargeError: a key is over its limit.
    """
    columns, keys = operations.columns, table.key_encoder.encode(operations.columns)
    order = keys.argsort()
    repeated = keys.duplicates(order)
    if len(repeated):
        kept = _settle(table, operations, keys, order, repeated)
        columns, keys = take(columns, kept), keys.take(kept)
        operations = RowOperations(operations.kind, columns, len(kept))
    tablets = table.assigner.assign({i: columns[i] for i in table.schema.key_ids})
    return AssignedRows(operations, keys, tablets, changed)


@dataclass(frozen=True, slots=True)
class TabletRows:
    """The rows of a batch that belong to one tablet.

    Attributes:
        tablet: index into the table's tablets.
        batch: what to do.
        places: of the rows in the whole batch, ascending, int64[n].
    """

    tablet: int
    batch: KeyedOperations
    places: npt.NDArray[np.int64]


def tablet_of_key(table: TableInfo, key: tuple[Cell, ...]) -> int | None:
    """The index of the tablet that a key belongs to; None outside all range partitions."""
    if len(table.tablets) == 1 and not table.partition_schema.range_column_ids:
        return 0
    try:
        return table.assigner.assign_one(dict(zip(table.schema.key_ids, key, strict=True)))
    except UncoveredRangeError:
        return None


def can_hold(table: TableInfo, key: tuple[Cell, ...]) -> bool:
    """Whether a row of a table can have a key: some range covers it and it is not too long."""
    encoder = table.key_encoder
    if not encoder.width and len(encoder.encode_one(key)) > MAX_ENCODED_KEY_BYTES:
        return False
    return table.assigner.covers(dict(zip(table.schema.key_ids, key, strict=True)))


def split(rows: AssignedRows) -> Iterator[TabletRows]:
    """The rows of each tablet."""
    whole = KeyedOperations(rows.operations, rows.keys, rows.changed.ids, rows.changed.fixed)
    for index in np.unique(rows.tablets).tolist():
        mine = np.flatnonzero(rows.tablets == index)
        yield TabletRows(index, choose(whole, mine), mine)


def choose(batch: KeyedOperations, places: npt.NDArray[np.int64]) -> KeyedOperations:
    """Some rows of a batch, by their places."""
    if len(places) == len(batch.keys):
        return batch
    columns = take(batch.operations.columns, places)
    part = RowOperations(batch.kind, columns, len(places))
    return KeyedOperations(part, batch.keys.take(places), batch.set_ids, batch.fixed)


def _settle(
    table: TableInfo,
    operations: RowOperations,
    keys: EncodedKeys,
    order: npt.NDArray[np.int64],
    repeated: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    kind = operations.kind
    if kind is RowOpKind.INSERT:
        raise given_twice(table, operations.columns, int(order[repeated[0]]))
    firsts = (RowOpKind.INSERT_IGNORE, RowOpKind.DELETE, RowOpKind.DELETE_IGNORE)
    dropped = np.zeros(len(keys), np.bool_)
    # The sort is stable: of equal keys the one given earlier stands first.
    dropped[order[repeated if kind in firsts else repeated - 1]] = True
    return np.flatnonzero(~dropped)


def given_twice(
    table: TableInfo, columns: Mapping[int, pa.Array], place: int
) -> AlreadyPresentError:
    """The error that says an INSERT has the key of one of its rows twice."""
    return AlreadyPresentError(
        f"key given twice in one INSERT into table '{table.name}': "
        f"{key_text(table, columns, place)}",
        hint="use UPSERT to keep the last, or INSERT OR IGNORE to keep the first",
    )


def key_text(table: TableInfo, columns: Mapping[int, pa.Array], place: int) -> str:
    """The key of one row of a batch for people: `(id) = (5)`; NULL where it has no value."""
    names = ", ".join(c.name for c in table.schema.key_columns)
    values = [plain(columns[i].slice(place, 1))[0].as_py() for i in table.schema.key_ids]
    shown = ", ".join("NULL" if value is None else str(value) for value in values)
    return f"({names}) = ({shown})"


def take(columns: Mapping[int, pa.Array], places: npt.NDArray[np.int64]) -> dict[int, pa.Array]:
    """Some rows of a batch, by their places."""
    chosen = pa.array(places)
    return {i: values.take(chosen) for i, values in columns.items()}


def assemble(columns: Sequence[ColumnSchema], blocks: Iterator[RowBlock]) -> pa.Table:
    """Blocks as one Arrow table, a chunk a block, with the columns' names.

    Dictionary-encoded strings stay so where nearly all of a column is encoded.
    """
    chunks: list[list[pa.Array]] = [[] for _ in columns]
    rows = 0
    for block in blocks:
        rows += block.length
        for chunk, values in zip(chunks, block.columns, strict=True):
            chunk.append(values)
    if not columns:
        return pa.table({"rows": pa.nulls(rows)}).select([])
    arrays = [unify(part, column.type) for part, column in zip(chunks, columns, strict=True)]
    return pa.Table.from_arrays(arrays, names=[column.name for column in columns])


def unify(chunks: Sequence[pa.Array], column_type: DataType) -> pa.ChunkedArray:
    """Chunks of one column, some dictionary-encoded perhaps, as one chunked array."""
    encoded = [chunk for chunk in chunks if pa.types.is_dictionary(chunk.type)]
    if not encoded:
        return pa.chunked_array(chunks, column_type.arrow)
    total = sum(len(chunk) for chunk in chunks)
    if (total - sum(len(chunk) for chunk in encoded)) * _MOSTLY > total:
        return pa.chunked_array([plain(chunk) for chunk in chunks], column_type.arrow)
    dictionaries = [c if pa.types.is_dictionary(c.type) else c.dictionary_encode() for c in chunks]
    widest = max((c.indices.type for c in dictionaries), key=lambda kind: int(kind.bit_width))
    return pa.chunked_array([_widen(c, widest) for c in dictionaries])


def _widen(values: pa.DictionaryArray, index_type: pa.DataType) -> pa.DictionaryArray:
    if values.indices.type == index_type:
        return values
    return pa.DictionaryArray.from_arrays(values.indices.cast(index_type), values.dictionary)
