"""Writing the base file of a DiskRowSet: its columns, their skip indexes, bloom filter, key index.

One file, one fsync (Kudu writes a file for each column, `tablet/diskrowset.cc`). Encoding is pure
and releases the interpreter, so several rowsets can be written at once on threads.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.bloom_filter import BloomFilter
from pykudu_sql.storage.cfile.cfile_writer import encode_column
from pykudu_sql.storage.cfile.container import ContainerWriter, FileIdentity
from pykudu_sql.storage.cfile.key_index import KeyIndex
from pykudu_sql.storage.cfile.skip_index import SkipIndex, blob_name
from pykudu_sql.storage.common.cancellation import CancelCheck, cancellable, never_cancelled
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.types.hybrid_time import Timestamp
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.widening import in_type
from pykudu_sql.storage.errors import Error
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.tablet.files.tablet_files import TabletFiles
from pykudu_sql.storage.tablet.rowset.cfile_set import BLOOM, KEY_INDEX
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta


@dataclass(frozen=True, slots=True)
class BaseFile:
    """A base file to be written.

    `path`: where; `identity`: what its checksums cover besides the bytes.
    """

    env: Env
    path: str
    identity: FileIdentity


def write_base(
    files: TabletFiles,
    rowset_id: int,
    schema: Sequence[ColumnSchema],
    columns: Mapping[int, pa.Array],
    keys: EncodedKeys,
    inserted_at: Timestamp | None,
    cancel_check: CancelCheck = never_cancelled,
) -> RowSetMeta:
    """Write and fsync a base file in the staging folder; it is removed if that fails.

    Args:
        rowset_id: of the new rowset.
        schema: the columns to write.
        columns: their cells by column id, sorted by key, at least one row. A column is read
            when it is written and then released.
        keys: the encoded keys, ascending and distinct.
        inserted_at: the commit that inserted all rows, or None.
        cancel_check: called before each column.

    Raises DiskError: the disk refused.
    """
    number = files.new_number()
    path, identity = files.staging_path("base", number), files.identity("base", number)
    base_file = BaseFile(files.env, path, identity)
    try:
        return write_base_file(
            base_file, rowset_id, schema, columns, keys, inserted_at, cancel_check
        )
    except BaseException:
        with suppress(Error):
            files.discard("base", number)
        raise


def write_base_file(
    file: BaseFile,
    rowset_id: int,
    schema: Sequence[ColumnSchema],
    columns: Mapping[int, pa.Array],
    keys: EncodedKeys,
    inserted_at: Timestamp | None,
    cancel_check: CancelCheck = never_cancelled,
) -> RowSetMeta:
    """Write and fsync a base file of any place; see `write_base`."""
    with ContainerWriter(file.env, file.path, file.identity, "base.write") as writer:
        write_columns(writer, schema, columns, cancel_check)
        cancel_check()
        writer.add_blob(BLOOM, BloomFilter.build(keys.hash64()).to_bytes())
        writer.add_blob(KEY_INDEX, KeyIndex.build(keys).to_bytes())
        size = writer.finish({"rowset": rowset_id, "rows": len(keys)})
    return RowSetMeta(
        id=rowset_id,
        base=file.identity.file_number,
        rows=len(keys),
        size=size,
        min_key=keys.at(0),
        max_key=keys.at(len(keys) - 1),
        column_ids=tuple(column.id for column in schema),
        inserted_at=inserted_at,
    )


def write_columns(
    writer: ContainerWriter,
    columns: Sequence[ColumnSchema],
    values: Mapping[int, pa.Array],
    cancel_check: CancelCheck,
) -> None:
    """Write columns as CFiles of a file, each with its skip index.

    `values`: of the columns, by their ids; `cancel_check`: called before each column.
    """
    for column in cancellable(columns, cancel_check):
        kind = column.type
        cells = in_type(values[column.id], kind.arrow)
        encoded = encode_column(kind, column.encoding, column.compression, column.block_size, cells)
        writer.add_cfile(str(column.id), encoded)
        if column.indexes:
            writer.add_blob(blob_name(column.id), SkipIndex.build(cells, kind).to_bytes())
