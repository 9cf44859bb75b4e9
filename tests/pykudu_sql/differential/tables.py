"""Random tables and rows, and how Python values are written in SQL."""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from itertools import pairwise
from random import Random
from typing import Any

_INTS = [-1, 0, 1, 2, 3, 5, 7, 8, 100]
_TEXTS = ["", "a", "A", "ab", "abc", "b", "b%", "_x", "é", "日本", "it's", "abd", "z"]
_DAYS = [dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2024, 2, 29), dt.date(2025, 1, 1)]
_TIMES = [
    dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
    dt.datetime(2024, 2, 29),
    dt.datetime(2024, 2, 29, 12, 30),
    dt.datetime(2025, 1, 1, 0, 0, 0, 1),
]

_EXACT = Context(prec=200)


def _wide(precision: int, scale: int) -> list[Any]:
    top = 10**precision - 1
    units = (-top, 1 - top, -(10**19), -1, 0, 1, 2, 10**19 + 1, top - 1, top)
    return [Decimal(number).scaleb(-scale, _EXACT) for number in units]


# By SQL type: the class of comparable types it belongs to, and values that fit it.
TYPES: Mapping[str, tuple[str, list[Any]]] = {
    "TINYINT": ("int", [*_INTS, -128, 127]),
    "SMALLINT": ("int", [*_INTS, -32768, 32767]),
    "INT": ("int", [*_INTS, 2**31 - 1, -(2**31)]),
    "BIGINT": ("int", [*_INTS, 2**53 + 1, 2**63 - 1, -(2**63)]),
    "DECIMAL(9, 2)": ("dec", [Decimal(n) / 4 for n in (-6, 0, 1, 4, 8, 9, 20)]),
    "DECIMAL(18, 4)": ("dec", [Decimal(n) / 8 for n in (-7, 0, 1, 8, 16, 17, 40)]),
    "DECIMAL(38, 38)": ("fraction", _wide(38, 38)),
    "DECIMAL(38, 0)": ("huge", _wide(38, 0)),
    "DECIMAL(38, 10)": ("wide", _wide(38, 10)),
    "DOUBLE": ("dbl", [-1.5, -0.0, 0.0, 0.25, 1.0, 2.0, 2.5, 1e15, float("inf"), float("nan")]),
    "FLOAT": ("dbl", [-1.5, 0.0, 0.25, 1.0, 2.0, 2.5, 1e6]),
    "STRING": ("str", _TEXTS),
    "VARCHAR(3)": ("str", [text for text in _TEXTS if len(text) <= 3]),
    "DATE": ("day", _DAYS),
    "TIMESTAMP": ("time", _TIMES),
    "BOOLEAN": ("bool", [True, False]),
    "BINARY": ("bin", [b"", b"\x00", b"a", b"a\x00", b"\xff\x01"]),
}
PORTABLE = ("INT", "BIGINT", "STRING")
WIDE = ("fraction", "huge", "wide")
_KEYS = (
    *("TINYINT", "INT", "BIGINT", "STRING", "DATE", "TIMESTAMP", "DECIMAL(9, 2)", "VARCHAR(3)"),
    *("DECIMAL(38, 38)", "DECIMAL(38, 0)"),
)


@dataclass(frozen=True)
class Column:
    """A column of a table, or of what a FROM clause offers."""

    name: str
    type: str
    key: bool = False

    @property
    def family(self) -> str:
        return TYPES[self.type][0]

    @property
    def pool(self) -> list[Any]:
        return TYPES[self.type][1]


@dataclass
class Table:
    """A table and what its columns were at each version of the world."""

    name: str
    columns: list[Column]
    versions: dict[int, list[Column]] = field(default_factory=dict)

    @property
    def keys(self) -> list[Column]:
        return [column for column in self.columns if column.key]

    def key_of(self, row: Sequence[Any]) -> tuple[Any, ...]:
        """The key's values of a row."""
        return tuple(v for column, v in zip(self.columns, row, strict=True) if column.key)


def literal(value: Any) -> str:
    """A Python value in SQL."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case float() if not math.isfinite(value):
            return f"CAST('{value}' AS DOUBLE)"
        case float():
            return f"{value!r}e0" if "e" not in repr(value) else repr(value)
        case str():
            return "'" + value.replace("'", "''") + "'"
        case bytes():
            return "unhex('" + value.hex() + "')"
        case dt.datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case Decimal():
            return f"{value:f}"
        case _:
            return str(value)


def draw_table(pick: Random, name: str, portable: bool) -> Table:
    """A table with a key of one or two columns and up to five others."""
    keys = [k for k in _KEYS if k in PORTABLE or not portable]
    others = [k for k in TYPES if k in PORTABLE or not portable]
    columns = [Column(f"k{i}", pick.choice(keys), key=True) for i in range(pick.choice((1, 1, 2)))]
    columns += [Column(f"c{i}", pick.choice(others)) for i in range(pick.randint(1, 5))]
    return Table(name, columns)


def draw_partitions(pick: Random, table: Table) -> str:
    """A PARTITION BY clause, or none."""
    parts = []
    if pick.random() < 0.6:
        hashed = pick.sample(table.keys, pick.randint(1, len(table.keys)))
        names = ", ".join(column.name for column in hashed)
        parts.append(f"HASH ({names}) PARTITIONS {pick.randint(2, 5)}")
    if pick.random() < 0.5:
        key = pick.choice(table.keys)
        cuts = sorted(set(pick.sample(key.pool, 2)))
        if key.family == "str":
            cuts = sorted(cuts, key=str.encode)
        bounds = [repr(c) if isinstance(c, str) and "'" not in c else literal(c) for c in cuts]
        ranges = [f"PARTITION VALUES < {bounds[0]}"]
        ranges += [f"PARTITION {low} <= VALUES < {high}" for low, high in pairwise(bounds)]
        ranges.append(f"PARTITION {bounds[-1]} <= VALUES")
        parts.append(f"RANGE ({key.name}) ({', '.join(ranges)})")
    return f" PARTITION BY {', '.join(parts)}" if parts else ""


def draw_rows(pick: Random, table: Table, count: int) -> list[tuple[Any, ...]]:
    """Rows of a table; keys may repeat, other columns may be NULL."""
    return [
        tuple(pick.choice(c.pool) if c.key or pick.random() > 0.2 else None for c in table.columns)
        for _ in range(count)
    ]
