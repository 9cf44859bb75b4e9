"""Commit records: what one commit did, as the write-ahead log keeps it.

A record names rows as the commit addressed them, like Kudu's commit messages with their target
stores (`tablet/tablet_bootstrap.cc`): inserts name the MemRowSet, mutations a rowset, the
DeltaMemStore that took them and ordinals. Replay applies what is for stores that never reached the
disk and passes over the rest.

Bytes, little-endian, after the record log's framing:

    commit   u8 flags (1: holds only if the manifest knows the commit too), u64 time, u32 tablets
    tablet   16 bytes UUID, u64 MemRowSet id, u32 inserts, u32 mutations
    insert   u8 form; row: u16 n, n column ids u32, n cells; batch: u32 size, Arrow IPC stream
    mutation u8 form, u64 rowset id, u64 store id, u8 kind; row: u64 ordinal, then as for insert;
             batch: u32 n, n ordinals i64, u32 size, Arrow IPC stream (0 bytes: no columns)
    cell     u8 tag: 0 NULL, 1 false, 2 true, 3 i64, 4 f64, 5 text, 6 bytes (both u32 size), 7 i128

Arrow fields are named by column id.
"""

import struct
import uuid
from collections.abc import Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.hybrid_time import Timestamp
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind

if TYPE_CHECKING:
    import pyarrow as pa

    from pykudu_sql.storage.tablet.delta.delta_store import Ordinals

_COMMIT = struct.Struct("<BQI")
_TABLET = struct.Struct("<16sQII")
_TARGET = struct.Struct("<QQB")
_ROW = 0
_CONDITIONAL = 1
_LARGE_BYTES = 1 << 20
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_PACK_INT = struct.Struct("<Bq").pack
_PACK_FLOAT = struct.Struct("<Bd").pack
_PACK_SIZE = struct.Struct("<BI").pack
_U16, _U32, _U64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")
_I64, _F64 = struct.Struct("<q"), struct.Struct("<d")


@dataclass(frozen=True, slots=True)
class RowInsert:
    """One inserted row: its cells by column id."""

    cells: Mapping[int, Cell]


@dataclass(frozen=True, slots=True)
class BatchInsert:
    """Inserted rows: their columns by column id."""

    columns: "Mapping[int, pa.Array]"


@dataclass(frozen=True, slots=True)
class RowMutation:
    """One changed row of a rowset."""

    rowset_id: int
    store_id: int
    kind: DeltaKind
    ordinal: int
    cells: Mapping[int, Cell]


@dataclass(frozen=True, slots=True)
class BatchMutation:
    """Rows of a rowset changed alike: ordinals int64[n], and n cells for each column set."""

    rowset_id: int
    store_id: int
    kind: DeltaKind
    ordinals: "Ordinals"
    columns: "Mapping[int, pa.Array]"


class TabletWrites(NamedTuple):
    """What a commit did to one tablet.

    Attributes:
        tablet_id: a UUID.
        memrowset_id: of the MemRowSet that took the inserts.
        inserts: in the order of their ordinals.
        mutations: in the order in which they were made.
    """

    tablet_id: str
    memrowset_id: int
    inserts: Sequence[RowInsert | BatchInsert]
    mutations: Sequence[RowMutation | BatchMutation]


class CommitRecord(NamedTuple):
    """One commit.

    Attributes:
        timestamp: hybrid time.
        conditional: the commit holds only if the manifest has an edit of the same time.
        tablets: one entry for each tablet written.
    """

    timestamp: Timestamp
    conditional: bool
    tablets: Sequence[TabletWrites]


@dataclass(frozen=True, slots=True)
class _LargeBatch:
    """A batch that is not copied before the record has a place for it."""

    batch: "pa.RecordBatch"


_Part: TypeAlias = "bytes | pa.Buffer | _LargeBatch"


def encode_commit(record: CommitRecord) -> bytes:
    """The bytes of a commit record; of large batches they are the only copy."""
    flags = _CONDITIONAL if record.conditional else 0
    parts: list[_Part] = [_COMMIT.pack(flags, record.timestamp, len(record.tablets))]
    for writes in record.tablets:
        identity = _uuid_bytes(writes.tablet_id)
        parts.append(
            _TABLET.pack(identity, writes.memrowset_id, len(writes.inserts), len(writes.mutations))
        )
        for insert in writes.inserts:
            if isinstance(insert, RowInsert):
                parts.append(b"\0")
                parts.append(_pack_cells(insert.cells))
            else:
                parts.append(b"\1")
                parts.extend(_pack_columns(insert.columns))
        for mutation in writes.mutations:
            parts.extend(_pack_mutation(mutation))
    if _LargeBatch in map(type, parts):
        return _with_large_batches(parts)
    return b"".join(parts)  # type: ignore[arg-type]


@lru_cache(maxsize=4096)
def _uuid_bytes(text: str) -> bytes:
    return uuid.UUID(text).bytes


def _pack_mutation(mutation: RowMutation | BatchMutation) -> tuple[_Part, ...]:
    target = _TARGET.pack(mutation.rowset_id, mutation.store_id, mutation.kind)
    if isinstance(mutation, RowMutation):
        return b"\0", target, _U64.pack(mutation.ordinal), _pack_cells(mutation.cells)
    ordinals = mutation.ordinals.astype("<i8", copy=False).tobytes()
    columns = _pack_columns(mutation.columns) if mutation.columns else (_U32.pack(0),)
    return b"\1", target, _U32.pack(len(mutation.ordinals)), ordinals, *columns


