"""Which partition a row belongs to, for batches and for one row, always the same.

Built once for a table's schema and partition schema, since it compiles the encoders of every hash
dimension and the bounds of all ranges.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.keys.murmur import murmur64a_one
from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    PartitionSchema,
    schema_columns,
)
from pykudu_sql.storage.common.partition.range_bound import Bound, tuple_text
from pykudu_sql.storage.common.types.arrays import array_to_cells
from pykudu_sql.storage.common.types.from_buffers import integers, numbers_of
from pykudu_sql.storage.common.types.schema import Schema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import UncoveredRangeError

I32 = npt.NDArray[np.int32]


class HashBucketer:
    """The bucket of a row in one hash dimension."""

    def __init__(self, schema: Schema, dimension: HashDimension) -> None:
        self.dimension = dimension
        self._encoder = KeyEncoder(schema_columns(schema, dimension.column_ids))

    def buckets(self, columns: Mapping[int, pa.Array]) -> I32:
        """The buckets of a batch of rows, columns by id."""
        first = self.dimension.column_ids[0]
        values = columns[first]
        one_column = len(self.dimension.column_ids) == 1
        if one_column and pa.types.is_dictionary(values.type):
            words = self.buckets({first: values.dictionary})
            buckets: I32 = words[numbers_of(values.indices)]
            return buckets
        hashes = self._encoder.encode(columns).murmur64a(self.dimension.seed)
        return (hashes % np.uint64(self.dimension.buckets)).astype(np.int32)

    def bucket(self, cells: Sequence[Cell]) -> int:
        """The bucket of one row, its cells in the order of the dimension's columns."""
        return self.bucket_of(self._encoder.encode_one(cells))

    def bucket_of(self, encoded: bytes) -> int:
        """The bucket of one row, the cells of the dimension's columns encoded as a key."""
        return murmur64a_one(encoded, self.dimension.seed) % self.dimension.buckets


