"""Random conditions over columns of all kinds, and values of all kinds to compare them with.

What a scan decides and what it does not stand side by side: the property that is held against them
is that nobody can tell which it was.
"""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from random import Random
from typing import Any

DDL = """CREATE TABLE kinds (
    k BIGINT, w STRING, a INT, b SMALLINT, c TINYINT, s STRING, v VARCHAR(3), f BOOLEAN, d DATE,
    t TIMESTAMP, m DECIMAL(5,2), n DECIMAL(15,2), o DECIMAL(38,4), x DOUBLE, y FLOAT, z BINARY,
    PRIMARY KEY (k, w)
) PARTITION BY HASH (w) PARTITIONS 3"""
COLUMNS = ["k", "w", "a", "b", "c", "s", "v", "f", "d", "t", "m", "n", "o", "x", "y", "z"]
DAY, MOMENT = dt.date(2020, 2, 29), dt.datetime(2020, 2, 29, 12, 0, 0, 5)
WORDS = ["", "a", "ab", "b", "ä", "z\0", "€"]
# The ends of the integers, and where floats of 32 and 64 bits begin to leave some of them out.
NUMBERS = [
    *(0, 127, 128, 32767, 32768, (1 << 24) - 1, 1 << 24, (1 << 24) + 1, (1 << 31) - 1, 1 << 31),
    *((1 << 53) - 1, 1 << 53, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, 10**19, 10**37),
]
FRACTIONS = ["0", "0.5", "0.25", "0.125", "0.01", "-0.005", "0.00000001"]
COMPUTED = [
    *("2 + 1", "7 // 2", "1 / 2", "nullif(1, 1)", "CAST(16777216 AS FLOAT)", "CAST(1 AS TINYINT)"),
    *(
        "CAST('1.5' AS DECIMAL(5,2))",
        "CAST(9007199254740992 AS DOUBLE)",
        "'a' || 'b'",
        "upper('a')",
    ),
    *("to_json(1)", "CAST('a' AS ENUM('a', 'b'))", "DATE '2020-03-01' - INTERVAL 1 DAY"),
    "TIMESTAMP '2020-02-29 11:59:59.000005' + INTERVAL 1 SECOND",
    "CAST('2020-02-29 12:00:00.0000051' AS TIMESTAMP_NS)",
    "TIMESTAMP '2020-02-29 12:00:00.0000056'",
]


def row(pick: Random, key: int) -> tuple[Any, ...]:
    """A row with few different values, and some NULLs."""
    number = pick.randint(-3, 3)
    values: list[Any] = [
        number, number, number, pick.choice(WORDS), pick.choice(WORDS), number > 0,
        DAY + dt.timedelta(number), MOMENT + dt.timedelta(microseconds=number),
        number, number, number, number / 2, number / 4, bytes([number & 255]),
    ]  # fmt: skip
    values = [None if pick.random() < 0.15 else value for value in values]
    return (key, pick.choice(WORDS), *values)


def rows_at_the_ends() -> Sequence[tuple[Any, ...]]:
    """Rows of the least and greatest cells, and of those beside where doubles grow coarse."""
    first, last = dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)
    return [
        (-(1 << 63), "", -(1 << 31), -(1 << 15), -128, "", "", False, first.date(), first,
         Decimal("-999.99"), -1, Decimal("-0.0001"), float("-inf"), -1.0, b""),
        ((1 << 63) - 1, "a", (1 << 31) - 1, 32767, 127, "a", "abc", True, last.date(), last,
         Decimal("999.99"), 1, Decimal("9" * 34 + ".9999"), float("inf"), 0.5, b"\xff"),
        ((1 << 53) + 1, "b", (1 << 24) + 1, 0, 0, None, None, None, None, None,
         None, None, None, -0.0, None, None),
        ((1 << 53), "b", (1 << 24), 0, 0, None, None, None, DAY, dt.datetime(2020, 2, 29),
         Decimal("0.50"), 0, Decimal("0.125"), 0.1, None, None),
    ]  # fmt: skip


def own_value(pick: Random, column: str) -> tuple[str, Any]:
    """A value of a column's own kind, as a literal and as a parameter."""
    number = pick.randint(-4, 4)
    match column:
        case "s" | "v" | "w":
            word = pick.choice([*WORDS, "abcd"])
            return f"'{word}'", word
        case "d":
            day = DAY + dt.timedelta(number)
            return f"{pick.choice(['', 'DATE '])}'{day}'", pick.choice([day, str(day)])
        case "t":
            moment = MOMENT + dt.timedelta(microseconds=number)
            written = f"{pick.choice(['', 'TIMESTAMP '])}'{moment}'"
            return written, pick.choice([moment, str(moment)])
        case "f":
            return ("TRUE", True) if number > 0 else ("FALSE", False)
        case "z":
            return f"x'{number & 255:02x}'", bytes([number & 255])
        case "m" | "n" | "o":
            decimal = number + Decimal(pick.choice(FRACTIONS))
            return f"{decimal:f}", decimal
        case _:
            number = pick.choice([number, number, 200, -(10**10)])
            return str(number), number


