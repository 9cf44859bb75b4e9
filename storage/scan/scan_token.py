"""Scan tokens: one share of one scan at one snapshot, as text that another process can carry out.

Kudu's `client/scan_token-internal.h`. There a token names a tablet and the reader asks its server;
here the reader opens the immutable files itself, with no metadata and no lock. So a token carries
all that it needs of manifest and memory:

* a share of a DiskRowSet: the rowset's files with their numbers, sizes and statistics, a range of
  its ordinals, and what the deltas in memory come to at the snapshot within that range;
* or rows of a MemRowSet, themselves.

The files stay for as long as the planner holds its plan (see `scan_planner`). As JSON, numbers of
64 bits are whole JSON numbers, and Arrow data are IPC streams, compressed, in base64:

    {"version": 1, "database": hex, "table": name, "tablet": uuid, "bound": n,
     "columns": [...], "predicate": ... or null,
     "share": {"rowset": ..., "key": [...], "start": n, "stop": n, "size": n,
               "pending": {column id: base64}, "dead": base64}
           or {"rows": base64}}
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.manifest_edit import is_rowset
from pykudu_sql.storage.common.predicate.column_predicate import Predicate, column_ids
from pykudu_sql.storage.common.predicate.predicate_json import (
    predicate_from_json,
    predicate_to_json,
)
from pykudu_sql.storage.common.predicate.row_filter import RowFilter
from pykudu_sql.storage.common.row_allowance import rows_within
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.hybrid_time import (
    EVERYTHING,
    UNCOMMITTED,
    SnapshotBound,
    bound_at,
    last_before,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import DatabaseError, DataError, FormatVersionError
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.scan.decoded_size import decoded_bytes
from pykudu_sql.storage.scan.opened_rowsets import OpenedRowSets, TabletPlace
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.deltamemstore import DeltaMemStore
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta

VERSION = 1
BATCH_ROWS = 64 * 1024
# A block that lies in two stretches is decoded for each, so they are long.
_STRETCH_BYTES, _STRETCH_ROWS = 32 << 20, 1 << 20
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError, RecursionError, DatabaseError)


@dataclass(frozen=True, slots=True)
class RowSetShare:
    """Rows of a DiskRowSet.

    Attributes:
        rowset: its files, as the manifest named them.
        start, stop: ordinals start <= ordinal < stop.
        size: estimated bytes to read.
        pending: what changes in memory came to, by column id: IPC of `ordinal` and `value`.
        dead: IPC of the `ordinal` of rows that were deleted in memory.
    """

    rowset: RowSetMeta
    key_columns: tuple[ColumnSchema, ...]
    start: int
    stop: int
    size: int
    pending: Mapping[int, bytes]
    dead: bytes


@dataclass(frozen=True, slots=True)
class MemoryShare:
    """Rows that are on no disk: an IPC stream of the columns of the scan."""

    rows: bytes


@dataclass(frozen=True, slots=True)
class ScanToken:
    """One share of a scan.

    Attributes:
        table: its name, for people.
        tablet_id: a UUID.
        columns: wanted, in order.
        predicate: other rows do not come; see `is_decisive`. None keeps all.
        share: which rows.
    """

    database_id: bytes
    table: str
    tablet_id: str
    bound: SnapshotBound
    columns: tuple[ColumnSchema, ...]
    predicate: Predicate | None
    share: RowSetShare | MemoryShare

    @property
    def is_decisive(self) -> bool:
        """Whether the predicate holds for every row that comes, so nobody need apply it again.

        It does if it looks only at columns wanted and at the key; else its other parts are left to
        whoever reads.
        """
        share = self.share
        if self.predicate is None or isinstance(share, MemoryShare):
            return True
        readable_ids = {column.id for column in (*share.key_columns, *self.columns)}
        return column_ids(self.predicate) <= readable_ids

    def to_json(self) -> str:
        """The token as JSON text."""
        value = {
            "version": VERSION,
            "database": self.database_id.hex(),
            "table": self.table,
            "tablet": self.tablet_id,
            "bound": self.bound,
            "columns": [column.to_json() for column in self.columns],
            "predicate": None if self.predicate is None else predicate_to_json(self.predicate),
            "share": _share_to_json(self.share),
        }
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> "ScanToken":
        """The inverse of `to_json`.

        Raises FormatVersionError: a newer version of the program made it; DataError: it is no scan
        token.
        """
        try:
            value = json.loads(text)
            if value["version"] > VERSION:
                raise FormatVersionError(
                    f"the scan token has version {value['version']}, this program reads "
                    f"up to {VERSION}",
                    hint="read it with the version of pykudu-sql that made it",
                )
            return _token_from_json(value)
        except FormatVersionError:
            raise
        except _MALFORMED as error:
            raise DataError(f"this is no scan token: {error}") from error


def _share_to_json(share: RowSetShare | MemoryShare) -> dict[str, Any]:
    if isinstance(share, MemoryShare):
        return {"rows": _to_base64(share.rows)}
    return {
        "rowset": share.rowset.to_json(),
        "key": [column.to_json() for column in share.key_columns],
        "start": share.start,
        "stop": share.stop,
        "size": share.size,
        "pending": {str(i): _to_base64(data) for i, data in share.pending.items()},
        "dead": _to_base64(share.dead),
    }


def _token_from_json(value: Mapping[str, Any]) -> ScanToken:
    database_id, tablet_id, bound = (
        bytes.fromhex(value["database"]),
        value["tablet"],
        value["bound"],
    )
    layout.tablet_directory("", tablet_id)
    if len(database_id) != 16 or type(bound) is not int or not 0 <= bound <= EVERYTHING:
        raise ValueError(f"database id of {len(database_id)} bytes, or bound {bound!r:.40}")
    predicate = value["predicate"]
    return ScanToken(
        database_id,
        str(value["table"]),
        tablet_id,
        SnapshotBound(bound),
        tuple(ColumnSchema.from_json(column) for column in value["columns"]),
        None if predicate is None else predicate_from_json(predicate),
        _share_from_json(value["share"]),
    )


def _share_from_json(value: Mapping[str, Any]) -> RowSetShare | MemoryShare:
    if "rows" in value:
        return MemoryShare(_from_base64(value["rows"]))
    if not is_rowset(value["rowset"]):
        raise ValueError("its rowset is malformed")
    rowset = RowSetMeta.from_json(value["rowset"])
    start, stop, size = (value[name] for name in ("start", "stop", "size"))
    whole = type(start) is type(stop) is type(size) is int
    if not whole or not 0 <= start <= stop <= rowset.rows:
        raise ValueError(f"rows {start!r:.40} to {stop!r:.40} of {rowset.rows}")
    return RowSetShare(
        rowset,
        tuple(ColumnSchema.from_json(column) for column in value["key"]),
        start,
        stop,
        size,
        {int(i): _from_base64(data) for i, data in value["pending"].items()},
        _from_base64(value["dead"]),
    )


def _to_base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _from_base64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def encode_batches(schema: pa.Schema, batches: Sequence[pa.RecordBatch]) -> bytes:
    """Batches as an Arrow IPC stream; compressed, for it travels to every task."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue())


