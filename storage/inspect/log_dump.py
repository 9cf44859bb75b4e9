"""Manifest and write-ahead log, record by record (Kudu's `kudu wal dump`).

A damaged log is shown up to the damage, which is then raised.
"""

import uuid
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, Timestamp, last_before
from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.layout import (
    manifest_directory,
    manifest_path,
    parse_log_name,
    segment_path,
    wal_directory,
)
from pykudu_sql.storage.inspect.text import cell_text, name_text, size_text, time_text
from pykudu_sql.storage.log.current import read_current
from pykudu_sql.storage.log.log_reader import LogReader
from pykudu_sql.storage.log.manifest import decode_edit
from pykudu_sql.storage.log.record_log import LogKind
from pykudu_sql.storage.log.segments import is_void, segment_numbers
from pykudu_sql.storage.tablet.commit_record import (
    BatchInsert,
    BatchMutation,
    RowInsert,
    RowMutation,
    TabletWrites,
    decode_commit,
)


def dump_manifest(env: Env, root: str) -> Iterator[str]:
    """The edits of the live manifest; of the newest there is, where CURRENT is damaged."""
    number = yield from _live_manifest(env, root)
    path = manifest_path(root, number)
    reader = LogReader.open(env, path, LogKind.MANIFEST, number)
    try:
        yield f"{path}: database {uuid.UUID(bytes=reader.identity.database_id)}"
        for sequence, payload in reader.records():
            yield f"#{sequence} {_edit(decode_edit(payload, path, sequence))}"
        yield f"ends at offset {reader.end.offset}{_tail(reader)}"
    finally:
        reader.close()


def _live_manifest(env: Env, root: str) -> Generator[str, None, int]:
    """The number of the live manifest is what this generator returns."""
    try:
        return read_current(env, root).manifest_number
    except CorruptionError as error:
        names = map(parse_log_name, env.list_dir(manifest_directory(root)))
        numbers = [number for number in names if number is not None]
        if not numbers:
            raise
        yield error.message
        return max(numbers)


def _edit(edit: Mapping[str, Any]) -> str:
    match edit:
        case {"op": "table", "ts": int(time), "table": {"name": _, "id": _}}:
            return f"{_table(edit['table'])}, at {time_text(Timestamp(time))}"
        case {"op": "drop", "ts": int(time), "table": table_id}:
            return f"drop table {table_id} at {time_text(Timestamp(time))}"
        case {"op": "tablets", "tablets": [*changes]}:
            commit = f" commit at {time_text(edit['ts'])}" if edit.get("ts") else ""
            return f"tablets{commit}: " + "; ".join(map(_tablet_change, changes))
        case {"op": "create", "ts": int(time), "tables": [*new_tables], "tablets": [*changes]}:
            commit = f" commit at {time_text(Timestamp(time))}"
            return f"create{commit}: " + "; ".join(
                [*map(_table, new_tables), *map(_tablet_change, changes)]
            )
        case {"op": "log", "after": after}:
            return f"log needed after #{after}"
        case {"op": "forget", "marks": dict(marks), "sequence": sequence}:
            tables = ", ".join(f"{i} before {time_text(mark)}" for i, mark in marks.items())
            return f"forget {tables}, log up to #{sequence}"
        case {"op": "snapshot", "name": name, "bound": int(bound)}:
            return (
                f"snapshot {name_text(str(name))} at {time_text(last_before(SnapshotBound(bound)))}"
            )
        case {"op": "drop_snapshot", "name": name}:
            return f"drop snapshot {name_text(str(name))}"
        case {"op": "reserve", "until": int(time)}:
            return f"timestamps given out are before {time_text(Timestamp(time))}"
        case {"op": "clock", "ts": int(time)}:
            return f"closed at {time_text(Timestamp(time))}"
        case {"op": "database", "history_max_age": age}:
            return f"history_max_age of the database: {'default' if age is None else f'{age} s'}"
    return ", ".join(f"{name}={str(value)[:80]!r}" for name, value in edit.items())


def _table(table: Mapping[str, Any]) -> str:
    tablets = noun_count(len(table.get("tablets", ())), "tablet")
    return f"table {name_text(str(table.get('name')))} ({table.get('id')}), {tablets}"


def _tablet_change(change: Mapping[str, Any]) -> str:
    parts = [str(change.get("tablet"))]
    for meta in change.get("rowsets", ()):
        files = [f"{meta['base']}.base", *(f"{o['base']}.base" for o in meta["overlays"])]
        files += [f"{file['number']}.{file['kind']}" for file in (*meta["undo"], *meta["redo"])]
        parts.append(f"rowset {meta['id']} ({noun_count(meta['rows'], 'row')}: {', '.join(files)})")
    if change.get("dropped"):
        parts.append(f"without {', '.join(map(str, change['dropped']))}")
    if change.get("durable_memrowset"):
        parts.append(f"MemRowSet {change['durable_memrowset']} is on disk")
    return " ".join(parts)


def dump_wal(env: Env, root: str) -> Iterator[str]:
    """The records of the write-ahead log, segment by segment."""
    directory = wal_directory(root)
    for number in segment_numbers(env, directory) if env.exists(directory) else ():
        path = segment_path(directory, number)
        if is_void(env, path):
            yield f"{path}: void"
            continue
        reader = LogReader.open(env, path, LogKind.WAL, number)
        try:
            yield f"{path}: from #{reader.identity.first_sequence}"
            for sequence, payload in reader.records():
                yield from _commit(sequence, payload)
            yield f"ends at offset {reader.end.offset}{_tail(reader)}"
        finally:
            reader.close()


def _commit(sequence: int, payload: bytes) -> Iterator[str]:
    record = decode_commit(payload)
    kind = ", holds if the manifest has it" if record.conditional else ""
    yield f"#{sequence} commit at {time_text(record.timestamp)}, {size_text(len(payload))}{kind}"
    for writes in record.tablets:
        yield f"    tablet {writes.tablet_id}"
        yield from (f"        {line}" for line in _writes(writes))


def _writes(writes: TabletWrites) -> Iterator[str]:
    for insert in writes.inserts:
        yield f"INSERT into MemRowSet {writes.memrowset_id}: {_inserted(insert)}"
    for mutation in writes.mutations:
        target = f"rowset {mutation.rowset_id}, delta store {mutation.store_id}"
        yield f"{mutation.kind.name} in {target}: {_mutated(mutation)}"


def _inserted(insert: RowInsert | BatchInsert) -> str:
    if isinstance(insert, RowInsert):
        return _cells(insert.cells)
    rows = max((len(values) for values in insert.columns.values()), default=0)
    return f"{noun_count(rows, 'row')}, columns {_ids(list(insert.columns))}"


def _mutated(mutation: RowMutation | BatchMutation) -> str:
    if isinstance(mutation, RowMutation):
        return f"row {mutation.ordinal} {_cells(mutation.cells)}".rstrip()
    ordinals = mutation.ordinals
    span = f"{ordinals.min()} to {ordinals.max()}" if len(ordinals) else "none"
    columns = f", columns {_ids(list(mutation.columns))}" if mutation.columns else ""
    return f"{noun_count(len(ordinals), 'row')} ({span}){columns}"


def _cells(cells: Mapping[int, Any]) -> str:
    return ", ".join(f"{column_id}={cell_text(cell)}" for column_id, cell in cells.items())


def _ids(column_ids: Sequence[int]) -> str:
    return ", ".join(map(str, column_ids))


def _tail(reader: LogReader) -> str:
    return ", behind it the rest of a write that was cut short" if reader.end.cut else ""