class PartitionAssigner:
    """Maps rows to indices into `PartitionSchema.partitions()`."""

    def __init__(self, schema: Schema, partition_schema: PartitionSchema) -> None:
        self._range_columns = schema_columns(schema, partition_schema.range_column_ids)
        self._range_ids = partition_schema.range_column_ids
        spans = partition_schema.covering_ranges
        self._offsets = partition_schema.offsets
        self._array_offsets = np.array(self._offsets, np.int32)
        bucketers: dict[HashDimension, HashBucketer] = {}
        self._bucketers = [
            tuple(
                bucketers.setdefault(dimension, HashBucketer(schema, dimension))
                for dimension in partition_schema.hash_dimensions_of(span)
            )
            for span in spans
        ]
        self._key_ids = schema.key_ids
        # What decides by the bytes of the whole key, where one hash dimension does.
        self._key_bucketer = None
        if not self._range_ids and [len(each) for each in self._bucketers] == [1]:
            (bucketer,) = self._bucketers[0]
            if bucketer.dimension.column_ids == schema.key_ids:
                self._key_bucketer = bucketer
        self._open_below = bool(spans) and spans[0].lower is None
        self._lowers = [span.lower for span in spans if span.lower is not None]
        self._uppers = [span.upper for span in spans]
        self._range_encoder = KeyEncoder(self._range_columns)
        self._encoded_lowers = self._encode_bounds(self._lowers)
        self._encoded_uppers = self._encode_bounds([u for u in self._uppers if u is not None])

    def assign(self, columns: Mapping[int, pa.Array]) -> I32:
        """The partition of each row.

        `columns`: by column id; the key's columns among them, without nulls. Returns Indices into
        `PartitionSchema.partitions()`, shape (rows,). Raises UncoveredRangeError: some row lies
        outside all ranges.
        """
        indices = self.find(columns)
        outside = np.flatnonzero(indices < 0)
        if len(outside):
            raise self.uncovered(columns, int(outside[0]))
        return indices

    def find(self, columns: Mapping[int, pa.Array]) -> I32:
        """As `assign`, with -1 for a row outside all ranges."""
        if not self._range_ids:
            return self._within(0, columns)
        spans = self._spans(columns)
        if len(set(self._bucketers)) == 1:
            tablets = self._array_offsets[spans] + self._within(0, columns)
            tablets[spans < 0] = -1
            return tablets
        result = np.full(len(spans), -1, np.int32)
        for span in np.unique(spans[spans >= 0]).tolist():
            rows = np.flatnonzero(spans == span)
            indices = integers(rows)
            subset = {column_id: values.take(indices) for column_id, values in columns.items()}
            result[rows] = self._array_offsets[span] + self._within(span, subset)
        return result

    def assign_one(self, cells: Mapping[int, Cell]) -> int:
        """The partition of one row, its cells by column id.

        Raises UncoveredRangeError: the row lies outside all ranges.
        """
        span = 0
        if self._range_ids:
            values = self._range_values(cells)
            span = self._span_of(values)
            if span < 0:
                raise self._uncovered(values)
        index = 0
        for bucketer in self._bucketers[span]:
            dimension = bucketer.dimension
            bucket = bucketer.bucket([cells[i] for i in dimension.column_ids])
            index = index * dimension.buckets + bucket
        return self._offsets[span] + index

    def assign_key(self, key: Sequence[Cell], encoded: bytes) -> int:
        """The partition of the row of a key, cells in key order; `encoded`: the same as bytes.

        Raises UncoveredRangeError: the row lies outside all ranges.
        """
        bucketer = self._key_bucketer
        if bucketer is not None:
            return bucketer.bucket_of(encoded)
        return self.assign_one(dict(zip(self._key_ids, key, strict=True)))

    def covers(self, cells: Mapping[int, Cell]) -> bool:
        """Whether one row, its cells by column id, lies in some range."""
        return not self._range_ids or self._span_of(self._range_values(cells)) >= 0

    def _range_values(self, cells: Mapping[int, Cell]) -> Bound:
        return tuple([cells[i] for i in self._range_ids])

    def _span_of(self, values: Bound) -> int:
        """The range that values of the range columns lie in, -1 outside all."""
        span = bisect_right(self._lowers, values) - (not self._open_below)
        if span >= 0 and self._uppers:
            upper = self._uppers[span]
            if upper is None or values < upper:
                return span
        return -1

    def _spans(self, columns: Mapping[int, pa.Array]) -> npt.NDArray[np.int64]:
        """The range of each row, -1 outside all.

        In a range as many lowers lie at or below the row as uppers, and one more.
        """
        keys = self._range_encoder.encode(columns)
        lower_counts = self._encoded_lowers.insertion_points(keys, "right") + self._open_below
        upper_counts = self._encoded_uppers.insertion_points(keys, "right")
        return np.where(lower_counts - upper_counts == 1, lower_counts - 1, -1)

    def uncovered(self, columns: Mapping[int, pa.Array], row: int) -> UncoveredRangeError:
        """The error for a row of a batch that lies outside all ranges."""
        values = tuple(
            array_to_cells(columns[column.id].slice(row, 1), column.type)[0]
            for column in self._range_columns
        )
        return self._uncovered(values)

    def _within(self, span: int, columns: Mapping[int, pa.Array]) -> I32:
        """The index of each row's buckets within a range's partitions."""
        index = np.zeros(len(next(iter(columns.values()))), np.int32)
        for bucketer in self._bucketers[span]:
            index *= np.int32(bucketer.dimension.buckets)
            index += bucketer.buckets(columns)
        return index

    def _encode_bounds(self, bounds: Sequence[Bound]) -> EncodedKeys:
        encoder = self._range_encoder
        return EncodedKeys.from_bytes([encoder.encode_one(b) for b in bounds], encoder.width)

    def _uncovered(self, values: Bound) -> UncoveredRangeError:
        names = ", ".join(column.name for column in self._range_columns)
        return UncoveredRangeError(
            f"no range partition covers ({names}) = {tuple_text(self._range_columns, values)}",
            hint="add one with ALTER TABLE ... ADD RANGE PARTITION",
        )
