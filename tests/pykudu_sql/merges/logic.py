"""SQL's three-valued logic over Python values, in which None is NULL and unknown."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

Truth = bool | None
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
COMPARISONS = tuple(_OPERATORS)
DISTINCTIONS = ("IS DISTINCT FROM", "IS NOT DISTINCT FROM")
_STRICT = {"<": "<", "<=": "<", ">": ">", ">=": ">"}


def negated(truth: Truth) -> Truth:
    """NOT."""
    return None if truth is None else not truth


def all_of(truths: Sequence[Truth]) -> Truth:
    """AND."""
    if any(truth is False for truth in truths):
        return False
    return None if None in truths else True


def any_of(truths: Sequence[Truth]) -> Truth:
    """OR."""
    if any(truth is True for truth in truths):
        return True
    return None if None in truths else False


def compared(sign: str, left: Any, right: Any) -> Truth:
    """A comparison of two values."""
    if sign == "IS DISTINCT FROM":
        return bool(left != right)
    if sign == "IS NOT DISTINCT FROM":
        return bool(left == right)
    if left is None or right is None:
        return None
    return _OPERATORS[sign](left, right)


def rows_compared(sign: str, left: Sequence[Any], right: Sequence[Any]) -> Truth:
    """A comparison of two rows of equal length."""
    if sign in ("=", "IS NOT DISTINCT FROM"):
        return all_of([compared(sign, a, b) for a, b in zip(left, right, strict=True)])
    if sign in ("<>", "IS DISTINCT FROM"):
        return any_of([compared(sign, a, b) for a, b in zip(left, right, strict=True)])
    if len(left) == 1:
        return compared(sign, left[0], right[0])
    rest = rows_compared(sign, left[1:], right[1:])
    level = compared("=", left[0], right[0])
    return any_of([compared(_STRICT[sign], left[0], right[0]), all_of([level, rest])])


def is_among(row: Sequence[Any], rows: Sequence[Sequence[Any]]) -> Truth:
    """`row IN rows`."""
    return any_of([rows_compared("=", row, other) for other in rows])
