"""Rows of a batch to their tablets, and the handling of duplicate keys in it."""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.errors import AlreadyPresentError
from pykudu_sql.storage.ingest.row_batch import Positions, RowBatch, SetColumns, key_text, take
from pykudu_sql.storage.ingest.validation import Refuse, validate_keys
from pykudu_sql.storage.tablet.write.keyed_operations import KeyedOperations, effective_rows

_FIRST_COUNTS = (RowOpKind.INSERT_IGNORE, RowOpKind.DELETE, RowOpKind.DELETE_IGNORE)


@dataclass(frozen=True, slots=True)
class RoutedRows:
    """Rows whose keys are encoded and which know their tablets.

    Attributes:
        keys: encoded, one a row.
        tablets: index into the table's tablets, one a row, int32[n].
        changed: what is set in rows that are there already.
        positions: of the rows in the statement, int64[n].
        repeats: how many rows of the batch each stands for besides itself, int64[n]; None if no
            key repeats, or the first row of a key counts.
    """

    operations: RowOperations
    keys: EncodedKeys
    tablets: npt.NDArray[np.int32]
    changed: SetColumns
    positions: Positions
    repeats: npt.NDArray[np.int64] | None = None

    def repeated_changes(self, part: "TabletRows", alive: npt.NDArray[np.bool_]) -> int:
        """How many rows of a batch the rows of one tablet stand for besides themselves.

        Each of those is a change as well, if the one that stands for it is. `alive`: which keys
        exist.
        """
        if self.repeats is None:
            return 0
        return int(self.repeats[part.indices][effective_rows(part.batch, alive)].sum())


def route(batch: RowBatch, refuse: Refuse) -> RoutedRows:
    """Encode the keys of rows and find each row's tablet; a key may repeat.

    `batch`: validated; `refuse`: what to do with rows that no tablet takes.
    """
    rows = validate_keys(batch, refuse)
    return RoutedRows(rows.operations, rows.keys, rows.tablets, rows.changed, rows.positions)


def deduplicate(table: TableInfo, rows: RoutedRows) -> RoutedRows:
    """One row for each key, of rows that are done all or none.

    The first counts for INSERT_IGNORE and DELETE, the last for the others. `rows`: whose keys may
    repeat. Raises AlreadyPresentError: an INSERT names a key twice.
    """
    order = rows.keys.argsort()
    repeated = rows.keys.duplicates(order)
    if not len(repeated):
        return rows
    kind, columns = rows.operations.kind, rows.operations.columns
    if kind is RowOpKind.INSERT:
        raise duplicate_key_error(table, columns, int(order[repeated[0]]))
    dropped = np.zeros(len(rows.keys), np.bool_)
    # The sort is stable: of equal keys the one given earlier stands first.
    dropped[order[repeated if kind in _FIRST_COUNTS else repeated - 1]] = True
    selection = np.flatnonzero(~dropped)
    operations = RowOperations(kind, take(columns, selection), len(selection))
    keys, tablets = rows.keys.take(selection), rows.tablets[selection]
    repeats = None if kind in _FIRST_COUNTS else _repeats(order, repeated)[selection]
    return RoutedRows(operations, keys, tablets, rows.changed, rows.positions[selection], repeats)


def _repeats(order: Positions, repeated: Positions) -> npt.NDArray[np.int64]:
    """How many rows with its key stand before the last row of each key; 0 for the others.

    `order`: of the rows by key, a stable one; `repeated`: see `EncodedKeys.duplicates`.
    """
    begins = np.ones(len(order) + 1, np.bool_)
    begins[repeated] = False
    starts = np.flatnonzero(begins)
    counts = np.zeros(len(order), np.int64)
    counts[order[starts[1:] - 1]] = np.diff(starts) - 1
    return counts


def duplicate_key_error(
    table: TableInfo, columns: Mapping[int, pa.Array], row: int
) -> AlreadyPresentError:
    """The error for an INSERT that has the key of one of its rows twice."""
    return AlreadyPresentError(
        f"key given twice in one INSERT into table '{table.name}': {key_text(table, columns, row)}",
        hint="use UPSERT to keep the last, or INSERT OR IGNORE to keep the first",
    )


@dataclass(frozen=True, slots=True)
class TabletRows:
    """The rows of a batch that belong to one tablet.

    Attributes:
        tablet: index into the table's tablets.
        batch: what to do.
        indices: of the rows in the whole batch, ascending, int64[n].
    """

    tablet: int
    batch: KeyedOperations
    indices: Positions


def split(rows: RoutedRows) -> Iterator[TabletRows]:
    """The rows of each tablet."""
    whole = KeyedOperations(rows.operations, rows.keys, rows.changed.ids, rows.changed.fixed)
    for index in np.unique(rows.tablets).tolist():
        mine = np.flatnonzero(rows.tablets == index)
        yield TabletRows(index, take_rows(whole, mine), mine)


def take_rows(batch: KeyedOperations, indices: Positions) -> KeyedOperations:
    """Some rows of a batch, by index."""
    if len(indices) == len(batch.keys):
        return batch
    columns = take(batch.operations.columns, indices)
    part = RowOperations(batch.kind, columns, len(indices))
    return KeyedOperations(part, batch.keys.take(indices), batch.set_ids, batch.fixed)
