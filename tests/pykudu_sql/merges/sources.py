"""What a MERGE reads beside its table: a table, a view, a query, VALUES, the table or its past.

Each may go by its name, by its name with its database, or by an alias, and its columns by names of
their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tests.pykudu_sql.differential.tables import literal
from tests.pykudu_sql.merges.model import COLUMNS, Table
from tests.pykudu_sql.merges.terms import DECIMALS, WORDS, Field, Row, Rows, Terms

SOURCE_COLUMNS: Mapping[str, str] = {"k": "int", **COLUMNS}


@dataclass(frozen=True, slots=True)
class State:
    """The rows there are: of the table, of table u, and of the table in the past by moment."""

    table: Table
    others: Table
    past: Mapping[int, Table]


@dataclass(frozen=True, slots=True)
class Target:
    """The mention of a table that is written: its text, and what its columns are qualified with."""

    text: str
    qualifiers: tuple[str, ...]

    def fields(self, unqualified: bool) -> list[Field]:
        """Its columns."""
        plain = ("",) if unqualified else ()
        return [
            Field(0, name, family, tuple(f"{q}{name}" for q in (*self.qualifiers, *plain)))
            for name, family in COLUMNS.items()
        ]


@dataclass(frozen=True, slots=True)
class Source:
    """A source of rows.

    Attributes:
        text: behind USING.
        heading: the WITH clause before the statement.
        qualifiers: that its columns may have.
        names: what the statement calls its columns.
        rows: it has.
    """

    text: str
    heading: str
    qualifiers: tuple[str, ...]
    names: Mapping[str, str]
    rows: Rows

    @property
    def has_same_names(self) -> bool:
        """Whether `*` may stand for its columns."""
        return self.names["a"] == "a"

    def fields(self, unqualified: bool) -> list[Field]:
        """Its columns."""
        qualifiers = (*self.qualifiers, "") if unqualified else self.qualifiers
        return [
            Field(1, name, SOURCE_COLUMNS[name], tuple(f"{q}{own}" for q in qualifiers))
            for name, own in self.names.items()
        ]


class Sources:
    """Draws mentions of the table and of sources.

    Args:
        terms: for the conditions within.
        table, others: the tables' names with their databases.
    """

    def __init__(self, random: Random, terms: Terms, table: str, others: str) -> None:
        self._random = random
        self._terms = terms
        self._table = table
        self._others = others

    def target(self) -> Target:
        """The table that is written."""
        pick = self._random
        text = pick.choice((self._table, self._table, _own_name(self._table)))
        if self._is_elsewhere(self._table):
            text = self._table
        if pick.random() < 0.5:
            alias = pick.choice(("x", "tgt", "u"))
            return Target(f"{text} AS {alias}", (f"{alias}.",))
        return Target(text, (f"{self._table}.", *self._short(self._table)))

    def source(self, state: State, target: Target) -> Source:
        """What is read beside it."""
        kinds = (self._plain, self._plain, self._query, self._query, self._values, self._itself)
        return self._random.choice(kinds)(state, target)

    def _short(self, table: str) -> tuple[str, ...]:
        """The table's own name as a qualifier, unless two have it."""
        both = [_own_name(each) for each in (self._table, self._others)]
        return () if both[0] == both[1] else (f"{_own_name(table)}.",)

    def _is_elsewhere(self, table: str) -> bool:
        return not table.startswith("default.")

    def _plain(self, state: State, target: Target) -> Source:
        """Table u, or a view of it."""
        pick = self._random
        rows = list(state.others.values())
        names = {name: name for name in SOURCE_COLUMNS}
        table = pick.choice((self._others, self._others, "default.v"))
        name = table if self._is_elsewhere(table) else pick.choice((table, _own_name(table)))
        if pick.random() < 0.5 or target.qualifiers == (f"{_own_name(table)}.",):
            if pick.random() < 0.4:
                names = {name: f"{name}_" for name in SOURCE_COLUMNS}
            listing = f" ({', '.join(names.values())})" if names["a"] != "a" else ""
            return Source(f"{name} AS src{listing}", "", ("src.",), names, rows)
        short = self._short(table) if table == self._others else ("v.",)
        return Source(name, "", (f"{table}.", *short), names, rows)

    def _query(self, state: State, target: Target) -> Source:
        """A query of table u, perhaps with rows twice, under an alias or behind WITH."""
        pick = self._random
        fields = [Field(1, n, f, (f"q.{n}", n)) for n, f in SOURCE_COLUMNS.items()]
        names = {n: pick.choice((n, n, f"{n}_")) for n in SOURCE_COLUMNS}
        if pick.random() < 0.5:
            names = {name: name for name in SOURCE_COLUMNS}
        elif names["a"] == "a":
            names["a"] = "a_"
        listing = ", ".join(f"q.{n} AS {own}" for n, own in names.items())
        texts, rows = [], []
        for _ in range(pick.choice((1, 1, 2))):
            condition = self._terms.condition(fields, 1)
            texts.append(f"SELECT {listing} FROM {self._others} AS q WHERE {condition.text}")
            rows += [r for r in state.others.values() if condition.value((None, r)) is True]
        query = " UNION ALL ".join(texts)
        if pick.random() < 0.4:
            return Source("src", f"WITH src AS ({query}) ", ("src.",), names, rows)
        return Source(f"({query}) src", "", ("src.",), names, rows)

    def _values(self, state: State, target: Target) -> Source:
        pick = self._random
        rows = [self._row() for _ in range(pick.randint(1, 6))]
        names = {name: pick.choice((name, f"{name}_")) for name in COLUMNS}
        if pick.random() < 0.5:
            names = {name: name for name in COLUMNS}
        elif names["a"] == "a":
            names["a"] = "a_"
        cells = ", ".join(self._cells(row) for row in rows)
        listing = ", ".join(names.values())
        return Source(f"(VALUES {cells}) AS src({listing})", "", ("src.",), names, rows)

    def _itself(self, state: State, target: Target) -> Source:
        """The table that is written, now or at a moment of the past."""
        rows, moment = state.table, ""
        if state.past and self._random.random() < 0.6:
            time = self._random.choice(list(state.past))
            rows, moment = state.past[time], f" FOR SYSTEM_TIME AS OF {time}"
        names = {name: name for name in COLUMNS}
        text = f"{self._table}{moment} AS src"
        return Source(text, "", ("src.",), names, list(rows.values()))

    def _row(self) -> Row:
        pick = self._random
        row = {name: pick.randint(0, 6) for name in ("a", "b", "c", "n")}
        row |= {"s": pick.choice(WORDS), "d": pick.choice(DECIMALS)}
        return {name: None if pick.random() < 0.1 else cell for name, cell in row.items()}

    def _cells(self, row: Row) -> str:
        cells: Sequence[str] = [
            f"CAST('{cell:f}' AS DECIMAL(38, 38))" if name == "d" and cell is not None
            else literal(cell)
            for name, cell in row.items()
        ]  # fmt: skip
        return f"({', '.join(cells)})"


def _own_name(table: str) -> str:
    return table.rpartition(".")[2]
