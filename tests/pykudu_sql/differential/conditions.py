"""Random conditions over columns, with subqueries, odd constants and parameters.

A table is mentioned as `{name@version}`, which each side of a comparison spells its own way. A
value may be a parameter: then it stands as a mark in the text until `finished` turns the marks
into `?` in the order of the text.
"""

import datetime as dt
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from random import Random
from typing import Any

from tests.pykudu_sql.differential.expressions import draw_expression
from tests.pykudu_sql.differential.tables import Column, Table, literal

_MARK = re.compile("⟦(\\d+)⟧")


class Conditions:
    """Draws boolean expressions and what they are about."""

    def __init__(self, random: Random, portable: bool) -> None:
        self.random = random
        self._portable = portable
        self._values: list[Any] = []
        self._aliases = 0

    def finished(self, text: str) -> tuple[str, list[Any]]:
        """The text with `?` for its marks, and their values."""
        resolved = self.resolved(text)
        self._values.clear()
        return resolved

    def resolved(self, text: str) -> tuple[str, list[Any]]:
        """The same for one text of several that share their marks."""
        values = [self._values[int(mark)] for mark in _MARK.findall(text)]
        return _MARK.sub("?", text), values

    def relation(self, tables: Sequence[Table], version: int) -> tuple[str, list[Column]]:
        """A table at some version, perhaps filtered, under an alias, and its columns."""
        table = self.random.choice(tables)
        moment = version if self.random.random() < 0.7 else self.random.randint(0, version)
        self._aliases += 1
        alias = f"r{self._aliases}"
        known = table.versions[moment]
        columns = [Column(f"{alias}.{c.name}", c.type, c.key) for c in known]
        mention = f"{{{table.name}@{moment}}}"
        if self.random.random() < 0.15:
            inner = [Column(c.name, c.type) for c in known]
            condition = self.condition(inner, (), version, 1)
            return f"(SELECT * FROM {mention} WHERE {condition}) AS {alias}", columns
        return f"{mention} AS {alias}", columns

    def condition(
        self, columns: Sequence[Column], tables: Sequence[Table], version: int, depth: int
    ) -> str:
        """A boolean expression over columns; with tables, also one with subqueries."""
        pick = self.random
        shape = pick.random()
        if depth and shape < 0.45:
            parts = [
                self.condition(columns, tables, version, depth - 1)
                for _ in range(pick.randint(2, 3))
            ]
            return "(" + pick.choice((" AND ", " OR ")).join(parts) + ")"
        if depth and shape < 0.55:
            return f"NOT ({self.condition(columns, tables, version, depth - 1)})"
        if tables and shape < 0.65:
            return self._subquery(columns, tables, version)
        column = pick.choice(columns)
        forms: list[Callable[[Column], str]] = [
            self._compared,
            self._compared,
            self._compared,
            self._listed,
            self._between,
            self._null_tested,
        ]
        if column.family == "str":
            forms += [self._like, self._like]
        if column.family == "bool":
            forms.append(lambda c: c.name)
        if column.family in ("int", "str"):
            forms.append(self._computed)
        same = [c for c in columns if c.family == column.family and c is not column]
        if same and pick.random() < 0.1:
            return f"{column.name} {self._operator()} {pick.choice(same).name}"
        return pick.choice(forms)(column)

    def _operator(self) -> str:
        return self.random.choice(("=", "<", "<=", ">", ">=", "<>"))

    def _compared(self, column: Column) -> str:
        sides = [column.name, self.value(column)]
        if self.random.random() < 0.15:
            sides.reverse()
        distinct = self.random.random() < 0.06
        operator = self.random.choice(("IS DISTINCT FROM", "IS NOT DISTINCT FROM"))
        return f" {operator if distinct else self._operator()} ".join(sides)

    def _computed(self, column: Column) -> str:
        """A comparison of what is computed from a column."""
        text, family = draw_expression(self.random, [column], self._portable)
        if family not in ("int", "str"):
            return f"{text} IS NOT NULL"
        against = self.random.choice(("1", "3", "-1") if family == "int" else ("'a'", "'ab'", "''"))
        return f"{text} {self._operator()} {against}"

    def _listed(self, column: Column) -> str:
        values = ", ".join(self.value(column) for _ in range(self.random.randint(1, 4)))
        return f"{column.name} {self.random.choice(('IN', 'IN', 'NOT IN'))} ({values})"

    def _between(self, column: Column) -> str:
        word = self.random.choice(("BETWEEN", "BETWEEN", "NOT BETWEEN"))
        return f"{column.name} {word} {self.value(column)} AND {self.value(column)}"

    def _null_tested(self, column: Column) -> str:
        return f"{column.name} IS {self.random.choice(('', 'NOT '))}NULL"

    def _like(self, column: Column) -> str:
        pattern = self.random.choice(("a%", "%b", "ab_", "a", "%", "", "_%", "é%", "b%%", "A%"))
        return f"{column.name} {self.random.choice(('LIKE', 'NOT LIKE'))} '{pattern}'"

    def value(self, column: Column) -> str:
        """A constant to compare with a column: of its type, of another, odd, or a parameter."""
        pick = self.random
        if pick.random() < 0.05:
            return "NULL"
        value = pick.choice(column.pool)
        if self._portable:
            odd = pick.random() < 0.15 and column.family == "int"
            return literal(pick.choice((2.5, 10**15, -(10**15))) if odd else value)
        odd_ones: dict[str, list[Any]] = {
            "int": [300, 40000, 2**31, 10**20, -(10**20), Decimal("2.5"), Decimal("2.0"), 2.5, 2.0],
            "dec": [1, 2, 100000, Decimal("0.251"), Decimal("123456789.123"), 0.25, 1.0, 10**12],
            "dbl": [1, 2, Decimal("0.25"), Decimal("2.5"), 10**18, float("nan"), float("inf")],
            "day": [dt.datetime(2024, 2, 29), dt.datetime(2024, 2, 29, 1), "2024-02-29"],
            "time": [dt.date(2024, 2, 29), "2024-02-29 12:30:00", "2025-01-01"],
            "str": ["zzzz", "aa", "ab\uffff"],
        }
        odd_here = odd_ones.get(column.family, [value])
        if pick.random() < 0.3:
            value = pick.choice(odd_here)
        if pick.random() < 0.3 and not (isinstance(value, str) and column.family != "str"):
            self._values.append(value)
            return f"⟦{len(self._values) - 1}⟧"
        if isinstance(value, int) and pick.random() < 0.1 and type(value) is int:
            return f"'{value}'" if abs(value) < 100 else f"({value} + 0)"
        return literal(value)

    def _subquery(self, columns: Sequence[Column], tables: Sequence[Table], version: int) -> str:
        pick = self.random
        relation, inner = self.relation(tables, version)
        outer = pick.choice(columns)
        same = [c for c in inner if c.family == outer.family]
        inside = self.condition(inner, (), version, 1)
        negation = pick.choice(("", "NOT "))
        if same and pick.random() < 0.5:
            name = pick.choice(same).name
            return f"{outer.name} {negation}IN (SELECT {name} FROM {relation} WHERE {inside})"
        if same and pick.random() < 0.2 and not self._portable:
            name, quantity = pick.choice(same).name, pick.choice(("ANY", "ALL"))
            return f"{outer.name} {self._operator()} {quantity} (SELECT {name} FROM {relation})"
        if same and pick.random() < 0.2:
            pair = f"({outer.name}, {outer.name}) {negation}IN"
            names = f"{pick.choice(same).name}, {pick.choice(same).name}"
            return f"{pair} (SELECT {names} FROM {relation} WHERE {inside})"
        if same and pick.random() < 0.4:
            name = pick.choice(same).name
            return f"{outer.name} {self._operator()} (SELECT max({name}) FROM {relation})"
        both = self.condition([*inner, *columns], (), version, 1)
        tie = f" AND {pick.choice(same).name} = {outer.name}" if same else ""
        return f"{negation}EXISTS (SELECT 1 FROM {relation} WHERE {both}{tie})"
