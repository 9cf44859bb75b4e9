"""Random conditions over columns, with subqueries, odd constants and parameters.

A table is mentioned as `{name@version}`, which each side of a comparison spells its own way. A
value may be a parameter, and some conditions are spelled differently too: then a mark stands
in the text, see `spellings`.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from random import Random
from typing import Any

from tests.pykudu_sql.differential.expressions import draw_expression
from tests.pykudu_sql.differential.spellings import (
    Spellings,
    decimal_compared,
    row_among,
    rows_compared,
)
from tests.pykudu_sql.differential.tables import WIDE, Column, Table, literal


class Conditions:
    """Draws boolean expressions and what they are about."""

    def __init__(self, random: Random, portable: bool) -> None:
        self.random = random
        self._portable = portable
        self.spellings = Spellings()
        self._aliases = 0

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
        if shape < 0.75 and len(columns) > 1:
            rows = self._row(columns, tables, version)
            if rows:
                return rows
        column = pick.choice(columns)
        if column.family in WIDE:
            return self._wide(column)
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
        items = [self.value(column) for _ in range(self.random.randint(1, 4))]
        if self.random.random() < 0.25:
            items.insert(self.random.randint(0, len(items)), "NULL")
        values = ", ".join(items)
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
            return self.spellings.parameter(value)
        if isinstance(value, int) and pick.random() < 0.1 and type(value) is int:
            return f"'{value}'" if abs(value) < 100 else f"({value} + 0)"
        return literal(value)

    def _wide(self, column: Column) -> str:
        """A condition on a decimal of 38 digits, against numbers of all sizes."""
        pick = self.random
        kind = pick.random()
        if kind < 0.1:
            return self._null_tested(column)
        drawn = [self._number(column) for _ in range(2 if kind < 0.8 else 3)]
        ours = [self._number_text(number) for number in drawn]

        def meant(operator: str, place: int) -> str:
            return decimal_compared(column.name, operator, drawn[place], column.type)

        if kind < 0.5:
            operator = self._operator()
            return self.spellings.either(f"{column.name} {operator} {ours[0]}", meant(operator, 0))
        word = pick.choice(("", "NOT "))
        if kind < 0.8:
            within = f"({meant('>=', 0)} AND {meant('<=', 1)})"
            text = f"{column.name} {word}BETWEEN {ours[0]} AND {ours[1]}"
            return self.spellings.either(text, f"({word}{within})")
        equal = [meant("=", place) for place in range(len(drawn))]
        if pick.random() < 0.3:
            ours.append("NULL")
            equal.append("NULL")
        text = f"{column.name} {word}IN ({', '.join(ours)})"
        return self.spellings.either(text, f"({word}({' OR '.join(equal)}))")

    def _number(self, column: Column) -> Decimal | int:
        pick = self.random
        odd = ("1", "-1", "0", "0.5", "-1E-38", "1E-40", "1E38", "-2E45", "123456789012345678901.5")
        if pick.random() < 0.35:
            return Decimal(pick.choice(odd))
        return 7 if pick.random() < 0.05 else pick.choice(column.pool)

    def _number_text(self, number: Decimal | int) -> str:
        if self.random.random() < 0.5:
            return self.spellings.parameter(number)
        return f"{Decimal(number):f}"

    def _row(self, columns: Sequence[Column], tables: Sequence[Table], version: int) -> str:
        """A condition on a row of two or three columns; nothing if they cannot be compared so."""
        pick = self.random
        plain = [c for c in columns if c.family not in WIDE]
        if len(plain) < 2:
            return ""
        row = pick.sample(plain, min(len(plain), pick.choice((2, 2, 3))))
        names = [column.name for column in row]
        text, word = f"({', '.join(names)})", pick.choice(("", "NOT "))
        if tables and pick.random() < 0.3:
            return self._row_among(row, tables, version, word)
        others = [[self._plain(column) for column in row] for _ in range(2)]
        texts = [f"({', '.join(other)})" for other in others]
        kind = pick.random()
        if kind < 0.5:
            operators = ["=", "<>", "<", "<=", ">", ">="]
            operator = pick.choice([*operators, "IS DISTINCT FROM", "IS NOT DISTINCT FROM"])
            ours = f"{text} {operator} {texts[0]}"
            meant = rows_compared(operator, names, others[0])
        elif kind < 0.7:
            ours = f"{text} {word}BETWEEN {texts[0]} AND {texts[1]}"
            above, below = (
                rows_compared(o, names, v) for o, v in zip((">=", "<="), others, strict=True)
            )
            meant = f"({word}({above} AND {below}))"
        else:
            ours = f"{text} {word}IN ({', '.join(texts)})"
            equal = " OR ".join(rows_compared("=", names, other) for other in others)
            meant = f"({word}({equal}))"
        return self.spellings.either(ours, ours if self._portable else meant)

    def _row_among(
        self, row: Sequence[Column], tables: Sequence[Table], version: int, word: str
    ) -> str:
        relation, inner = self.relation(tables, version)
        columns = []
        for column in row:
            same = [each.name for each in inner if each.family == column.family]
            if not same:
                return ""
            columns.append(self.random.choice(same))
        source = f"{relation} WHERE ({self.condition(inner, (), version, 1)})"
        names = [column.name for column in row]
        ours = f"({', '.join(names)}) {word}IN (SELECT {', '.join(columns)} FROM {source})"
        meant = f"({word}({row_among(names, columns, source)}))"
        return self.spellings.either(ours, ours if self._portable else meant)

    def _plain(self, column: Column) -> str:
        """A constant of a column's own type, as every side takes it."""
        return literal(self.random.choice([*column.pool, *column.pool[:1], None]))

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
