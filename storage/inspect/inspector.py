"""Dumps of the parts of a database on disk.

Nothing is changed and no lock is taken. Metadata come from the manifest alone, so a damaged log or
file hides only itself.
"""

import uuid
from collections.abc import Iterator, Sequence

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import UndefinedObjectError
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import Env, names_if_there
from pykudu_sql.storage.inspect.file_dump import dump_cfile, dump_delta, dump_rowset, dump_tablet
from pykudu_sql.storage.inspect.log_dump import dump_manifest, dump_wal
from pykudu_sql.storage.inspect.text import name_text, size_text
from pykudu_sql.storage.recovery.database_reader import DatabaseView, read_without_log
from pykudu_sql.storage.tablet.delta.deltafile import DeltaFile
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.tablet import Tablet

_CACHE_BYTES = 64 << 20


def inspect_database(env: Env, root: str, words: Sequence[str]) -> Iterator[str]:
    """What lies on disk, in lines.

    `words`: nothing for an overview, or what to show and of what; see `pykudu-sql inspect -h`.
    Raises UndefinedObjectError: no such part; CorruptionError: damage, behind what could be
    shown before it; DiskError: the disk refused.
    """
    path = env.resolve(root)
    match list(words):
        case ["manifest"]:
            return dump_manifest(env, path)
        case ["wal"]:
            return dump_wal(env, path)
    view = read_without_log(env, path, BlockCache(_CACHE_BYTES))
    match list(words):
        case []:
            return _overview(env, path, view)
        case ["tables"]:
            return _tables(view)
        case ["tablet", tablet_id]:
            return dump_tablet(_tablet(view, tablet_id))
        case ["rowset", tablet_id, rowset_id]:
            tablet = _tablet(view, tablet_id)
            return dump_rowset(_rowset(tablet, rowset_id), tablet.column_schemas)
        case ["cfile", tablet_id, rowset_id, column]:
            tablet = _tablet(view, tablet_id)
            return _column_file(tablet, _rowset(tablet, rowset_id), column)
        case ["delta", tablet_id, file]:
            tablet = _tablet(view, tablet_id)
            return dump_delta(_delta_file(tablet, file), tablet.column_schemas)
    raise UndefinedObjectError(
        f"cannot inspect '{' '.join(words)}'",
        hint="manifest, wal, tables, tablet ID, rowset TABLET ID, cfile TABLET ROWSET COLUMN, or "
        "delta TABLET FILE",
    )


def _overview(env: Env, root: str, view: DatabaseView) -> Iterator[str]:
    yield f"database {uuid.UUID(bytes=view.database_id)} in {root}"
    yield f"manifest {view.position[0]}.log up to #{view.position[1]}"
    wal = layout.wal_directory(root)
    segments = noun_count(len(names_if_there(env, wal)), "segment")
    yield f"write-ahead log: {segments}, needed after #{view.state.log_after}"
    for table in view.state.history.latest.tables.values():
        tablets = [view.tablets[info.id] for info in table.tablets]
        rowsets = [rowset for tablet in tablets for rowset in tablet.components.tree.rowsets]
        rows = sum(rowset.meta.live_rows for rowset in rowsets)
        size = size_text(sum(rowset.meta.total_size for rowset in rowsets))
        yield (
            f"table {name_text(table.name)}: {noun_count(len(tablets), 'tablet')}, "
            f"{noun_count(len(rowsets), 'rowset')}, {noun_count(rows, 'live row')} on disk, {size}"
        )


def _tables(view: DatabaseView) -> Iterator[str]:
    latest = view.state.history.latest.by_id
    for table_id, versions in view.state.history.versions().items():
        table = latest.get(table_id, versions[-1])
        dropped = "" if table_id in latest else " (dropped)"
        yield f"table {name_text(table.name)} {table_id}{dropped}"
        yield from (f"    {line}" for line in _table(table, view))


def _table(table: TableInfo, view: DatabaseView) -> Iterator[str]:
    for column in table.schema.columns:
        key = ", key" if column.id in table.schema.key_ids else ""
        nulls = "" if column.nullable else " NOT NULL"
        storage = f"{column.encoding}, {column.compression}"
        yield f"column {column.id} {name_text(column.name)} {column.type}{nulls}{key}, {storage}"
    for info in table.tablets:
        rowsets = view.tablets[info.id].components.tree.rowsets
        yield f"tablet {info.id}, {noun_count(len(rowsets), 'rowset')}"


def _tablet(view: DatabaseView, tablet_id: str) -> Tablet:
    """The tablet of a UUID, or of the beginning of one."""
    matches = [tablet for full_id, tablet in view.tablets.items() if full_id.startswith(tablet_id)]
    if len(matches) != 1:
        raise UndefinedObjectError(
            f"{len(matches) or 'no'} tablets begin with '{tablet_id}'",
            hint="`pykudu-sql inspect DB tables` lists them",
        )
    return matches[0]


def _rowset(tablet: Tablet, rowset_id: str) -> DiskRowSet:
    by_id = {str(rowset.id): rowset for rowset in tablet.components.tree.rowsets}
    if rowset_id not in by_id:
        raise UndefinedObjectError(
            f"tablet {tablet.id} has no rowset '{rowset_id}' on disk",
            hint=f"it has {', '.join(by_id) or 'none'}",
        )
    return by_id[rowset_id]


def _column_file(tablet: Tablet, rowset: DiskRowSet, name: str) -> Iterator[str]:
    column = _column(tablet, name)
    cfile = rowset.base.cfile(column.id)
    if cfile is None:
        raise UndefinedObjectError(
            f"rowset {rowset.id} has no file of column '{name}'",
            hint="it was added later, and reads as its default",
        )
    yield from dump_cfile(cfile, column)


def _column(tablet: Tablet, name: str) -> ColumnSchema:
    """A column by its name or its id."""
    for column in tablet.column_schemas.values():
        if name in (column.name, str(column.id)):
            return column
    names = ", ".join(name_text(column.name) for column in tablet.column_schemas.values())
    raise UndefinedObjectError(f"there is no column '{name}'", hint=f"there are {names}")


def _delta_file(tablet: Tablet, name: str) -> DeltaFile:
    """A delta file by its name, such as `7.redo`."""
    files = {
        f"{file.meta.number}.{file.meta.kind}": file
        for rowset in tablet.components.tree.rowsets
        for file in (*rowset.tracker.undo, *rowset.tracker.redo)
    }
    if name not in files:
        raise UndefinedObjectError(
            f"tablet {tablet.id} has no delta file '{name}'",
            hint=f"it has {', '.join(files) or 'none'}",
        )
    return files[name]
