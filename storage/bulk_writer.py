"""Large inserts: rows straight into DiskRowSets, without log and MemRowSet.

The rows of a large INSERT would otherwise be written twice, to the log and at the flush. Here they
are sorted and encoded at once; the files exist once the transaction's commit names them in the
manifest. Columns are prepared and tablets are written side by side on the store's threads, since
the kernels release the interpreter.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.arrays import coerce, combine
from pykudu_sql.storage.common.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.schema import ColumnSchema, Schema
from pykudu_sql.storage.common.types import Encoding
from pykudu_sql.storage.tablet.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.diskrowset_writer import write_base
from pykudu_sql.storage.tablet.tablet import Tablet

BULK_ROWS = 50_000
ROWSET_ROWS = 1 << 20
_SAMPLE = 4096


def coerce_columns(
    pool: Executor, schema: Schema, columns: Mapping[int, pa.Array | pa.ChunkedArray]
) -> dict[int, pa.Array]:
    """Columns of any Arrow type as the table's own, side by side where there are many rows.

    Strings of few distinct values become dictionaries: gathering codes is much cheaper than
    gathering strings, and the files keep them so.

    Args:
        pool: threads.
        schema: of the table.
        columns: by column id.

    Raises:
        DataError: a value does not fit its column.
    """

    def one(column_id: int) -> pa.Array:
        column = schema.by_id[column_id]
        return _encode_words(column, coerce(columns[column_id], column.type, column.name))

    rows = max((len(values) for values in columns.values()), default=0)
    results = pool.map(one, columns) if rows >= BULK_ROWS else map(one, columns)
    return dict(zip(columns, results, strict=True))


def _encode_words(column: ColumnSchema, values: pa.Array) -> pa.Array:
    if not column.type.is_variable or pa.types.is_dictionary(values.type):
        return values
    wanted = column.type.resolve_encoding(column.encoding) is Encoding.DICT_ENCODING
    if not wanted or len(values) < BULK_ROWS:
        return values
    sample = values.take(pa.array(np.linspace(0, len(values) - 1, _SAMPLE).astype(np.int64)))
    few = len(sample.unique()) < _SAMPLE // 2
    return combine(values.dictionary_encode()) if few else values


def write_rowsets(
    tablet: Tablet,
    columns: Mapping[int, pa.Array],
    keys: EncodedKeys,
    rows: npt.NDArray[np.int64],
) -> Sequence[DiskRowSet]:
    """Write rows of an INSERT as staged rowsets of one tablet.

    Args:
        tablet: that the rows belong to.
        columns: of the whole batch, by column id.
        keys: of the tablet's rows; the tablet does not hold them.
        rows: their places in the batch, int64[len(keys)].

    Raises:
        DiskError: the disk refused.
    """
    order = None if keys.is_sorted() else keys.argsort()
    schema = tablet.schema
    rowsets: list[DiskRowSet] = []
    for start in range(0, len(keys), ROWSET_ROWS):
        stop = min(start + ROWSET_ROWS, len(keys))
        part_keys = keys.slice(start, stop) if order is None else keys.take(order[start:stop])
        places = rows[start:stop] if order is None else rows[order[start:stop]]
        chosen = pa.array(places)
        part = {i: values.take(chosen) for i, values in columns.items()}
        rowset_id = tablet.new_rowset_id()
        meta = write_base(tablet.files, rowset_id, schema.columns, part, part_keys, inserted_at=0)
        path = tablet.files.staging_path("base", meta.base)
        rowsets.append(tablet.files.open_rowset(meta, schema.key_columns, tablet.types, path))
    return rowsets
