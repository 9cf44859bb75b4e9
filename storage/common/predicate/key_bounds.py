"""Ranges of encoded keys that hold every row a predicate can match.

Columns are taken in key order: after an equality (or each value of an IN list) the next column
narrows further; after a range nothing does. A range of keys is a pair of byte strings, the lower
end inclusive, the upper exclusive or None for no end.
"""

from collections.abc import Sequence

from pykudu_sql.storage.common.keys.key_encoder import cell_encoder
from pykudu_sql.storage.common.predicate.column_domain import Domain, clip, domain_of, successor
from pykudu_sql.storage.common.predicate.column_predicate import Predicate
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType

KeyRange = tuple[bytes, bytes | None]


def bounds(
    predicate: Predicate | None, key_columns: Sequence[ColumnSchema]
) -> tuple[bytes | None, bytes | None]:
    """The one range of encoded keys to seek: lower inclusive, upper exclusive, None for no end.

    A predicate that contradicts itself gives `(b"", b"")`, which holds no key.
    """
    if predicate is None:
        return None, None
    ranges = key_ranges(key_domains(predicate, key_columns), key_columns, limit=1)
    if not ranges:
        return b"", b""
    lower, upper = ranges[0]
    return lower or None, upper


def key_domains(predicate: Predicate, columns: Sequence[ColumnSchema]) -> list[Domain]:
    """The values that each of some NOT NULL columns may have."""
    return [clip(domain_of(predicate, column.id), column.type) for column in columns]


def key_ranges(
    domains: Sequence[Domain], columns: Sequence[ColumnSchema], *, limit: int
) -> list[KeyRange]:
    """Disjoint ranges of encoded keys, ascending.

    Args:
        domains: the values of each column.
        columns: the columns of the key, in order.
        limit: more ranges than this are not made; IN lists then count as intervals.
    """
    if any(domain.is_empty for domain in domains):
        return []
    prefixes = [b""]
    last = len(columns) - 1
    for index, (domain, column) in enumerate(zip(domains, columns, strict=True)):
        if domain.values is None or len(prefixes) * len(domain.values) > limit:
            hull = domain.hull()
            spans = [_span(prefix, hull, column.type, index == last) for prefix in prefixes]
            return [(low, high) for low, high in spans if high is None or low < high]
        encode = cell_encoder(column.type, index == last)
        prefixes = [prefix + encode(value) for prefix in prefixes for value in domain.values]
    return [(key, key + b"\0") for key in prefixes]


def exact_columns(domains: Sequence[Domain], *, limit: int) -> int:
    """How many of the first columns `key_ranges` takes exactly: a key in one of its ranges has
    cells inside their domains.

    Args:
        domains, limit: as there.
    """
    prefixes = 1
    for index, domain in enumerate(domains):
        if domain.values is None:
            return index + 1
        prefixes *= len(domain.values)
        if prefixes > limit:
            return index
    return len(domains)


def _span(prefix: bytes, hull: Domain, column_type: DataType, last: bool) -> KeyRange:
    """The keys that go on from a prefix with a column inside an interval."""
    encode = cell_encoder(column_type, last)
    end = _after_prefix(prefix)
    low, high = prefix, end
    if hull.lower is not None:
        low = prefix + encode(hull.lower.value)
        if not hull.lower.inclusive:
            after = low + b"\0" if last else _after_prefix(low)
            if after is None:
                return b"", b""
            low = after
    if hull.upper is not None:
        high = prefix + encode(hull.upper.value)
        if hull.upper.inclusive:
            high = high + b"\0" if last else _after_prefix(high)
    return low, high


def _after_prefix(prefix: bytes) -> bytes | None:
    after = successor(prefix)
    assert not isinstance(after, str)
    return after
