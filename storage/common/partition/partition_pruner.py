"""Which partitions can hold rows that match a predicate (Kudu's `common/partition_pruner.h`).

One pure function used by scans, EXPLAIN and every other engine alike. It keeps every partition
that holds a matching row. Equality and IN on all columns of a hash dimension choose its buckets;
on range columns equality, IN and intervals choose ranges. ORs are pruned part by part.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    PartitionSchema,
    schema_columns,
)
from pykudu_sql.storage.common.partition.partition_assigner import HashBucketer
from pykudu_sql.storage.common.predicate.column_domain import Domain
from pykudu_sql.storage.common.predicate.column_predicate import Or, Predicate, conjuncts
from pykudu_sql.storage.common.predicate.key_bounds import KeyRange, key_domains, key_ranges
from pykudu_sql.storage.common.types.schema import Schema

Mask = npt.NDArray[np.bool_]

_MAX_RANGES = 4096
_MAX_COMBINATIONS = 100_000


def prune(
    schema: Schema, partition_schema: PartitionSchema, predicate: Predicate | None
) -> tuple[int, ...]:
    """Indices into `partition_schema.partitions()` of those to read, ascending."""
    return PartitionPruner(schema, partition_schema).prune(predicate)


class PartitionPruner:
    """Prunes the partitions of one table for many predicates."""

    def __init__(self, schema: Schema, partition_schema: PartitionSchema) -> None:
        """Encode the bounds of all ranges."""
        self._schema = schema
        self._partitions = partition_schema
        self._range_columns = schema_columns(schema, partition_schema.range_column_ids)
        spans = partition_schema.covering_ranges
        encode = KeyEncoder(self._range_columns).encode_one
        self._lowers = [b"" if s.lower is None else encode(s.lower) for s in spans]
        self._uppers = [encode(s.upper) for s in spans if s.upper is not None]
        self._bucketers: dict[HashDimension, HashBucketer] = {}

    def prune(self, predicate: Predicate | None) -> tuple[int, ...]:
        """Indices into `partition_schema.partitions()` of those to read, ascending."""
        if predicate is None:
            return tuple(range(self._partitions.offsets[-1]))
        return tuple(np.flatnonzero(self._keep(predicate)).tolist())

    def _keep(self, predicate: Predicate) -> Mask:
        """The partitions that a predicate can match in, shape (partitions,)."""
        if isinstance(predicate, Or):
            mask = np.zeros(self._partitions.offsets[-1], np.bool_)
            for part in predicate.parts:
                mask |= self._keep(part)
            return mask
        mask = self._keep_by_domains(predicate)
        for part in conjuncts(predicate):
            if isinstance(part, Or):
                mask &= self._keep(part)
        return mask

    def _keep_by_domains(self, predicate: Predicate) -> Mask:
        schema, offsets = self._schema, self._partitions.offsets
        mask = np.zeros(offsets[-1], np.bool_)
        domains = dict(zip(schema.key_ids, key_domains(predicate, schema.key_columns), strict=True))
        if any(domain.is_empty for domain in domains.values()):
            return mask
        buckets: dict[tuple[HashDimension, ...], Mask] = {}
        for index in self._spans([domains[column.id] for column in self._range_columns]):
            dimensions = self._partitions.hash_dimensions_of(
                self._partitions.covering_ranges[index]
            )
            if dimensions not in buckets:
                buckets[dimensions] = self._buckets(dimensions, domains)
            mask[offsets[index] : offsets[index + 1]] = buckets[dimensions]
        return mask

    def _spans(self, domains: Sequence[Domain]) -> Sequence[int]:
        """The ranges that some row of the domains lies in."""
        if not domains:
            return range(1)
        spans: set[int] = set()
        for key_range in key_ranges(domains, self._range_columns, limit=_MAX_RANGES):
            spans.update(self._overlapping(key_range))
        return sorted(spans)

    def _overlapping(self, key_range: KeyRange) -> range:
        low, high = key_range
        first = bisect_right(self._uppers, low)
        stop = len(self._lowers) if high is None else bisect_left(self._lowers, high)
        return range(first, stop)

    def _buckets(self, dimensions: tuple[HashDimension, ...], domains: dict[int, Domain]) -> Mask:
        """Which combinations of buckets can hold a row, in the order of the partitions."""
        combined = np.ones(1, np.bool_)
        for dimension in dimensions:
            mask = self._dimension_buckets(dimension, domains)
            combined = np.logical_and.outer(combined, mask).ravel()
        return combined

    def _dimension_buckets(self, dimension: HashDimension, domains: dict[int, Domain]) -> Mask:
        every = np.ones(dimension.buckets, np.bool_)
        mask = np.zeros(dimension.buckets, np.bool_)
        values = [domains[column_id].values for column_id in dimension.column_ids]
        finite = [choices for choices in values if choices is not None]
        if len(finite) < len(values):
            return every
        bucketer = self._bucketers.get(dimension)
        if bucketer is None:
            bucketer = self._bucketers[dimension] = HashBucketer(self._schema, dimension)
        for count, cells in enumerate(product(*finite)):
            if count % dimension.buckets == 0 and (count >= _MAX_COMBINATIONS or mask.all()):
                return every
            mask[bucketer.bucket(cells)] = True
        return mask
