"""Random queries in SQL that DuckDB, and the portable ones SQLite, understand as well.

Everything is drawn from one `random.Random`; the rows come in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.pykudu_sql.differential.conditions import Conditions
from tests.pykudu_sql.differential.expressions import (
    draw_aggregate,
    draw_expression,
    draw_window,
)
from tests.pykudu_sql.differential.tables import Column, Table, literal


@dataclass(frozen=True)
class Split:
    """A query and its rows told apart by a condition: true, false and unknown.

    Attributes:
        whole: the query.
        parts: three queries that give its rows between them.
    """

    whole: str
    parts: tuple[str, str, str]


class Queries:
    """Draws queries over the tables of a world at a version."""

    def __init__(self, random: Random, portable: bool) -> None:
        self.random = random
        self.conditions = Conditions(random, portable)
        self._portable = portable

    def query(self, tables: Sequence[Table], version: int) -> str:
        """A query that gives its rows in any order."""
        shape = self.random.random()
        if shape < 0.12:
            return self._set_operation(tables, version)
        if shape < 0.2:
            return self._with_clause(tables, version)
        if shape < 0.26:
            return self._over_groups(tables, version)
        return self._select(tables, version)

    def split(self, tables: Sequence[Table], version: int) -> Split:
        """A query and its three parts by a random condition."""
        source, columns = self._source(tables, version)
        where = self.conditions.condition(columns, tables, version, 2)
        told = self.conditions.condition(columns, tables, version, 2)
        items = ", ".join(column.name for column in columns)
        base = f"SELECT {items} FROM {source} WHERE ({where})"
        kinds = (f"({told})", f"NOT ({told})", f"({told}) IS NULL")
        first, second, third = (f"{base} AND ({kind})" for kind in kinds)
        return Split(base, (first, second, third))

    def _set_operation(self, tables: Sequence[Table], version: int) -> str:
        pick = self.random
        family = pick.choice(("int", "str"))
        operators = ["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]
        if not self._portable:
            operators += ["INTERSECT ALL", "EXCEPT ALL"]
        text = self._one_column(tables, version, family)
        for _ in range(1 if self._portable else pick.choice((1, 1, 2))):
            text = f"{text} {pick.choice(operators)} {self._one_column(tables, version, family)}"
        return text

    def _with_clause(self, tables: Sequence[Table], version: int) -> str:
        pick = self.random
        inner, columns = self._source(tables, version)
        condition = self.conditions.condition(columns, tables, version, 2)
        names = ", ".join(f"{c.name} AS w{i}" for i, c in enumerate(columns))
        head = f"WITH q AS (SELECT {names} FROM {inner} WHERE {condition})"
        offered = [Column(f"q.w{i}", c.type) for i, c in enumerate(columns)]
        outer = self.conditions.condition(offered, tables, version, 1)
        if pick.random() < 0.4:
            alike = [i for i, c in enumerate(columns) if c.family == columns[0].family]
            joined = f"q JOIN q AS p ON q.w0 = p.w{pick.choice(alike)}"
            return f"{head} SELECT q.*, p.w0 FROM {joined} WHERE {outer}"
        return f"{head} SELECT * FROM q WHERE {outer}"

    def _over_groups(self, tables: Sequence[Table], version: int) -> str:
        """A query over a derived table of groups, joined with a table."""
        source, columns = self._source(tables, version)
        by = self.random.choice(columns)
        where = self.conditions.condition(columns, tables, version, 2)
        other, added = self.conditions.relation(tables, version)
        offered = [Column("g.a", by.type), Column("g.n", "INT")]
        condition = self.conditions.condition([*offered, *added], (), version, 1)
        groups = f"SELECT {by.name} AS a, count(*) AS n FROM {source} WHERE {where} GROUP BY 1"
        kind = self.random.choice(("JOIN", "LEFT JOIN"))
        return (
            f"SELECT g.a, g.n, {added[0].name} FROM ({groups}) AS g"
            f" {kind} {other} ON {self._matching(offered, added)} WHERE {condition}"
        )

    def _select(self, tables: Sequence[Table], version: int) -> str:
        pick = self.random
        source, columns = self._source(tables, version)
        where = ""
        if pick.random() < 0.85:
            where = f" WHERE {self.conditions.condition(columns, tables, version, 3)}"
        shape = pick.random()
        if shape < 0.24:
            return self._grouped(source, columns, where, tables, version)
        if shape < 0.34:
            return f"SELECT {draw_window(pick, columns)} FROM {source}{where}"
        if shape < 0.4:
            return f"SELECT * FROM {source}{where}"
        chosen = pick.sample(columns, pick.randint(1, len(columns)))
        items = [column.name for column in chosen]
        if shape < 0.6:
            items.append(draw_expression(pick, columns, self._portable)[0])
        elif shape < 0.7:
            items.append(self._scalar_subquery(columns, tables, version))
        elif shape < 0.85:
            condition = self.conditions.condition(columns, tables, version, 1)
            items.append(f"CASE WHEN {condition} THEN 1 WHEN NOT ({condition}) THEN 0 END")
        distinct = "DISTINCT " if pick.random() < 0.15 else ""
        return f"SELECT {distinct}{', '.join(items)} FROM {source}{where}{self._limit(items)}"

    def _grouped(
        self,
        source: str,
        columns: Sequence[Column],
        where: str,
        tables: Sequence[Table],
        version: int,
    ) -> str:
        pick = self.random
        group = pick.sample(columns, pick.randint(0, min(2, len(columns))))
        names = [column.name for column in group]
        if pick.random() < 0.2:
            names.append(draw_expression(pick, columns, self._portable)[0])
        aggregates = [
            draw_aggregate(pick, columns, self._portable) for _ in range(pick.randint(1, 3))
        ]
        having = f" HAVING count(*) > {pick.randint(0, 2)}" if pick.random() < 0.3 else ""
        if group and pick.random() < 0.3:
            having = f" HAVING {self.conditions.condition(group, tables, version, 1)}"
        by = f" GROUP BY {', '.join(names)}" if names else ""
        return f"SELECT {', '.join([*names, *aggregates])} FROM {source}{where}{by}{having}"

    def _limit(self, items: Sequence[str]) -> str:
        """ORDER BY every column and LIMIT, or nothing."""
        pick = self.random
        if pick.random() >= 0.2:
            return ""
        endings = ("", " DESC", " ASC NULLS FIRST", " DESC NULLS LAST")
        order = ", ".join(
            f"{i + 1}{' DESC NULLS LAST' if self._portable else pick.choice(endings)}"
            for i in range(len(items))
        )
        offset = f" OFFSET {pick.randint(0, 3)}" if pick.random() < 0.3 else ""
        return f" ORDER BY {order} LIMIT {pick.randint(0, 6)}{offset}"

    def _scalar_subquery(
        self, columns: Sequence[Column], tables: Sequence[Table], version: int
    ) -> str:
        relation, inner = self.conditions.relation(tables, version)
        aggregate = self.random.choice(("count(*)", f"max({inner[0].name})"))
        pairs = [(a, b) for a in columns for b in inner if a.family == b.family]
        tie = ""
        if pairs and self.random.random() < 0.7:
            a, b = self.random.choice(pairs)
            tie = f" WHERE {b.name} = {a.name}"
        return f"(SELECT {aggregate} FROM {relation}{tie})"

    def _one_column(self, tables: Sequence[Table], version: int, family: str) -> str:
        source, columns = self._source(tables, version)
        fitting = [c.name for c in columns if c.family == family] or [
            literal({"int": 1}.get(family, "a"))
        ]
        condition = self.conditions.condition(columns, tables, version, 2)
        return f"SELECT {self.random.choice(fitting)} AS u FROM {source} WHERE {condition}"

    def _source(self, tables: Sequence[Table], version: int) -> tuple[str, list[Column]]:
        pick = self.random
        text, columns = self.conditions.relation(tables, version)
        for _ in range(pick.choice((0, 0, 0, 1, 1, 2))):
            other, added = self.conditions.relation(tables, version)
            if pick.random() < 0.1:
                text = f"{text} CROSS JOIN {other}"
            else:
                kind = pick.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
                on = self._matching(columns, added)
                if pick.random() < 0.5 and kind != "FULL JOIN":
                    on += f" AND {self.conditions.condition([*columns, *added], (), version, 1)}"
                text = f"{text} {kind} {other} ON {on}"
            columns = [*columns, *added]
        return text, columns

    def _matching(self, left: Sequence[Column], right: Sequence[Column]) -> str:
        pairs = [(a, b) for a in left for b in right if a.family == b.family]
        if not pairs:
            return f"{left[0].name} IS NOT NULL AND {right[0].name} IS NOT NULL"
        a, b = self.random.choice(pairs)
        return f"{a.name} = {b.name}"