def _other_value(pick: Random) -> tuple[str, Any]:
    """A value of any kind; a computed one has no parameter and is `...` there."""
    number = pick.choice([pick.randint(-4, 4), pick.choice(NUMBERS), -pick.choice(NUMBERS)])
    match pick.randint(0, 7):
        case 0:
            decimal = number + Decimal(pick.choice(FRACTIONS))
            return f"{decimal:f}", decimal
        case 1:
            double = number + float(pick.choice(FRACTIONS))
            return f"{double!r}{'' if 'e' in repr(double) else 'e0'}", double
        case 2:
            text = pick.choice([f"{number}", f" {number} ", f"{number}.5", f"{number}.0", "x"])
            return f"'{text}'", text
        case 3:
            return pick.choice([("NULL", None), ("NULL", None), ("TRUE", True), ("FALSE", False)])
        case 4 | 5:
            return pick.choice(COMPUTED), ...
        case _:
            written, value = own_value(pick, pick.choice("wkdtfz"))
            if isinstance(value, dt.datetime) and pick.random() < 0.2:
                return f"'{value}+01:00'", value.replace(tzinfo=dt.UTC)
            return written, value


class Conditions:
    """Draws conditions; `values` are those of their parameters."""

    def __init__(self, pick: Random, others: float = 0.0) -> None:
        """`others`: how often a value may be of another kind than its column."""
        self._pick = pick
        self._others = others
        self.values: list[Any] = []

    def decided(self, depth: int = 2) -> str:
        """A condition of which the scan decides every part."""
        return self._joined(depth, self.decided) or self._decided_part(
            self._pick.choice("kwabcsvfdt")
        )

    def any(self, depth: int = 2) -> str:
        """A condition of any kind."""
        if depth and self._pick.random() < 0.1:
            return f"NOT ({self.any(depth - 1)})"
        joined = self._joined(depth, self.any)
        column = self._pick.choice(COLUMNS)
        is_plain = self._pick.random() < 0.6
        return joined or (self._decided_part(column) if is_plain else self._odd_part(column))

    def _joined(self, depth: int, draw: Any) -> str | None:
        if not depth or self._pick.random() > 0.5:
            return None
        word = self._pick.choice([" AND ", " OR "])
        return f"({word.join(draw(depth - 1) for _ in range(self._pick.randint(2, 3)))})"

    def _decided_part(self, column: str) -> str:
        pick = self._pick
        match pick.randint(0, 5):
            case 0:
                return f"{column} IS {pick.choice(['', 'NOT '])}NULL"
            case 1:
                listed = ", ".join(self._value(column) for _ in range(pick.randint(1, 4)))
                return f"{column} IN ({listed})"
            case 2:
                return f"{column} BETWEEN {self._value(column)} AND {self._value(column)}"
            case 3 if column == "f":
                return pick.choice(["f", "NOT f", "NOT (f IS NULL)"])
            case 3:
                return f"{self._value(column)} {pick.choice(['<', '<=', '='])} {column}"
            case _:
                return f"{column} {pick.choice(['<', '<=', '=', '>', '>='])} {self._value(column)}"

    def _odd_part(self, column: str) -> str:
        """Constants around columns, rows, patterns, casts, and columns beside each other."""
        pick, value = self._pick, self._value
        match pick.randint(0, 8):
            case 0:
                return f"{value(column)} BETWEEN {column} AND {value(column)}"
            case 1:
                return f"{value(column)} IN ({value(column)}, {column})"
            case 2:
                listed = f"{value(column)}, {value(column)}"
                return f"{column} NOT IN ({listed})"
            case 3:
                return f"{column} NOT BETWEEN {value(column)} AND {value(column)}"
            case 4:
                word = pick.choice(["=", "<", ">="])
                return f"(k, {column}) {word} ({value('k')}, {value(column)})"
            case 5:
                pattern = pick.choice(["a%", "ab", "%", "_", ""])
                return f"{pick.choice('svw')} {pick.choice(['', 'NOT '])}LIKE '{pattern}'"
            case 6:
                other = pick.choice(["VARCHAR", "BIGINT", "DOUBLE"])
                return f"CAST({column} AS {other}) >= {value(column)}"
            case 7:
                return f"{column} {pick.choice(['=', '<'])} {pick.choice('kabcmn')}"
            case _:
                return pick.choice(["f IS TRUE", f"{column} <> {value(column)}", "1 = 1", "FALSE"])

    def _value(self, column: str) -> str:
        pick = self._pick
        literal, value = own_value(pick, column)
        if pick.random() < self._others:
            literal, value = _other_value(pick)
        elif pick.random() < 0.05:
            literal, value = "NULL", None
        if value is not ... and pick.random() < 0.4:
            self.values.append(value)
            return "?"
        return literal
