"""Sets of values that one column may have where a predicate holds.

A `Domain` is a finite set (from = and IN) or an interval (from <, <=, >, >=, prefixes), and every
function here may return a larger set than the true one, never a smaller. Key bounds, partition
pruning and simplification all work on domains, so the meaning of a predicate is spelled once.

Cells of one type compare as Python values do, which is also the order of encoded keys (UTF-8 orders
as code points do), but for NaN: it equals itself and is the greatest.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from functools import cmp_to_key
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.predicate.column_predicate import (
    Among,
    And,
    Comparison,
    InList,
    IsNotNull,
    Like,
    Op,
    Or,
    Predicate,
    StartsWith,
)
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One end of an interval."""

    value: Cell
    inclusive: bool


@dataclass(frozen=True, slots=True)
class Domain:
    """Non-NULL values of a column.

    Attributes:
        values: a finite set, ascending and distinct, or None for an interval.
        lower, upper: the ends of the interval, None where it is open.
    """

    values: tuple[Cell, ...] | None = None
    lower: Endpoint | None = None
    upper: Endpoint | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it holds no value."""
        return self.values == ()

    @property
    def is_full(self) -> bool:
        """Whether it holds every value."""
        return self.values is None and self.lower is None and self.upper is None

    def contains(self, cell: Cell) -> bool:
        """Whether it holds a value."""
        if self.values is not None:
            at = bisect_left(self.values, _SORT_KEY(cell), key=_SORT_KEY)
            return at < len(self.values) and compare(self.values[at], cell) == 0
        return _above(cell, self.lower) and _below(cell, self.upper)

    def intersect(self, other: "Domain") -> "Domain":
        """The values in both."""
        if self.is_full or other.is_full:
            return other if self.is_full else self
        if self.values is not None:
            return self._within(other)
        if other.values is not None:
            return other._within(self)
        return interval(_higher(self.lower, other.lower), _lower(self.upper, other.upper))

    def _within(self, other: "Domain") -> "Domain":
        """The values of this finite set that another domain holds."""
        assert self.values is not None
        # What lies between two values of an interval lies in it.
        ends = self.values[:1] + self.values[-1:]
        if other.values is None and all(map(other.contains, ends)):
            return self
        return Domain(tuple(filter(other.contains, self.values)))

    def hull(self) -> "Domain":
        """The interval from the least to the greatest value; empty stays empty."""
        if not self.values:
            return self
        return Domain(None, Endpoint(self.values[0], True), Endpoint(self.values[-1], True))


FULL = Domain()
EMPTY = Domain(())


def finite(values: Iterable[Cell]) -> Domain:
    """The domain of some values, in any order."""
    # A dict keeps the first of equal values, in their order; NaN, which equals nothing, is compared
    # by identity.
    candidates = list(dict.fromkeys(values))
    if all(value == value for value in candidates):
        return Domain(tuple(sorted(candidates, key=_plain_key)))
    ordered = sorted(candidates, key=_SORT_KEY)
    distinct = [v for i, v in enumerate(ordered) if i == 0 or compare(ordered[i - 1], v) != 0]
    return Domain(tuple(distinct))


def interval(lower: Endpoint | None, upper: Endpoint | None) -> Domain:
    """The domain between two ends; a single value or none when they meet or cross."""
    if lower is not None and upper is not None:
        order = compare(lower.value, upper.value)
        if order > 0 or (order == 0 and not (lower.inclusive and upper.inclusive)):
            return EMPTY
        if order == 0:
            return Domain((lower.value,))
    return Domain(None, lower, upper)


def union(domains: Iterable[Domain]) -> Domain:
    """The values in any of some domains, filled to an interval unless all are finite."""
    present = [domain for domain in domains if not domain.is_empty]
    if not present:
        return EMPTY
    if all(domain.values is not None for domain in present):
        return finite(value for domain in present for value in domain.values or ())
    hulls = [domain.hull() for domain in present]
    lower, upper = hulls[0].lower, hulls[0].upper
    for hull in hulls[1:]:
        if lower is not None:
            lower = hull.lower and min(lower, hull.lower, key=_LOWER_KEY)
        if upper is not None:
            upper = hull.upper and max(upper, hull.upper, key=_UPPER_KEY)
    return Domain(None, lower, upper)


def domain_of(predicate: Predicate, column_id: int) -> Domain:
    """Values that a column may have where a predicate holds, NULL apart."""
    match predicate:
        case And(parts):
            result = FULL
            for part in parts:
                result = result.intersect(domain_of(part, column_id))
            return result
        case Or(parts):
            return union(domain_of(part, column_id) for part in parts)
    if predicate.column_id != column_id:
        return FULL
    match predicate:
        case Comparison(_, op, value):
            return _FROM_COMPARISON[op](value)
        case InList():
            return Domain(predicate.ascending)
        case Among(_, members):
            return interval(Endpoint(members.least, True), Endpoint(members.greatest, True))
        case StartsWith(_, prefix):
            return prefix_domain(prefix)
        case IsNotNull() | Like():
            return FULL
    return EMPTY


def clip(domain: Domain, column_type: DataType) -> Domain:
    """A domain without what no cell of the type can be: ends at the type's own become open."""
    if domain.is_full:
        return domain
    if column_type.integer_range is not None:
        return _clip_integers(domain, *column_type.integer_range)
    least, greatest = _extremes(column_type)
    if domain.values is not None:
        inside = Domain(
            None,
            None if least is None else Endpoint(least, True),
            None if greatest is None else Endpoint(greatest, True),
        )
        return domain.intersect(inside)
    lower, upper = domain.lower, domain.upper
    if least is not None:
        if upper is not None and _UPPER_KEY(upper) < _UPPER_KEY(Endpoint(least, True)):
            return EMPTY
        if lower is not None and _LOWER_KEY(lower) <= _LOWER_KEY(Endpoint(least, True)):
            lower = None
    if greatest is not None:
        if lower is not None and _LOWER_KEY(lower) > _LOWER_KEY(Endpoint(greatest, True)):
            return EMPTY
        if upper is not None and _UPPER_KEY(upper) >= _UPPER_KEY(Endpoint(greatest, True)):
            upper = None
    if lower is None and upper is not None and least is not None:
        lower = Endpoint(least, True) if compare(upper.value, least) == 0 else None
    elif upper is None and lower is not None and greatest is not None:
        upper = Endpoint(greatest, True) if compare(lower.value, greatest) == 0 else None
    return interval(lower, upper)


