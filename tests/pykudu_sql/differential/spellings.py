"""Texts that each side of a comparison spells its own way, and constructs that need that.

DuckDB compares rows as structs, and decimals in a type of 38 digits that need not have all values
of both. So that it can be believed, it is asked what is written out here: rows column by column in
three-valued logic, and a decimal of a wide column against the nearest value of its own type. SQLite
knows rows itself and is asked as we are.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

_VALUE = re.compile("⟦(\\d+)⟧")
_CHOICE = re.compile("⟪(\\d+)⟫")
_STRICT = {"<": "<", "<=": "<", ">": ">", ">=": ">"}


@dataclass(frozen=True)
class Spelled:
    """A text for each side, with `?` for the values that it takes."""

    ours: str
    our_values: list[Any]
    theirs: str
    their_values: list[Any]


class Spellings:
    """Values and texts that stand as marks in a text until it is asked."""

    def __init__(self) -> None:
        self._values: list[Any] = []
        self._choices: list[tuple[str, str]] = []

    def parameter(self, value: Any) -> str:
        """A mark for a value that is passed."""
        self._values.append(value)
        return f"⟦{len(self._values) - 1}⟧"

    def either(self, ours: str, theirs: str) -> str:
        """A mark for what the sides spell differently."""
        self._choices.append((ours, theirs))
        return f"⟪{len(self._choices) - 1}⟫"

    def spelled(self, text: str) -> Spelled:
        """A text with its marks resolved."""
        ours, our_values = self._resolved(text, 0)
        theirs, their_values = self._resolved(text, 1)
        return Spelled(ours, our_values, theirs, their_values)

    def clear(self) -> None:
        """Forget all marks."""
        self._values.clear()
        self._choices.clear()

    def _resolved(self, text: str, side: int) -> tuple[str, list[Any]]:
        while _CHOICE.search(text):
            text = _CHOICE.sub(lambda mark: self._choices[int(mark.group(1))][side], text)
        values = [self._values[int(mark)] for mark in _VALUE.findall(text)]
        return _VALUE.sub("?", text), values


def rows_compared(operator: str, left: Sequence[str], right: Sequence[str]) -> str:
    """What a comparison of two rows means, column by column."""
    pairs = list(zip(left, right, strict=True))
    if operator in ("=", "IS NOT DISTINCT FROM"):
        return "(" + " AND ".join(f"{a} {operator} {b}" for a, b in pairs) + ")"
    if operator in ("<>", "IS DISTINCT FROM"):
        return "(" + " OR ".join(f"{a} {operator} {b}" for a, b in pairs) + ")"
    *before, (a, b) = pairs
    meant = f"{a} {operator} {b}"
    for a, b in reversed(before):
        meant = f"{a} {_STRICT[operator]} {b} OR ({a} = {b} AND ({meant}))"
    return f"({meant})"


def row_among(row: Sequence[str], columns: Sequence[str], source: str) -> str:
    """What `row IN (SELECT columns FROM source)` means; the source has a WHERE clause."""
    equal = rows_compared("=", row, columns)
    return (
        f"CASE WHEN EXISTS (SELECT 1 FROM {source} AND {equal}) THEN TRUE"
        f" WHEN EXISTS (SELECT 1 FROM {source} AND ({equal}) IS NULL) THEN NULL ELSE FALSE END"
    )


def decimal_compared(name: str, operator: str, value: Decimal | int, type_name: str) -> str:
    """What a comparison of a DECIMAL column with any number means, in values of its type."""
    precision, scale = map(int, re.findall(r"\d+", type_name))
    exact, limit = Fraction(value) * 10**scale, 10**precision
    floor = math.floor(exact)
    if operator in ("=", "<>"):
        if exact != floor or abs(floor) >= limit:
            return f"CASE WHEN {name} IS NOT NULL THEN {str(operator == '<>').upper()} END"
        return f"{name} {operator} {decimal_literal(floor, precision, scale)}"
    below = operator in ("<", "<=")
    if exact != floor:
        operator, floor = ("<=", floor) if below else (">=", floor + 1)
    if abs(floor) >= limit:
        return f"CASE WHEN {name} IS NOT NULL THEN {str((floor > 0) == below).upper()} END"
    return f"{name} {operator} {decimal_literal(floor, precision, scale)}"


def decimal_literal(units: int, precision: int, scale: int) -> str:
    """So many units of a DECIMAL type."""
    digits = f"{abs(units):0{scale + 1}}"
    point = len(digits) - scale
    sign = "-" if units < 0 else ""
    return f"CAST('{sign}{digits[:point]}.{digits[point:]}' AS DECIMAL({precision}, {scale}))"