def scan_schema(columns: Sequence[ColumnSchema]) -> pa.Schema:
    """The schema of the batches that a scan of some columns gives."""
    return pa.schema([pa.field(column.name, column.type.arrow) for column in columns])


def batches_of(
    schema: pa.Schema, arrays: Sequence[pa.Array], length: int
) -> Iterator[pa.RecordBatch]:
    """Rows in batches of moderate size, strings without dictionaries.

    `arrays`: the columns; `length`: rows, also where there are no columns.
    """
    for start in range(0, length, BATCH_ROWS):
        rows = min(BATCH_ROWS, length - start)
        if arrays:
            slices = [plain(array.slice(start, rows)) for array in arrays]
            yield pa.RecordBatch.from_arrays(slices, schema=schema)
        else:
            yield pa.record_batch([pa.nulls(rows)], ["rows"]).select([])


def read_token(
    env: Env, root: str, token: ScanToken, opened: OpenedRowSets
) -> Iterator[pa.RecordBatch]:
    """The rows of a token, read from the files it names.

    Args:
        root: the database directory, as this process sees it.
        token: made by any process.
        opened: rowsets that were read before, which this one joins.

    Raises DataError: the token carries Arrow data that are none; CorruptionError: a file is not
    what was written, or is gone: the plan was released; DiskError: the disk refused.
    """
    share = token.share
    schema = scan_schema(token.columns)
    if isinstance(share, MemoryShare):
        for batch in decode_batches(share.rows, schema):
            yield from batches_of(schema, batch.columns, batch.num_rows)
        return
    place = TabletPlace(env.resolve(root), token.database_id, token.tablet_id)
    rowset = opened.rowset(env, place, share.rowset, share.key_columns)
    pending = _pending_store(share, token.bound)
    rowset = rowset.with_deltas(replace(rowset.tracker, memory=pending))
    yield from _read_rows(rowset, share, token, schema)


def _pending_store(share: RowSetShare, bound: SnapshotBound) -> DeltaMemStore:
    """The changes in memory that a token carries, all as of just below its bound."""
    store = DeltaMemStore(share.rowset.durable_delta_store + 1, {})
    before = last_before(max(bound, bound_at(UNCOMMITTED)))
    for column_id, data in share.pending.items():
        for batch in decode_batches(data, None):
            ordinals = np.asarray(batch.column(0), np.int64)
            store.add_batch(DeltaKind.UPDATE, ordinals, {column_id: batch.column(1)}, before)
    for batch in decode_batches(share.dead, None) if share.dead else ():
        store.add_batch(DeltaKind.DELETE, np.asarray(batch.column(0), np.int64), {}, before)
    return store


def _read_rows(
    rowset: DiskRowSet, share: RowSetShare, token: ScanToken, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """The rows of a range, a stretch at a time, so that little is in memory at once."""
    by_id = {column.id: column for column in (*share.key_columns, *token.columns)}
    row_filter = (
        None
        if token.predicate is None
        else RowFilter.of(token.predicate, share.key_columns, by_id.values()).exactly()
    )
    read_columns = {column.id: column for column in token.columns}
    if row_filter is not None:
        read_columns |= {c.id: c for step in row_filter.steps for c in step.columns}
    size = decoded_bytes(rowset, tuple(read_columns.values()), token.bound)
    stretch = rows_within(_STRETCH_BYTES, size / rowset.meta.rows, _STRETCH_ROWS)
    for block in rowset.scan(
        token.columns,
        row_filter,
        token.bound,
        None,
        within=(share.start, share.stop),
        stretch=stretch,
        cache_blocks=False,
    ):
        yield from batches_of(schema, block.columns, block.length)


def decode_batches(data: bytes, schema: pa.Schema | None) -> Sequence[pa.RecordBatch]:
    """The batches of an IPC stream, which must have a schema where one is given.

    Raises DataError: it is none.
    """
    try:
        with pa.ipc.open_stream(data) as reader:
            if schema is not None and reader.schema != schema:
                raise DataError("the rows of the scan token do not fit its columns")
            batches: list[pa.RecordBatch] = list(reader)
            for batch in batches:
                batch.validate(full=True)
            return batches
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"the scan token carries damaged Arrow data: {error}") from error
