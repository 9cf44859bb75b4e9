"""The counters of tables: hidden ones of a NON UNIQUE PRIMARY KEY, and identity columns.

Kudu counts within each tablet (KUDU-1945); one counter a table gives the same guarantee, a value
never given out twice, and lets the counter be the whole key of a hash-partitioned table. INSERT is
numbered; UPSERT, UPDATE and DELETE name the number as a part of the key, and an UPSERT beyond the
counter moves it up. It starts above the highest value in any row of the table, deleted ones
included, when it is first needed; values of rolled-back rows leave gaps.

An identity column is a column of a unique key. INSERT numbers rows that leave it out, and whatever
may insert those that have NULL in it. Rows may bring values of their own, which move the counter up
before others of their batch are numbered.
"""

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING
from pykudu_sql.storage.errors import NotNullError, ValueOutOfRangeError

if TYPE_CHECKING:
    from pykudu_sql.storage.catalog.table_info import TableInfo
    from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
    from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema
    from pykudu_sql.storage.common.types.types import Cell
    from pykudu_sql.storage.tablet.tablet import Tablet


class AutoIncrement:
    """Gives out counter values. Safe for threads."""

    def __init__(self, tablets: Mapping[str, "Tablet"]) -> None:
        """Count for tables on these tablets, by UUID."""
        self._tablets = tablets
        self._next: dict[str, int] = {}
        self._lock = threading.Lock()

    def number(self, table: "TableInfo", operations: "RowOperations") -> "RowOperations":
        """A batch with the counter's column filled, for the kinds that are numbered.

        Raises NotNullError: an UPSERT does not set the hidden counter; ValueOutOfRangeError: an
        INSERT sets it, or the counter is used up.
        """
        import numpy as np
        import pyarrow as pa

        counter, kind = counted_column(table.schema), operations.kind
        if counter is None or not kind.may_insert:
            return operations
        explicit = operations.columns.get(counter.id)
        if table.schema.auto_incrementing:
            check_counter(table, kind, explicit is not None)
        elif explicit is not None:
            return self._with_nulls_numbered(table, counter, operations)
        if explicit is not None or not kind.numbers:
            return operations
        first = self._reserve(table, operations.length)
        numbers = np.arange(first, first + operations.length, dtype=np.int64)
        columns = {**operations.columns, counter.id: pa.array(numbers, counter.type.arrow)}
        return replace(operations, columns=columns)

    def _with_nulls_numbered(
        self, table: "TableInfo", counter: "ColumnSchema", operations: "RowOperations"
    ) -> "RowOperations":
        """A batch whose rows with NULL in the counter's column are numbered."""
        import numpy as np
        import pyarrow as pa

        from pykudu_sql.storage.common.types import compute as pc
        from pykudu_sql.storage.common.types.arrays import plain

        values = operations.columns[counter.id]
        if not values.null_count:
            return operations
        self.note_rows(table, operations)
        is_null = pc.is_null(plain(values)).to_numpy(zero_copy_only=False)
        numbers = pc.fill_null(plain(values), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        first = self._reserve(table, values.null_count)
        numbers[is_null] = np.arange(first, first + values.null_count)
        columns = {**operations.columns, counter.id: pa.array(numbers, counter.type.arrow)}
        return replace(operations, columns=columns)

    def number_row(
        self, table: "TableInfo", kind: "RowOpKind", cells: Mapping[int, "Cell"]
    ) -> Mapping[int, "Cell"]:
        """`number` for the cells of one row of a table that counts, of a kind that may insert."""
        counter = required_counter(table.schema).id
        if table.schema.auto_incrementing:
            check_counter(table, kind, counter in cells)
            if counter in cells:
                return cells
        if cells.get(counter) is not None or not (kind.numbers or counter in cells):
            return cells
        return {**cells, counter: self._reserve(table, 1)}

    def _reserve(self, table: "TableInfo", count: int) -> int:
        """Reserve some values and return the first."""
        with self._lock:
            first = self._following(table)
            check_room(table, first + count - 1)
            self._next[table.id] = first + count
            return first

    def note_rows(self, table: "TableInfo", operations: "RowOperations") -> None:
        """Never give out again what rows of a table bring with them, if it counts."""
        from pykudu_sql.storage.common.types import compute as pc

        counter = counted_column(table.schema)
        if counter is not None and operations.kind.may_insert:
            highest = pc.max(operations.columns[counter.id]).as_py()
            if highest is not None:
                self.note(table, operations.kind, highest)

    def note(self, table: "TableInfo", kind: "RowOpKind", highest: int) -> None:
        """Never give out again what rows of an operation bring with them.

        Args:
            table: that counts.
            kind: of the operation; one that does not insert brings nothing.
            highest: of the values.
        """
        if kind.may_insert:
            with self._lock:
                self._next[table.id] = max(self._following(table), highest + 1)

    def _following(self, table: "TableInfo") -> int:
        next_value = self._next.get(table.id)
        return self._highest(table) + 1 if next_value is None else next_value

    def _highest(self, table: "TableInfo") -> int:
        column = required_counter(table.schema)
        # Those of a table that is being made are not there yet.
        there = [self._tablets[info.id] for info in table.tablets if info.id in self._tablets]
        return max((_highest(tablet, column) for tablet in there), default=0)


def counted_column(schema: "Schema") -> "ColumnSchema | None":
    """The column that a counter fills: the hidden one, an identity column, or none."""
    return schema.key_columns[-1] if schema.auto_incrementing else schema.identity


def required_counter(schema: "Schema") -> "ColumnSchema":
    """The column that a counter fills, of a table that counts."""
    column = counted_column(schema)
    assert column is not None
    return column


def check_room(table: "TableInfo", last: int) -> None:
    """Check that the counter of a table may reach a value.

    Raises ValueOutOfRangeError: its column ends before.
    """
    bits = 8 * required_counter(table.schema).type.width
    if last.bit_length() >= bits:
        raise ValueOutOfRangeError(
            f"table '{table.name}': max auto-incrementing column value reached"
        )


def check_counter(table: "TableInfo", kind: "RowOpKind", is_explicit: bool) -> None:
    """Check that an operation sets the hidden counter of a table if, and only if, it should.

    `table`: that counts; `is_explicit`: whether it sets the counter. Raises ValueOutOfRangeError:
    an INSERT sets it; NotNullError: an UPSERT does not.
    """
    column = table.schema.key_columns[-1].name
    if kind.numbers and is_explicit:
        raise ValueOutOfRangeError(
            f"auto-incrementing column '{column}' of table '{table.name}' should not be set for "
            f"{kind}",
            hint="leave it out, or use UPSERT",
            sqlstate="428C9",
        )
    if not kind.numbers and not is_explicit:
        raise NotNullError(
            f"auto-incrementing column '{column}' of table '{table.name}' should be set for {kind}",
            hint="INSERT numbers new rows; name the column to UPSERT a row by its number",
        )


def _highest(tablet: "Tablet", column: "ColumnSchema") -> int:
    """The highest value of a column in all rows of a tablet, 0 when there are none."""
    from pykudu_sql.storage.common.types import compute as pc

    components = tablet.components
    highest = 0
    for memrowset in (components.memrowset, *components.flushing):
        values = memrowset.column(column, memrowset.row_count(EVERYTHING))
        highest = max(highest, pc.max(values).as_py() or 0)
    for rowset in components.tree.rowsets:
        zone_map = rowset.base.zone_map(column.id)
        top = None if zone_map is None else zone_map.column_stats.max
        highest = max(highest, top if isinstance(top, int) else 0)
    return highest
