"""Random tables, rows, changes and queries in SQL that DuckDB understands as well.

Everything is drawn from one `random.Random`. A table is mentioned as `{name@version}`, which each
side of a comparison spells its own way, and a value may be a parameter: then it stands as a mark
in the text until `finished` turns the marks into `?` in the order of the text.
"""

import datetime as dt
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Any

_MARK = re.compile("⟦(\\d+)⟧")
_INTS = [-1, 0, 1, 2, 3, 5, 7, 8, 100]
_TEXTS = ["", "a", "A", "ab", "abc", "b", "b%", "_x", "é", "日本", "it's", "abd", "z"]
_DAYS = [dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2024, 2, 29), dt.date(2025, 1, 1)]
_TIMES = [
    dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
    dt.datetime(2024, 2, 29),
    dt.datetime(2024, 2, 29, 12, 30),
    dt.datetime(2025, 1, 1, 0, 0, 0, 1),
]

# By SQL type: the class of comparable types it belongs to, and values that fit it.
TYPES: dict[str, tuple[str, list[Any]]] = {
    "TINYINT": ("int", [*_INTS, -128, 127]),
    "SMALLINT": ("int", [*_INTS, -32768, 32767]),
    "INT": ("int", [*_INTS, 2**31 - 1, -(2**31)]),
    "BIGINT": ("int", [*_INTS, 2**53 + 1, 2**63 - 1, -(2**63)]),
    "DECIMAL(9, 2)": ("dec", [Decimal(n) / 4 for n in (-6, 0, 1, 4, 8, 9, 20)]),
    "DECIMAL(18, 4)": ("dec", [Decimal(n) / 8 for n in (-7, 0, 1, 8, 16, 17, 40)]),
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
_KEYS = ("TINYINT", "INT", "BIGINT", "STRING", "DATE", "TIMESTAMP", "DECIMAL(9, 2)", "VARCHAR(3)")


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
        case _:
            return str(value)


class Generator:
    """Draws tables, rows and statements."""

    def __init__(self, random: Random, portable: bool) -> None:
        self.random = random
        self._portable = portable
        self._values: list[Any] = []
        self._aliases = 0

    # Tables and rows

    def table(self, name: str) -> Table:
        pick = self.random
        keys = [k for k in _KEYS if k in PORTABLE or not self._portable]
        others = [k for k in TYPES if k in PORTABLE or not self._portable]
        columns = [
            Column(f"k{i}", pick.choice(keys), key=True) for i in range(pick.choice((1, 1, 2)))
        ]
        columns += [Column(f"c{i}", pick.choice(others)) for i in range(pick.randint(1, 5))]
        return Table(name, columns)

    def partitions(self, table: Table) -> str:
        """A PARTITION BY clause, or none."""
        pick = self.random
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

    def rows(self, table: Table, count: int) -> list[tuple[Any, ...]]:
        return [
            tuple(
                self.random.choice(c.pool) if c.key or self.random.random() > 0.2 else None
                for c in table.columns
            )
            for _ in range(count)
        ]

    # Queries

    def finished(self, text: str) -> tuple[str, list[Any]]:
        """The text with `?` for its marks, and their values."""
        values = [self._values[int(mark)] for mark in _MARK.findall(text)]
        self._values.clear()
        return _MARK.sub("?", text), values

    def query(self, tables: Sequence[Table], version: int) -> str:
        """A query that gives its rows in any order."""
        pick = self.random
        shape = pick.random()
        if shape < 0.12:
            family = pick.choice(("int", "str"))
            operator = pick.choice(("UNION", "UNION ALL", "INTERSECT", "EXCEPT"))
            sides = [self._one_column(tables, version, family) for _ in range(2)]
            return f" {operator} ".join(sides)
        if shape < 0.2:
            inner, columns = self._source(tables, version)
            condition = self.condition(columns, tables, version, 2)
            names = ", ".join(f"{c.name} AS w{i}" for i, c in enumerate(columns))
            offered = [Column(f"q.w{i}", c.type) for i, c in enumerate(columns)]
            outer = self.condition(offered, tables, version, 1)
            return (
                f"WITH q AS (SELECT {names} FROM {inner} WHERE {condition})"
                f" SELECT * FROM q WHERE {outer}"
            )
        return self._select(tables, version)

    def _select(self, tables: Sequence[Table], version: int) -> str:
        pick = self.random
        source, columns = self._source(tables, version)
        where = (
            f" WHERE {self.condition(columns, tables, version, 3)}" if pick.random() < 0.85 else ""
        )
        shape = pick.random()
        if shape < 0.2:
            group = pick.sample(columns, pick.randint(0, min(2, len(columns))))
            names = [column.name for column in group]
            items = [*names, *(self._aggregate(columns) for _ in range(pick.randint(1, 3)))]
            having = f" HAVING count(*) > {pick.randint(0, 2)}" if pick.random() < 0.3 else ""
            by = f" GROUP BY {', '.join(names)}" if names else ""
            return f"SELECT {', '.join(items)} FROM {source}{where}{by}{having}"
        if shape < 0.28:
            item = self._window(columns)
            return f"SELECT {item} FROM {source}{where}"
        if shape < 0.36:
            return f"SELECT * FROM {source}{where}"
        chosen = pick.sample(columns, pick.randint(1, len(columns)))
        items = [column.name for column in chosen]
        if shape < 0.5 and not self._portable:
            condition = self.condition(columns, tables, version, 1)
            items.append(f"CASE WHEN {condition} THEN 1 ELSE 0 END")
        distinct = "DISTINCT " if pick.random() < 0.15 else ""
        order = ", ".join(
            f"{i + 1}{pick.choice(('', ' DESC', ' ASC NULLS FIRST', ' DESC NULLS LAST'))}"
            for i in range(len(items))
        )
        if self._portable:
            order = ", ".join(f"{i + 1} DESC NULLS LAST" for i in range(len(items)))
        limit = f" ORDER BY {order} LIMIT {pick.randint(0, 6)}" if pick.random() < 0.2 else ""
        return f"SELECT {distinct}{', '.join(items)} FROM {source}{where}{limit}"

    def _one_column(self, tables: Sequence[Table], version: int, family: str) -> str:
        source, columns = self._source(tables, version)
        fitting = [c.name for c in columns if c.family == family] or [
            literal({"int": 1}.get(family, "a"))
        ]
        return (
            f"SELECT {self.random.choice(fitting)} AS u FROM {source}"
            f" WHERE {self.condition(columns, tables, version, 2)}"
        )

    def _aggregate(self, columns: Sequence[Column]) -> str:
        column = self.random.choice(columns)
        functions = ["count", "min", "max"]
        if column.family in ("int", "dec") and column.type != "BIGINT":
            functions.append("sum")
        if self._portable or column.family in ("dbl", "bool"):
            functions = ["count"]
        name = self.random.choice(functions)
        distinct = "DISTINCT " if name == "count" and self.random.random() < 0.3 else ""
        return self.random.choice(("count(*)", f"{name}({distinct}{column.name})"))

    def _window(self, columns: Sequence[Column]) -> str:
        by, order = self.random.choice(columns).name, self.random.choice(columns).name
        function = self.random.choice(("rank()", "dense_rank()", f"count({order})"))
        direction = "DESC NULLS LAST"
        return f"{by}, {order}, {function} OVER (PARTITION BY {by} ORDER BY {order} {direction})"

    def _source(self, tables: Sequence[Table], version: int) -> tuple[str, list[Column]]:
        pick = self.random
        text, columns = self._relation(tables, version)
        for _ in range(pick.choice((0, 0, 0, 1, 1, 2))):
            other, added = self._relation(tables, version)
            if pick.random() < 0.1:
                text = f"{text} CROSS JOIN {other}"
            else:
                kind = pick.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
                condition = self._matching(columns, added)
                if pick.random() < 0.5 and kind != "FULL JOIN":
                    condition += f" AND {self.condition([*columns, *added], (), version, 1)}"
                text = f"{text} {kind} {other} ON {condition}"
            columns = [*columns, *added]
        return text, columns

    def _relation(self, tables: Sequence[Table], version: int) -> tuple[str, list[Column]]:
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

    def _matching(self, left: Sequence[Column], right: Sequence[Column]) -> str:
        pairs = [(a, b) for a in left for b in right if a.family == b.family]
        if not pairs:
            return f"{left[0].name} IS NOT NULL AND {right[0].name} IS NOT NULL"
        a, b = self.random.choice(pairs)
        return f"{a.name} = {b.name}"

    # Conditions

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
        relation, inner = self._relation(tables, version)
        outer = pick.choice(columns)
        same = [c for c in inner if c.family == outer.family]
        inside = self.condition(inner, (), version, 1)
        negation = pick.choice(("", "NOT "))
        if same and pick.random() < 0.5:
            name = pick.choice(same).name
            return f"{outer.name} {negation}IN (SELECT {name} FROM {relation} WHERE {inside})"
        if same and pick.random() < 0.4:
            name = pick.choice(same).name
            return f"{outer.name} {self._operator()} (SELECT max({name}) FROM {relation})"
        both = self.condition([*inner, *columns], (), version, 1)
        tie = f" AND {pick.choice(same).name} = {outer.name}" if same else ""
        return f"{negation}EXISTS (SELECT 1 FROM {relation} WHERE {both}{tie})"
