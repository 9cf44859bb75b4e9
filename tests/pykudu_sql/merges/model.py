"""What statements do to the rows of table t, in plain Python."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.pykudu_sql.merges.logic import Truth
from tests.pykudu_sql.merges.terms import Pair, Row, Rows, Term

COLUMNS: Mapping[str, str] = {
    "a": "int",
    "b": "int",
    "c": "int",
    "n": "int",
    "s": "str",
    "d": "dec",
}
DEFAULTS: Mapping[str, Any] = {
    "a": None, "b": None, "c": 7, "n": 5, "s": None, "d": Decimal("0.5"),
}  # fmt: skip

Key = tuple[Any, ...]
Table = dict[Key, Row]

REPEATED, PRESENT, MISSING, TOO_LARGE = "21000", "23505", "23502", "22003"


@dataclass(frozen=True, slots=True)
class Clause:
    """One WHEN of a MERGE.

    Attributes:
        kind: "MATCHED", "BY TARGET" or "BY SOURCE".
        condition: behind AND.
        action: "UPDATE", "DELETE", "INSERT" or "DO NOTHING".
        values: that it sets or inserts, by column.
    """

    kind: str
    condition: Term | None
    action: str
    values: Mapping[str, Term]


@dataclass(slots=True)
class Outcome:
    """What a statement does.

    Attributes:
        rows: of the table behind it.
        changes: action, row as RETURNING shows it, and row of the source.
        errors: SQLSTATEs that refuse it; any of them.
    """

    rows: Table
    changes: list[tuple[str, Row, Row | None]] = field(default_factory=list)
    errors: set[str] = field(default_factory=set)


class Effects:
    """Changes to a table of some key."""

    def __init__(self, key: Sequence[str]) -> None:
        self.key = tuple(key)

    def key_of(self, row: Row) -> Key:
        """The key's values."""
        return tuple(row[name] for name in self.key)

    def merge(
        self,
        table: Table,
        source: Rows,
        on: Callable[[Pair], Truth],
        clauses: Sequence[Clause],
    ) -> Outcome:
        """MERGE."""
        outcome = Outcome(dict(table))
        touched: Counter[Key] = Counter()
        for kind, pair in _joined(list(table.values()), source, on):
            clause = _first(clauses, kind, pair)
            if clause is None or clause.action == "DO NOTHING":
                continue
            if pair[0] is not None:
                touched[self.key_of(pair[0])] += 1
            if clause.action == "INSERT":
                self._insert(outcome, table, pair, clause.values)
            elif clause.action == "DELETE":
                self._delete(outcome, pair)
            else:
                self._update(outcome, pair, clause.values)
        if any(count > 1 for count in touched.values()):
            outcome.errors.add(REPEATED)
        return outcome

    def update(self, table: Table, values: Mapping[str, Term], where: Term) -> Outcome:
        """UPDATE of one table."""
        outcome = Outcome(dict(table))
        for row in table.values():
            if where.value((row, None)) is True:
                self._update(outcome, (row, None), values)
        return outcome

    def delete(self, table: Table, source: Sequence[Row | None], where: Term) -> Outcome:
        """DELETE, perhaps USING others."""
        outcome = Outcome(dict(table))
        for row in table.values():
            if any(where.value((row, other)) is True for other in source):
                self._delete(outcome, (row, None))
        return outcome

    def upsert(
        self, table: Table, proposed: Rows, values: Mapping[str, Term], where: Term
    ) -> Outcome:
        """INSERT of proposed rows ON CONFLICT DO UPDATE SET values WHERE condition."""
        outcome = Outcome(dict(table))
        if max(Counter(map(self.key_of, proposed)).values()) > 1:
            outcome.errors.add(REPEATED)
        for row in proposed:
            old = table.get(self.key_of(row))
            if old is None:
                self._insert(outcome, table, (None, row), {n: _own(n) for n in COLUMNS})
            elif where.value((old, row)) is True:
                self._update(outcome, (old, row), values)
        return outcome

    def _insert(
        self, outcome: Outcome, before: Table, pair: Pair, values: Mapping[str, Term]
    ) -> None:
        row = {**DEFAULTS, **{name: term.value(pair) for name, term in values.items()}}
        self._check(outcome, row)
        key = self.key_of(row)
        inserted = (self.key_of(new) for action, new, _ in outcome.changes if action == "INSERT")
        if key in before or key in inserted:
            outcome.errors.add(PRESENT)
        outcome.rows[key] = row
        outcome.changes.append(("INSERT", row, pair[1]))

    def _update(self, outcome: Outcome, pair: Pair, values: Mapping[str, Term]) -> None:
        old = pair[0]
        assert old is not None
        row = {**old, **{name: term.value(pair) for name, term in values.items()}}
        self._check(outcome, row)
        outcome.rows[self.key_of(row)] = row
        outcome.changes.append(("UPDATE", row, pair[1]))

    def _delete(self, outcome: Outcome, pair: Pair) -> None:
        old = pair[0]
        assert old is not None
        outcome.rows.pop(self.key_of(old), None)
        outcome.changes.append(("DELETE", old, pair[1]))

    def _check(self, outcome: Outcome, row: Row) -> None:
        if any(row[name] is None for name in (*self.key, "n")):
            outcome.errors.add(MISSING)
        numbers = (row[name] for name, family in COLUMNS.items() if family == "int")
        if any(number is not None and abs(number) >= 2**31 for number in numbers):
            outcome.errors.add(TOO_LARGE)


def _own(name: str) -> Term:
    """A column of the proposed row."""
    return Term(name, lambda pair: pair[1] and pair[1][name])


def _joined(table: Rows, source: Rows, on: Callable[[Pair], Truth]) -> Iterator[tuple[str, Pair]]:
    """Pairs of rows, each with the kind of WHEN that is about it."""
    met: set[int] = set()
    for other in source:
        matched = [row for row in table if on((row, other)) is True]
        met.update(map(id, matched))
        for row in matched:
            yield "MATCHED", (row, other)
        if not matched:
            yield "BY TARGET", (None, other)
    for row in table:
        if id(row) not in met:
            yield "BY SOURCE", (row, None)


def _first(clauses: Sequence[Clause], kind: str, pair: Pair) -> Clause | None:
    """The clause that a pair of rows takes."""
    for clause in clauses:
        if clause.kind == kind and (
            clause.condition is None or clause.condition.value(pair) is True
        ):
            return clause
    return None
