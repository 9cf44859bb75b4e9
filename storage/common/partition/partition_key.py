"""Partition keys: the span of one tablet as bytes, in Kudu's order (`common/partition.cc`).

A partition key is a bucket number in four bytes, big-endian, for each hash dimension, and then the
encoded range columns. A span's end is exclusive; an empty start or end is open.
"""

from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.partition.partition import Partition, PartitionSchema, schema_columns
from pykudu_sql.storage.common.types.schema import Schema


def partition_key_span(
    schema: Schema, scheme: PartitionSchema, partition: Partition
) -> tuple[bytes, bytes]:
    """The first partition key of a tablet and the first one behind it."""
    columns = schema_columns(schema, scheme.range_column_ids)
    encode = KeyEncoder(columns).encode_one
    lower, upper = partition.range.lower, partition.range.upper
    buckets = partition.buckets
    counts = [d.buckets for d in scheme.hash_dimensions_of(partition.range)]
    if lower is not None:
        start = _bucket_bytes(buckets) + encode(lower)
    else:
        start = _bucket_bytes(_without_trailing_zeros(buckets))
    if upper is not None:
        return start, _bucket_bytes(buckets) + encode(upper)
    return start, _bucket_bytes(_following(buckets, counts))


def _bucket_bytes(buckets: tuple[int, ...]) -> bytes:
    return b"".join(bucket.to_bytes(4, "big") for bucket in buckets)


def _without_trailing_zeros(buckets: tuple[int, ...]) -> tuple[int, ...]:
    """Bucket 0 of an open range begins where the dimension before it does."""
    while buckets and buckets[-1] == 0:
        buckets = buckets[:-1]
    return buckets


def _following(buckets: tuple[int, ...], counts: list[int]) -> tuple[int, ...]:
    """The shortest prefix of buckets behind these; none behind the last."""
    for index in range(len(buckets) - 1, -1, -1):
        if buckets[index] + 1 < counts[index]:
            return (*buckets[:index], buckets[index] + 1)
    return ()
