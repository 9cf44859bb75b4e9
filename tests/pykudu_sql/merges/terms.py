"""Random expressions over the two rows that a statement looks at, as SQL and as Python.

A term's text goes to the database, its function gives the value that the text has for a pair of
rows: the one of the table that is written and the one of the source. Either may be missing. A value
in a text may be a parameter, which stands there as a mark of `Spellings`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

from tests.pykudu_sql.differential.spellings import Spellings
from tests.pykudu_sql.differential.tables import TYPES, literal
from tests.pykudu_sql.merges.logic import (
    COMPARISONS,
    DISTINCTIONS,
    all_of,
    any_of,
    compared,
    is_among,
    negated,
    rows_compared,
)

Row = Mapping[str, Any]
Pair = tuple[Row | None, Row | None]
Rows = list[Row]

WORDS = ("a", "bb", "ccc", "é")
DECIMALS: list[Decimal] = TYPES["DECIMAL(38, 38)"][1]
_ODD_NUMBERS = ("1", "-1", "0", "0.5", "2.5", "-1E-38", "1E-40", "1E38", "3")


@dataclass(frozen=True, slots=True)
class Term:
    """An expression: its text, and its value for a pair of rows."""

    text: str
    value: Callable[[Pair], Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A column that a clause can name.

    Attributes:
        side: 0 for the table that is written, 1 for the source.
        name: of the column in the model's rows.
        family: "int", "str" or "dec".
        spellings: how the statement may write it.
    """

    side: int
    name: str
    family: str
    spellings: tuple[str, ...]

    def value(self, pair: Pair) -> Any:
        """The column's value; NULL where its side has no row."""
        row = pair[self.side]
        return None if row is None else row[self.name]


