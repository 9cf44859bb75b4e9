"""The tablet that holds a key, and blocks of tablets back to one Arrow table."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell, DataType
from pykudu_sql.storage.errors import UncoveredRangeError
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock

_MOSTLY = 8


def tablet_of_key(table: TableInfo, key: tuple[Cell, ...], encoded: bytes) -> int | None:
    """The index of the tablet that a key belongs to; None outside all range partitions.

    `key`: cells in key order; `encoded`: the same as bytes.
    """
    if len(table.tablets) == 1 and not table.partition_schema.range_column_ids:
        return 0
    try:
        return table.assigner.assign_key(key, encoded)
    except UncoveredRangeError:
        return None


def assemble(columns: Sequence[ColumnSchema], blocks: Iterator[RowBlock]) -> pa.Table:
    """Blocks as one Arrow table, a chunk a block, with the columns' names.

    Dictionary-encoded strings stay so where nearly all of a column is encoded.
    """
    chunks: list[list[pa.Array]] = [[] for _ in columns]
    rows = 0
    for block in blocks:
        rows += block.length
        for chunk, values in zip(chunks, block.columns, strict=True):
            chunk.append(values)
    if not columns:
        return pa.table({"rows": pa.nulls(rows)}).select([])
    arrays = [unify(part, column.type) for part, column in zip(chunks, columns, strict=True)]
    return pa.Table.from_arrays(arrays, names=[column.name for column in columns])


def unify(chunks: Sequence[pa.Array], column_type: DataType) -> pa.ChunkedArray:
    """Chunks of one column, some dictionary-encoded perhaps, as one chunked array."""
    encoded = [chunk for chunk in chunks if pa.types.is_dictionary(chunk.type)]
    if not encoded:
        return _in_one_form(chunks, column_type)
    total = sum(len(chunk) for chunk in chunks)
    if (total - sum(len(chunk) for chunk in encoded)) * _MOSTLY > total:
        decoded = (c.dictionary_decode() if pa.types.is_dictionary(c.type) else c for c in chunks)
        return _in_one_form(list(decoded), column_type)
    dictionaries = [
        c if pa.types.is_dictionary(c.type) else plain(c).dictionary_encode() for c in chunks
    ]
    widest = max((c.indices.type for c in dictionaries), key=lambda kind: int(kind.bit_width))
    return pa.chunked_array([_widen(c, widest) for c in dictionaries])


def _in_one_form(chunks: Sequence[pa.Array], column_type: DataType) -> pa.ChunkedArray:
    """Chunks without dictionaries; texts as views where some are."""
    view = pa.string_view()
    if not column_type.is_text or view not in [chunk.type for chunk in chunks]:
        return pa.chunked_array(chunks, column_type.arrow)
    return pa.chunked_array([chunk.cast(view) for chunk in chunks], view)


def _widen(values: pa.DictionaryArray, index_type: pa.DataType) -> pa.DictionaryArray:
    if values.indices.type == index_type:
        return values
    return pa.DictionaryArray.from_arrays(values.indices.cast(index_type), values.dictionary)
