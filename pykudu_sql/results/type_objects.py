"""PEP 249's type objects and constructors.

The type code of a column is its SQL type as text, `DECIMAL(15,2)`, and compares equal to the group
the standard wants: `cursor.description[0][1] == NUMBER`.
"""

import datetime as dt
from typing import Final


class SqlType(str):
    """A SQL type as text, `BIGINT` or `DECIMAL(15,2)`."""

    __slots__ = ()

    @property
    def base(self) -> str:
        """The name without parameters; `ARRAY` for lists."""
        return "ARRAY" if self.endswith("]") else self.partition("(")[0]

    @property
    def decimal(self) -> tuple[int, int] | None:
        """Precision and scale of a DECIMAL, else None."""
        if self.base != "DECIMAL" or not self.endswith(")"):
            return None
        precision, _, scale = self[len("DECIMAL(") : -1].partition(",")
        return int(precision), int(scale)


class TypeObject:
    """A group of SQL types; equal to each type code in it."""

    __slots__ = ("_bases", "_name")

    def __init__(self, name: str, *bases: str) -> None:
        """Group some types. `bases`: names of its types, without parameters."""
        self._name = name
        self._bases = frozenset(bases)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return SqlType(other).base in self._bases
        return self is other

    def __hash__(self) -> int:
        return hash(self._name)

    def __repr__(self) -> str:
        return self._name


STRING: Final = TypeObject("STRING", "STRING", "VARCHAR", "UUID", "JSON")
BINARY: Final = TypeObject("BINARY", "BINARY", "BIT")
NUMBER: Final = TypeObject(
    "NUMBER",
    *("TINYINT", "SMALLINT", "INT", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "BIGNUM"),
)
DATETIME: Final = TypeObject(
    "DATETIME",
    *("DATE", "TIMESTAMP", "TIME", "INTERVAL", "TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE"),
    *("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
)
ROWID: Final = TypeObject("ROWID")

Date = dt.date
Time = dt.time
Timestamp = dt.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> dt.date:
    """The local date of seconds since 1970."""
    return dt.date.fromtimestamp(ticks)


def TimeFromTicks(ticks: float) -> dt.time:
    """The local time of day of seconds since 1970."""
    return dt.datetime.fromtimestamp(ticks).time()


def TimestampFromTicks(ticks: float) -> dt.datetime:
    """The local time of seconds since 1970."""
    return dt.datetime.fromtimestamp(ticks)
