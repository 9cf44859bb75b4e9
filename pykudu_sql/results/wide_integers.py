"""The engine's integers of more than 64 bits, in the form in which it hands them over."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any


def _unsigned(value: Decimal) -> int:
    """Of 128 bits, which the engine hands over as if they had a sign."""
    return int(value) % (1 << 128)


def _bignum(value: bytes) -> int:
    """DuckDB's way: a head of 3 bytes, the magnitude behind it; all bits turned where negative."""
    number = int.from_bytes(value[3:], "big")
    return number if value[0] & 0x80 else number + 1 - (1 << 8 * (len(value) - 3))


WIDE_INTEGERS: Mapping[str, Callable[[Any], int]] = {
    "HUGEINT": int,
    "UHUGEINT": _unsigned,
    "BIGNUM": _bignum,
}
