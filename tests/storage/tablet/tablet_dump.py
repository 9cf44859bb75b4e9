"""A tablet in words: rowsets, rows by ordinal, and the deltas of each row.

Laid out like the pictures of Kudu's design note (`docs/design-docs/tablet.md`). For people and for
golden tests; it reads every row, so it is not for large tablets.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa

from pykudu_sql.storage.common.types.arrays import array_to_cells
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import Deltas
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.tablet import Tablet

ShowTime = Callable[[int], str]


def dump_tablet(tablet: Tablet, show_time: ShowTime = str) -> str:
    """The text of a tablet.

    Args:
        tablet: to print.
        show_time: how a hybrid time is written.
    """
    components = tablet.components
    lines: list[str] = []
    for memrowset in (components.memrowset, *components.flushing):
        lines += _memrowset(tablet, memrowset, show_time)
    for rowset in components.tree.rowsets:
        lines += _diskrowset(tablet, rowset, show_time)
    return "\n".join(lines)


def _memrowset(tablet: Tablet, memrowset: MemRowSet, show_time: ShowTime) -> Iterator[str]:
    rows = len(memrowset)
    yield f"MemRowSet: {rows} rows"
    schema = tablet.schema.columns
    columns = [memrowset.column(column, rows) for column in schema]
    times = memrowset.insertion_times(rows)
    changes = _by_ordinal(memrowset.deltas.deltas(), tablet, show_time)
    for ordinal, row in enumerate(_rows(schema, columns)):
        yield f"  {ordinal}: {row} inserted @{show_time(int(times[ordinal]))}"
        for change in changes.get(ordinal, ()):
            yield f"       {change}"


def _diskrowset(tablet: Tablet, rowset: DiskRowSet, show_time: ShowTime) -> Iterator[str]:
    meta, tracker = rowset.meta, rowset.tracker
    yield f"DiskRowSet: {meta.rows} rows"
    schema = tablet.schema.columns
    columns = [rowset.base.column(column, 0, meta.rows) for column in schema]
    undo = [_by_ordinal(file.deltas(), tablet, show_time) for file in tracker.undo]
    redo = [_by_ordinal(file.deltas(), tablet, show_time) for file in tracker.redo]
    memory = [_by_ordinal(store.deltas(), tablet, show_time) for store in tracker.stores]
    for ordinal, row in enumerate(_rows(schema, columns)):
        yield f"  {ordinal}: {row}"
        if tracker.inserted_at is not None:
            yield f"       UNDO @{show_time(tracker.inserted_at)} DELETE (whole rowset)"
        for name, files in (("UNDO", undo), ("REDO", redo), ("DeltaMemStore", memory)):
            for file in files:
                for change in file.get(ordinal, ()):
                    yield f"       {name} {change}"


def _rows(schema: Sequence[ColumnSchema], columns: Sequence[pa.Array]) -> Iterator[str]:
    cells = [array_to_cells(v, c.type) for c, v in zip(schema, columns, strict=True)]
    for row in zip(*cells, strict=True):
        yield f"({', '.join(map(_show, row))})"


def _by_ordinal(deltas: Deltas, tablet: Tablet, show_time: ShowTime) -> Mapping[int, Sequence[str]]:
    """The changes of each row, in the order in which they are stored."""
    cells: dict[int, list[str]] = {}
    for column_id, changed in deltas.cells.items():
        column = tablet.column_schemas[column_id]
        values = array_to_cells(changed.values, column.type)
        for position, cell in zip(changed.positions.tolist(), values, strict=True):
            cells.setdefault(position, []).append(f"{column.name}={_show(cell)}")
    lines: dict[int, list[str]] = {}
    for position, ordinal in enumerate(deltas.ordinals.tolist()):
        time = show_time(int(deltas.timestamps[position]))
        kind = DeltaKind(int(deltas.kinds[position])).name
        sets = f" ({', '.join(cells[position])})" if position in cells else ""
        lines.setdefault(ordinal, []).append(f"@{time} {kind}{sets}")
    return lines


def _show(cell: Cell) -> str:
    if cell is None:
        return "NULL"
    return f'"{cell}"' if isinstance(cell, str) else str(cell)
