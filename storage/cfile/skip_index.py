"""The skip index of a column: values that a rowset certainly lacks, though its zone map spans them.

Kudu has such a filter over keys only. Here any column may have one, made for CREATE INDEX: a bloom
filter (see `bloom_filter`) over the distinct values that the column has in one file. An equality or
an IN list none of whose values may be in the file then skips all its rows. NULL is not held, for no
equality matches it.

A value is hashed as a key of this one column would be, numbers that cannot be keys by the bits of
their 8-byte form, in which -0 is 0 and all NaN are one. Of texts and bytes the first 1024 bytes
count, so that long values can be indexed. On disk it is the blob `skip:<column id>` of the file
that has the column's cells, and its bytes are those of the bloom filter.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.bloom_filter import BloomFilter
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.predicate.column_predicate import Comparison, InList, Op, Predicate
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import cells_to_array, distinct_values
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind

FALSE_POSITIVES = 0.01
_PREFIX_BYTES = 1024
_BITS = DataType(Kind.INT64)


@dataclass(frozen=True, slots=True)
class SkipIndex:
    """The filter over one column's values. `values`: hashes of the distinct values."""

    values: BloomFilter
    type: DataType

    @classmethod
    def build(cls, cells: pa.Array, column_type: DataType) -> "SkipIndex":
        """The index of a column's cells, perhaps a dictionary and perhaps with nulls."""
        distinct = distinct_values(cells, column_type)
        return cls(BloomFilter.build(_hashes(distinct, column_type), FALSE_POSITIVES), column_type)

    @classmethod
    def from_bytes(cls, data: bytes, column_type: DataType) -> "SkipIndex":
        """The inverse of `to_bytes`. Raises CorruptionError: the bytes are no bloom filter."""
        return cls(BloomFilter.from_bytes(data), column_type)

    def to_bytes(self) -> bytes:
        """The index as stored."""
        return self.values.to_bytes()

    def excludes(self, candidates: Sequence[Cell]) -> bool:
        """Whether none of some values, not NULL, is among the column's."""
        limits = self.type.integer_range
        if limits is not None:  # a wider type's, which the column got later, may lie outside
            low, high = limits
            candidates = [c for c in candidates if isinstance(c, int) and low <= c <= high]
        cells = cells_to_array(candidates, self.type)
        return not self.values.may_contain(_hashes(cells, self.type)).any()

    def missing(self, cells: pa.Array) -> int:
        """How many distinct values among some cells of the column it wrongly excludes."""
        distinct = distinct_values(cells, self.type)
        matches = self.values.may_contain(_hashes(distinct, self.type))
        return len(matches) - int(np.count_nonzero(matches))


def blob_name(column_id: int) -> str:
    """Under which name a file keeps the index of a column."""
    return f"skip:{column_id}"


def equality_values(predicate: Predicate) -> Sequence[Cell] | None:
    """The values one of which a column must have, None when the predicate names no such."""
    match predicate:
        case Comparison(_, Op.EQ, value):
            return (value,)
        case InList(_, values):
            return values
    return None


def _hashes(cells: pa.Array, column_type: DataType) -> npt.NDArray[np.uint64]:
    if len(cells) == 0:
        return np.zeros(0, np.uint64)
    if column_type.is_variable:
        starts = pc.binary_slice(cells.cast(pa.large_binary()), 0, _PREFIX_BYTES)
        return EncodedKeys.from_binary(starts).hash64()
    if column_type.is_floating or column_type.kind is Kind.BOOL:
        # Adding 0 turns -0 into 0.
        numbers = cells.cast(pa.float64()).to_numpy(zero_copy_only=False) + 0.0
        numbers[np.isnan(numbers)] = np.nan
        cells, column_type = pa.array(numbers.view(np.int64)), _BITS
    column = ColumnSchema(0, "value", column_type, nullable=False)
    return KeyEncoder((column,)).encode({0: cells}).hash64()