def _pack_cells(cells: Mapping[int, Cell]) -> bytes:
    parts = [_pack_ids(tuple(cells))]
    for cell in cells.values():
        kind = type(cell)
        if kind is int and _LEAST <= cell <= _MOST:  # type: ignore[operator]
            parts.append(_PACK_INT(3, cell))
        elif kind is str:
            text = cell.encode()  # type: ignore[union-attr]
            parts += (_PACK_SIZE(5, len(text)), text)
        elif kind is float:
            parts.append(_PACK_FLOAT(4, cell))
        else:
            parts.append(_pack_other_cell(cell))
    return b"".join(parts)


@lru_cache(maxsize=4096)
def _pack_ids(column_ids: tuple[int, ...]) -> bytes:
    return struct.pack(f"<H{len(column_ids)}I", len(column_ids), *column_ids)


def _pack_other_cell(cell: Cell) -> bytes:
    """A cell that is no text, no float and no integer of 64 bits."""
    kind = type(cell)
    if cell is None:
        return b"\0"
    if kind is bool:
        return b"\2" if cell else b"\1"
    if kind is int:
        return b"\7" + cell.to_bytes(16, "little", signed=True)  # type: ignore[union-attr]
    return _PACK_SIZE(6, len(cell)) + cell  # type: ignore[arg-type,operator]


def _pack_columns(columns: "Mapping[int, pa.Array]") -> tuple[_Part, ...]:
    """A batch behind its size; a large one as it is."""
    import pyarrow as pa

    names = [str(column_id) for column_id in columns]
    batch = pa.RecordBatch.from_arrays(list(columns.values()), names=names)
    if batch.nbytes >= _LARGE_BYTES:
        return (_LargeBatch(batch),)
    stream = pa.BufferOutputStream()
    _write_stream(stream, batch)
    data = stream.getvalue()
    return _U32.pack(data.size), data


def _with_large_batches(parts: Sequence[_Part]) -> bytes:
    """The bytes of a record, into which large batches are written one after the other."""
    import pyarrow as pa

    sink = BytesIO()
    for part in parts:
        if not isinstance(part, _LargeBatch):
            sink.write(part)
            continue
        place = sink.tell()
        sink.write(_U32.pack(0))
        _write_stream(pa.PythonFile(sink, "w"), part.batch)
        end = sink.tell()
        sink.seek(place)
        sink.write(_U32.pack(end - place - _U32.size))
        sink.seek(end)
    return sink.getvalue()


def _write_stream(sink: "pa.NativeFile", batch: "pa.RecordBatch") -> None:
    import pyarrow as pa

    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)


class _Reader:
    """Walks the bytes of a record; running past their end is corruption."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    def unpack(self, shape: struct.Struct) -> tuple[int, ...]:
        values: tuple[int, ...] = shape.unpack(self.take(shape.size))
        return values

    def take(self, size: int) -> bytes:
        stop = self._place + size
        if stop > len(self._data):
            raise CorruptionError("a commit record of the write-ahead log ends early")
        piece = self._data[self._place : stop]
        self._place = stop
        return piece

    def cells(self) -> dict[int, Cell]:
        (count,) = self.unpack(_U16)
        ids = struct.unpack(f"<{count}I", self.take(4 * count))
        return {column_id: self._cell() for column_id in ids}

    def _cell(self) -> Cell:
        tag = self.take(1)[0]
        if tag <= 2:
            return (None, False, True)[tag]
        if tag == 3:
            return self.unpack(_I64)[0]
        if tag == 4:
            return float(self.unpack(_F64)[0])
        if tag == 7:
            return int.from_bytes(self.take(16), "little", signed=True)
        if tag > 7:
            raise CorruptionError(f"a commit record of the write-ahead log has a cell of tag {tag}")
        data = self.take(self.unpack(_U32)[0])
        return data.decode() if tag == 5 else data

    def columns(self) -> "dict[int, pa.Array]":
        import pyarrow as pa

        (size,) = self.unpack(_U32)
        if not size:
            return {}
        batch = pa.ipc.open_stream(pa.py_buffer(self.take(size))).read_next_batch()
        return {int(field.name): batch.column(i) for i, field in enumerate(batch.schema)}


def decode_commit(data: bytes) -> CommitRecord:
    """The inverse of `encode_commit`. Raises CorruptionError: the bytes are not a commit record."""
    reader = _Reader(data)
    flags, timestamp, count = reader.unpack(_COMMIT)
    tablets = [_read_tablet(reader) for _ in range(count)]
    return CommitRecord(Timestamp(timestamp), bool(flags & _CONDITIONAL), tablets)


def _read_tablet(reader: _Reader) -> TabletWrites:
    identity = reader.take(16)
    memrowset_id, inserts, mutations = reader.unpack(struct.Struct("<QII"))
    return TabletWrites(
        str(uuid.UUID(bytes=identity)),
        memrowset_id,
        [_read_insert(reader) for _ in range(inserts)],
        [_read_mutation(reader) for _ in range(mutations)],
    )


def _read_insert(reader: _Reader) -> RowInsert | BatchInsert:
    if reader.take(1)[0] == _ROW:
        return RowInsert(reader.cells())
    return BatchInsert(reader.columns())


def _read_mutation(reader: _Reader) -> RowMutation | BatchMutation:
    form = reader.take(1)[0]
    rowset_id, store_id, kind = reader.unpack(_TARGET)
    if form == _ROW:
        (ordinal,) = reader.unpack(_U64)
        return RowMutation(rowset_id, store_id, DeltaKind(kind), ordinal, reader.cells())
    import numpy as np

    (count,) = reader.unpack(_U32)
    ordinals = np.frombuffer(reader.take(8 * count), "<i8")
    return BatchMutation(rowset_id, store_id, DeltaKind(kind), ordinals, reader.columns())