class Terms:
    """Draws terms.

    `lookup`: the rows of table r (rk, rv, rw), which subqueries read.
    """

    def __init__(self, random: Random, lookup: Rows) -> None:
        self.random = random
        self.spellings = Spellings()
        self._lookup = lookup

    def condition(self, fields: Sequence[Field], depth: int, *, subqueries: bool = True) -> Term:
        """A boolean expression."""
        pick, shape = self.random, self.random.random()
        if depth and shape < 0.4:
            parts = [self.condition(fields, depth - 1, subqueries=subqueries) for _ in range(2)]
            word, together = pick.choice((("AND", all_of), ("OR", any_of)))
            text = f"({parts[0].text} {word} {parts[1].text})"
            return Term(text, lambda pair: together([part.value(pair) for part in parts]))
        if depth and shape < 0.55:
            inner = self.condition(fields, depth - 1, subqueries=subqueries)
            if pick.random() < 0.3:
                return Term(f"({inner.text}) IS NULL", lambda pair: inner.value(pair) is None)
            return Term(f"NOT ({inner.text})", lambda pair: negated(inner.value(pair)))
        kinds = [self._compared, self._compared, self._listed, self._between, self._null_tested]
        kinds += [self._of_rows, self._of_rows, self._among_rows]
        if subqueries:
            kinds += [self._in_subquery, self._exists]
        return pick.choice(kinds)(fields)

    def value(self, fields: Sequence[Field], family: str, *, subqueries: bool = True) -> Term:
        """An expression of a family of types, of which some fields are."""
        pick = self.random
        same = [field for field in fields if field.family == family]
        first = self._mention(pick.choice(same))
        shape = pick.random()
        if shape < 0.4:
            return first
        if shape < 0.55:
            other = self.constant(family)
            text = f"coalesce({first.text}, {other.text})"
            return Term(
                text, lambda pair: other.value(pair) if (v := first.value(pair)) is None else v
            )
        if shape < 0.7:
            condition = self.condition(fields, 1, subqueries=subqueries)
            other = self._mention(pick.choice(same))
            text = f"CASE WHEN {condition.text} THEN {first.text} ELSE {other.text} END"
            return Term(text, lambda pair: (first if condition.value(pair) else other).value(pair))
        if family == "int" and shape < 0.8:
            return Term(
                f"{first.text} * 1000000000",
                lambda pair: None if (v := first.value(pair)) is None else v * 1000000000,
            )
        if family == "int" and shape < 0.9 and subqueries:
            return self._scalar_subquery(first)
        if family == "int":
            return Term(
                f"({first.text} + 1)",
                lambda pair: None if (v := first.value(pair)) is None else v + 1,
            )
        if family == "str":
            return Term(
                f"{first.text} || 'x'",
                lambda pair: None if (v := first.value(pair)) is None else v + "x",
            )
        return first

    def constant(self, family: str, *, nullable: bool = True) -> Term:
        """A constant of a family of types."""
        constant = self._constant(family)
        if nullable and self.random.random() < 0.15:
            constant = None
        return self._written(constant)

    def _constant(self, family: str) -> Any:
        pick = self.random
        if family == "int":
            return pick.randint(0, 6)
        return pick.choice(WORDS) if family == "str" else pick.choice(DECIMALS)

    def _written(self, constant: Any) -> Term:
        return Term(self._text(constant), lambda _: constant)

    def _text(self, constant: Any) -> str:
        """A constant as a literal or a parameter."""
        if self.random.random() < 0.25:
            return self.spellings.parameter(constant)
        return literal(constant)

    def _mention(self, field: Field) -> Term:
        return Term(self.random.choice(field.spellings), field.value)

    def _opposite(self, field: Field) -> Any:
        """What a field is compared with: None, a value of its type or an odd number."""
        pick = self.random
        if pick.random() < 0.12:
            return None
        if field.family == "str" or pick.random() < 0.7:
            return self._constant(field.family)
        return Decimal(pick.choice(_ODD_NUMBERS))

    def _compared(self, fields: Sequence[Field]) -> Term:
        pick = self.random
        field = pick.choice(fields)
        left = self._mention(field)
        same = [f for f in fields if f.family == field.family]
        if pick.random() < 0.35:
            right = self._mention(pick.choice(same))
        else:
            right = self._written(self._opposite(field))
        sign = pick.choice((*COMPARISONS, *COMPARISONS, *DISTINCTIONS))
        if pick.random() < 0.2:
            left, right = right, left
        return Term(
            f"{left.text} {sign} {right.text}",
            lambda pair: compared(sign, left.value(pair), right.value(pair)),
        )

    def _listed(self, fields: Sequence[Field]) -> Term:
        pick = self.random
        field = pick.choice(fields)
        column, items = self._mention(field), [self._opposite(field) for _ in range(3)]
        if pick.random() < 0.4:
            items.append(None)
        word, turn = self._negation()
        text = f"{column.text} {word}IN ({', '.join(map(self._text, items))})"
        rows = [(item,) for item in items]
        return Term(text, lambda pair: turn(is_among((column.value(pair),), rows)))

    def _between(self, fields: Sequence[Field]) -> Term:
        field = self.random.choice(fields)
        column, low, high = self._mention(field), self._opposite(field), self._opposite(field)
        word, turn = self._negation()
        text = f"{column.text} {word}BETWEEN {self._text(low)} AND {self._text(high)}"
        return Term(
            text,
            lambda pair: turn(
                all_of(
                    [
                        compared(">=", column.value(pair), low),
                        compared("<=", column.value(pair), high),
                    ]
                )
            ),
        )

    def _null_tested(self, fields: Sequence[Field]) -> Term:
        column = self._mention(self.random.choice(fields))
        if self.random.random() < 0.5:
            return Term(f"{column.text} IS NULL", lambda pair: column.value(pair) is None)
        return Term(f"{column.text} IS NOT NULL", lambda pair: column.value(pair) is not None)

    def _row(self, fields: Sequence[Field]) -> list[Field]:
        count = min(len(fields), self.random.choice((2, 2, 3)))
        return self.random.sample(list(fields), count)

    def _opposite_row(self, row: Sequence[Field], fields: Sequence[Field]) -> list[Term]:
        """A term for each field of a row: a constant, or another field of its family."""
        terms = []
        for field in row:
            same = [f for f in fields if f.family == field.family]
            if self.random.random() < 0.3:
                terms.append(self._mention(self.random.choice(same)))
            else:
                terms.append(self._written(self._opposite(field)))
        return terms

    def _of_rows(self, fields: Sequence[Field]) -> Term:
        row = self._row(fields)
        left, right = list(map(self._mention, row)), self._opposite_row(row, fields)
        sign = self.random.choice((*COMPARISONS, *DISTINCTIONS))
        return Term(
            f"{_listing(left)} {sign} {_listing(right)}",
            lambda pair: rows_compared(sign, _values(left, pair), _values(right, pair)),
        )

    def _among_rows(self, fields: Sequence[Field]) -> Term:
        row = self._row(fields)
        left = list(map(self._mention, row))
        others = [self._opposite_row(row, fields) for _ in range(self.random.randint(1, 3))]
        word, turn = self._negation()
        text = f"{_listing(left)} {word}IN ({', '.join(map(_listing, others))})"
        return Term(
            text,
            lambda pair: turn(
                is_among(_values(left, pair), [_values(other, pair) for other in others])
            ),
        )

    def _in_subquery(self, fields: Sequence[Field]) -> Term:
        """`n IN (SELECT rv ..)`, or a row in one."""
        pick = self.random
        numbers = [f for f in fields if f.family == "int"]
        words = [f for f in fields if f.family == "str"]
        least = pick.randint(0, 5)
        rows = [row for row in self._lookup if row["rk"] >= least]
        left = [self._mention(pick.choice(numbers))]
        names = ["rv"]
        if words and pick.random() < 0.5:
            left.append(self._mention(pick.choice(words)))
            names.append("rw")
        among = [[row[name] for name in names] for row in rows]
        word, turn = self._negation()
        row_text = _listing(left) if len(left) > 1 else left[0].text
        columns = ", ".join(f"r.{name}" for name in names)
        text = f"{row_text} {word}IN (SELECT {columns} FROM r WHERE r.rk >= {least})"
        return Term(text, lambda pair: turn(is_among(_values(left, pair), among)))

    def _exists(self, fields: Sequence[Field]) -> Term:
        pick = self.random
        column = self._mention(pick.choice([f for f in fields if f.family == "int"]))
        sign = pick.choice(COMPARISONS)
        word, turn = self._negation()
        text = f"{word}EXISTS (SELECT 1 FROM r WHERE r.rv {sign} {column.text})"
        lookup = self._lookup
        return Term(
            text,
            lambda pair: turn(
                any(compared(sign, row["rv"], column.value(pair)) is True for row in lookup)
            ),
        )

    def _scalar_subquery(self, column: Term) -> Term:
        lookup = self._lookup

        def greatest(pair: Pair) -> int | None:
            key = column.value(pair)
            values = [
                row["rv"]
                for row in lookup
                if compared("<=", row["rk"], key) is True and row["rv"] is not None
            ]
            return max(values, default=None)

        return Term(f"(SELECT max(r.rv) FROM r WHERE r.rk <= {column.text})", greatest)

    def _negation(self) -> tuple[str, Callable[[bool | None], bool | None]]:
        if self.random.random() < 0.4:
            return "NOT ", negated
        return "", lambda truth: truth


def _listing(terms: Sequence[Term]) -> str:
    return f"({', '.join(term.text for term in terms)})"


def _values(terms: Sequence[Term], pair: Pair) -> list[Any]:
    return [term.value(pair) for term in terms]