def _clip_integers(domain: Domain, least: int, greatest: int) -> Domain:
    """`clip` to the integers from `least` to `greatest`; the ends of the result are inclusive."""
    values: tuple[Any, ...] | None = domain.values
    if values is not None:
        if not values or (values[0] >= least and values[-1] <= greatest):
            return domain
        return Domain(tuple(value for value in values if least <= value <= greatest))
    low = None if domain.lower is None else _as_int(domain.lower) + (not domain.lower.inclusive)
    high = None if domain.upper is None else _as_int(domain.upper) - (not domain.upper.inclusive)
    first, last = least if low is None else low, greatest if high is None else high
    if first > last or first > greatest or last < least:
        return EMPTY
    first, last = max(first, least), min(last, greatest)
    if first == last:
        return Domain((first,))
    lower = None if first == least else Endpoint(first, True)
    upper = None if last == greatest else Endpoint(last, True)
    return Domain(None, lower, upper)


def prefix_domain(prefix: str | bytes) -> Domain:
    """The strings that begin with a prefix."""
    if not prefix:
        return FULL
    after = successor(prefix)
    upper = None if after is None else Endpoint(after, False)
    return Domain(None, Endpoint(prefix, True), upper)


def successor(prefix: str | bytes) -> str | bytes | None:
    """The least string greater than all that begin with a prefix; None when there is none."""
    if isinstance(prefix, bytes):
        stem = prefix.rstrip(b"\xff")
        return stem[:-1] + bytes([stem[-1] + 1]) if stem else None
    text = prefix.rstrip("\U0010ffff")
    if not text:
        return None
    following = ord(text[-1]) + 1
    if following == 0xD800:  # surrogates are not characters of UTF-8
        following = 0xE000
    return text[:-1] + chr(following)


def compare(left: Any, right: Any) -> int:
    """-1, 0 or 1 as the first cell is less, equal or greater; NaN is the greatest."""
    if left < right:
        return -1
    if left > right:
        return 1
    if left == right:
        return 0
    left_is_nan, right_is_nan = left != left, right != right
    return int(left_is_nan) - int(right_is_nan)


def _compare_lower(left: Endpoint, right: Endpoint) -> int:
    return compare(left.value, right.value) or int(right.inclusive) - int(left.inclusive)


def _compare_upper(left: Endpoint, right: Endpoint) -> int:
    return compare(left.value, right.value) or int(left.inclusive) - int(right.inclusive)


def _plain_key(cell: Cell) -> Any:
    return cell


_SORT_KEY = cmp_to_key(compare)
_LOWER_KEY = cmp_to_key(_compare_lower)
_UPPER_KEY = cmp_to_key(_compare_upper)

_FROM_COMPARISON: Mapping[Op, Callable[[Cell], Domain]] = {
    Op.EQ: lambda value: Domain((value,)),
    Op.LT: lambda value: Domain(None, None, Endpoint(value, False)),
    Op.LE: lambda value: Domain(None, None, Endpoint(value, True)),
    Op.GT: lambda value: Domain(None, Endpoint(value, False), None),
    Op.GE: lambda value: Domain(None, Endpoint(value, True), None),
}


def _above(cell: Cell, lower: Endpoint | None) -> bool:
    return lower is None or compare(cell, lower.value) >= (0 if lower.inclusive else 1)


def _below(cell: Cell, upper: Endpoint | None) -> bool:
    return upper is None or compare(cell, upper.value) <= (0 if upper.inclusive else -1)


def _higher(left: Endpoint | None, right: Endpoint | None) -> Endpoint | None:
    """The narrower of two lower ends."""
    if left is None or right is None:
        return left or right
    return max(left, right, key=_LOWER_KEY)


def _lower(left: Endpoint | None, right: Endpoint | None) -> Endpoint | None:
    """The narrower of two upper ends."""
    if left is None or right is None:
        return left or right
    return min(left, right, key=_UPPER_KEY)


def _as_int(limit: Endpoint) -> int:
    assert isinstance(limit.value, int)
    return limit.value


def _extremes(column_type: DataType) -> tuple[Cell, Cell]:
    """The least and the greatest cell of a type that has no integers, None where there is none."""
    if column_type.kind is Kind.BOOL:
        return False, True
    if column_type.is_floating:
        return -math.inf, math.nan
    return ("" if column_type.is_text else b""), None
