"""The rows of the system tables, computed from an open store when they are read.

Metadata, footers and counters only; no row of a user's table is decoded. Each table is a look at
the present, not at a snapshot: while others write, two of them may differ by a commit. Only those
of `information_schema` are those of a moment: that which is read, or when the transaction began.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple
from functools import partial

import pyarrow as pa

from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.information_schema import STANDARD_TABLES, standard_rows
from pykudu_sql.storage.catalog.namespace import ViewInfo, database_of
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.column_defaults import default_value
from pykudu_sql.storage.common.memory_budget import Holder
from pykudu_sql.storage.common.partition.partition_text import bounds_text, partition_text
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.hybrid_time import last_before, to_micros
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.fs.machine_memory import process_memory
from pykudu_sql.storage.maintenance.operation import OperationRun, OperationStats
from pykudu_sql.storage.open_store import OpenStore
from pykudu_sql.storage.upkeep.introspection import (
    TabletInside,
    column_file_infos,
    delta_file_infos,
    inside,
    intervals_of,
    rowset_infos,
)
from pykudu_sql.storage.upkeep.metrics import metric_values

SystemRow = tuple[Cell, ...]


def system_rows(store: OpenStore, table: TableInfo) -> pa.Table:
    """A table of the system as it is now, all columns.

    `store`: to look into; `table`: of `system_catalog.SYSTEM_TABLES`.
    """
    return _as_arrow(list(_ROWS[table.name](store)), table)


def rows_at(catalog: Catalog, store: OpenStore, table: TableInfo) -> pa.Table:
    """The same with `information_schema` as it lists the catalog of a moment."""
    if table.name in STANDARD_TABLES:
        return _as_arrow(list(standard_rows(catalog, table.name)), table)
    return system_rows(store, table)


def _as_arrow(rows: Sequence[SystemRow], table: TableInfo) -> pa.Table:
    columns = table.schema.columns
    arrays = [
        cells_to_array([row[number] for row in rows], column.type)
        for number, column in enumerate(columns)
    ]
    return pa.Table.from_arrays(arrays, names=[column.name for column in columns])


def _all_tables(store: OpenStore) -> Sequence[TableInfo]:
    tables = store.catalog.tables
    return [tables[name] for name in sorted(tables)]


def _all_views(store: OpenStore) -> Sequence[ViewInfo]:
    views = store.catalog.views
    return [views[name] for name in sorted(views)]


def _all_tablets(store: OpenStore) -> Iterator[tuple[TableInfo, int, TabletInside]]:
    for table in _all_tables(store):
        for number, info in enumerate(table.tablets):
            yield table, number, inside(store.tablets[info.id])


def _tables(store: OpenStore) -> Iterator[SystemRow]:
    for table in _all_tables(store):
        tablets = [inside(store.tablets[info.id]) for info in table.tablets]
        rows = (sum(one.rowsets for one in tablets), sum(one.live_rows for one in tablets))
        sizes = (sum(one.disk_bytes for one in tablets), sum(one.memory_bytes for one in tablets))
        counts = (len(tablets), *rows, *sizes)
        yield table.name, database_of(table.name), "TABLE", *counts, table.comment, table.id
    for view in _all_views(store):
        nothing = (None,) * 5
        yield view.name, database_of(view.name), "VIEW", *nothing, view.comment, view.id


def _columns(store: OpenStore) -> Iterator[SystemRow]:
    for table in _all_tables(store):
        schema = table.schema
        for number, column in enumerate(schema.columns, 1):
            default = default_value(column)
            key = schema.key_ids.index(column.id) + 1 if column.id in schema.key_ids else None
            value = None if default is None else str(default)
            stored = (str(column.encoding), str(column.compression), column.block_size)
            yield (
                *(table.name, column.name, number, str(column.type), column.nullable, key),
                *(column.immutable, schema.is_hidden(column), value, *stored, column.comment),
            )
    for view in _all_views(store):
        for number, view_column in enumerate(view.columns, 1):
            facts = (True, None, False, False, *(None,) * 4)
            yield view.name, view_column.name, number, view_column.type, *facts, view_column.comment


def _indexes(store: OpenStore) -> Iterator[SystemRow]:
    for table in _all_tables(store):
        for name, columns in table.schema.indexes.items():
            for number, column in enumerate(columns, 1):
                yield table.name, name, column.name, number


def _partitions(store: OpenStore) -> Iterator[SystemRow]:
    for table in _all_tables(store):
        schema, scheme = table.schema, table.partition_schema
        for number, info in enumerate(table.tablets):
            span = info.partition.range
            text = partition_text(schema, scheme, info.partition)
            buckets = ", ".join(map(str, info.partition.buckets)) or None
            bounds = bounds_text(schema, scheme, span) if scheme.range_column_ids else None
            yield table.name, number, text, buckets, bounds, info.id


def _tablets(store: OpenStore) -> Iterator[SystemRow]:
    for table, number, tablet in _all_tablets(store):
        log_bytes = store.log_retention.retained_bytes(tablet.anchor)
        sizes = (tablet.disk_bytes, tablet.undo_bytes, tablet.memory_bytes, log_bytes)
        counts = (tablet.rowsets, tablet.live_rows, *sizes)
        yield table.name, number, *counts, tablet.average_height, tablet.tablet_id


def _rowsets(store: OpenStore) -> Iterator[SystemRow]:
    for table in _all_tables(store):
        intervals = {
            (info.id, interval.id): interval
            for info in table.tablets
            for interval in intervals_of(store.tablets[info.id])
        }
        for rowset in rowset_infos(table, store.tablets):
            interval = intervals.get((rowset.tablet_id, rowset.rowset_id))
            number = (table.name, rowset.tablet, rowset.rowset_id, rowset.kind)
            sizes = (rowset.rows, rowset.live_rows, rowset.size, rowset.base_size)
            undo, redo = (
                (rowset.undo_files, rowset.undo_records),
                (rowset.redo_files, rowset.redo_records),
            )
            span = (None, None) if interval is None else (interval.low, interval.high)
            keys = (rowset.min_key or None, rowset.max_key or None)
            deltas = (*undo, *redo, rowset.memory_deltas)
            yield *number, *sizes, *deltas, *span, *keys, rowset.tablet_id


def _column_files(store: OpenStore) -> Iterator[SystemRow]:
    for table in _all_tables(store):
        for file in column_file_infos(table, store.tablets):
            yield table.name, *astuple(file)


def _delta_files(store: OpenStore) -> Iterator[SystemRow]:
    for table in _all_tables(store):
        for tablet, rowset_id, file in delta_file_infos(table, store.tablets):
            stats = file.stats
            number = (table.name, tablet, rowset_id, file.number, file.kind.upper())
            updates = sum(stats.updates.values())
            counts = (stats.records, updates, stats.deletes, stats.reinserts, file.size)
            yield *number, *counts, stats.min_timestamp, stats.max_timestamp


def _maintenance(store: OpenStore) -> Iterator[SystemRow]:
    manager = store.maintenance
    running = manager.running
    if running is not None:
        yield _stats_row("running", running)
    for stats in manager.due():
        yield _stats_row("due" if stats.is_due else "waiting", stats)
    for run in reversed(manager.log.newest):
        yield _run_row(run)


def _stats_row(state: str, stats: OperationStats) -> SystemRow:
    gains = (stats.score, stats.ram, stats.logs_retained, stats.data_retained)
    return state, str(stats.kind), stats.table, stats.tablet_id, *gains, *(None,) * 5


def _run_row(run: OperationRun) -> SystemRow:
    state = "failed" if run.error else "done"
    effect = (run.started, run.seconds, run.written, run.freed, run.error or None)
    return state, str(run.kind), run.table, run.tablet_id, *(None,) * 4, *effect


def _snapshots(store: OpenStore) -> Iterator[SystemRow]:
    for name, snapshot in sorted(store.definitions.snapshots.items()):
        timestamp = last_before(snapshot.bound)
        yield (name, to_micros(timestamp), timestamp, to_micros(snapshot.created), snapshot.comment)


def _metrics(store: OpenStore) -> Iterator[SystemRow]:
    for metric in metric_values(
        store.statements,
        store.committer.counters,
        store.maintenance.log,
        store.cache,
        store.log_retention,
    ):
        yield metric.name, metric.value, metric.unit, metric.description


def _statements(store: OpenStore) -> Iterator[SystemRow]:
    for text, counts in store.statements.rows():
        mean = counts.seconds / max(1, counts.calls)
        times = (counts.seconds, mean, counts.longest)
        yield text, counts.calls, counts.failures, counts.rows, *times


_HOLDER_COMMENTS = {
    Holder.BLOCK_CACHE: "decoded blocks of files",
    Holder.MEMSTORES: "rows and changes that are not flushed",
    Holder.ENGINE: "joins, groups and sorts; what exceeds it goes to disk",
    Holder.STATEMENTS: "tables that queries hold, and rows on their way to files",
}


def _memory(store: OpenStore) -> Iterator[SystemRow]:
    process, budget = process_memory(), store.budget
    whole = (budget.shares.limit, process.now, process.peak)
    yield "process", *whole, "all of it, with code and libraries"
    for holder, use in budget.uses().items():
        yield str(holder), use.limit, use.used, use.peak, _HOLDER_COMMENTS[holder]


def _standard(name: str, store: OpenStore) -> Iterator[SystemRow]:
    yield from standard_rows(store.catalog, name)


_ROWS: Mapping[str, Callable[[OpenStore], Iterator[SystemRow]]] = {
    "sys.tables": _tables,
    "sys.columns": _columns,
    "sys.indexes": _indexes,
    "sys.partitions": _partitions,
    "sys.tablets": _tablets,
    "sys.rowsets": _rowsets,
    "sys.column_files": _column_files,
    "sys.delta_files": _delta_files,
    "sys.maintenance": _maintenance,
    "sys.memory": _memory,
    "sys.metrics": _metrics,
    "sys.snapshots": _snapshots,
    "sys.statements": _statements,
    **{name: partial(_standard, name) for name in STANDARD_TABLES},
}
