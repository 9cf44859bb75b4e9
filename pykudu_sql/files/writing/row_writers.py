"""Files of all formats, written from rows that come in batches."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import MappingProxyType

import pyarrow as pa

from pykudu_sql.files.formats import FileKind
from pykudu_sql.files.writing.column_texts import text_bytes
from pykudu_sql.files.writing.csv_texts import CsvStyle
from pykudu_sql.files.writing.json_texts import object_texts
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types import from_buffers
from pykudu_sql.storage.errors import NotSupportedError, ValueOutOfRangeError

WriteRows = Callable[[pa.Table], None]
_BUFFER_BYTES = 1 << 20
_ROW_GROUP = 1 << 17


@contextmanager
def row_writer(path: str, kind: FileKind, schema: pa.Schema) -> Iterator[WriteRows]:
    """A file to be made, and what writes rows to it; it is complete when the block ends.

    `schema`: of the rows. Raises NotSupportedError: the format has no such values;
    ValueOutOfRangeError: it has not one of them; OSError: the disk refused.
    """
    try:
        with _WRITERS[kind.format](path, kind, schema) as write:
            yield write
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise NotSupportedError(
            f"{kind.format} files cannot have these columns: {error!s:.200}",
            hint="CAST the column to STRING, or leave it out",
        ) from None


def _packed(path: str, kind: FileKind) -> pa.NativeFile:
    compression = None if kind.compression == "none" else kind.compression
    return pa.output_stream(path, compression=compression, buffer_size=_BUFFER_BYTES)


@contextmanager
def _csv(path: str, kind: FileKind, schema: pa.Schema) -> Iterator[WriteRows]:
    style = CsvStyle(kind.delimiter, kind.options.quote, kind.options.null)
    with _packed(path, kind) as stream:
        if kind.options.header:
            names = [from_buffers.texts([name]) for name in schema.names]
            stream.write(text_bytes(style.lines(names)))

        def write(rows: pa.Table) -> None:
            for batch in rows.to_batches():
                stream.write(text_bytes(style.lines(batch.columns)))

        yield write


@contextmanager
def _json(path: str, kind: FileKind, schema: pa.Schema) -> Iterator[WriteRows]:
    with _packed(path, kind) as stream:

        def write(rows: pa.Table) -> None:
            for batch in rows.to_batches():
                stream.write(text_bytes(object_texts(schema.names, batch.columns, "}\n")))

        yield write


@contextmanager
def _parquet(path: str, kind: FileKind, schema: pa.Schema) -> Iterator[WriteRows]:
    from pyarrow.parquet import ParquetWriter

    with ParquetWriter(path, schema, compression=kind.compression) as writer:
        most = kind.options.row_group_size or _ROW_GROUP
        yield lambda rows: writer.write_table(rows, row_group_size=most)


@contextmanager
def _orc(path: str, kind: FileKind, schema: pa.Schema) -> Iterator[WriteRows]:
    from pyarrow.orc import ORCWriter

    compression = "uncompressed" if kind.compression == "none" else kind.compression
    with ORCWriter(path, compression=compression) as writer:
        writer.write(schema.empty_table())

        def write(rows: pa.Table) -> None:
            _check_readable(rows)
            writer.write(rows)

        yield write


def _check_readable(rows: pa.Table) -> None:
    """Refuse times that readers of ORC, which count nanoseconds, would not give back."""
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        if not pa.types.is_timestamp(column.type) or column.null_count == len(column):
            continue
        ends = pc.min_max(column)
        for end in (ends["min"], ends["max"]):
            try:
                end.cast(pa.timestamp("ns", column.type.tz))
            except pa.ArrowInvalid:
                raise ValueOutOfRangeError(
                    f"column '{name:.80}': ORC files have no {end.as_py()!s}, but the "
                    "times of 1677-09-21 to 2262-04-11",
                    hint="write Parquet, or CAST the column to STRING",
                ) from None


@contextmanager
def _arrow(path: str, kind: FileKind, schema: pa.Schema) -> Iterator[WriteRows]:
    compression = None if kind.compression == "none" else kind.compression
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(path, schema, options=options) as writer:
        yield writer.write_table


_WRITERS: Mapping[str, Callable[[str, FileKind, pa.Schema], AbstractContextManager[WriteRows]]] = (
    MappingProxyType(
        {"csv": _csv, "json": _json, "parquet": _parquet, "orc": _orc, "arrow": _arrow}
    )
)
