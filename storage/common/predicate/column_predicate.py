"""Predicates that tablets understand: comparisons of one column with constants, and AND/OR of them.

What Kudu's `common/column_predicate.h` has, plus OR trees, prefixes of texts and LIKE. A predicate
is true, or it is not: NULL and false are the same here. Values are cells (`types.Cell`), never
NULL, of the column's type. Floating-point values are ordered as the engine orders them: NaN equals
NaN and is greater than every number.

What is done with a predicate lives beside it: `predicate_eval` (rows), `predicate_stats` (zone
maps), `column_domain` (sets of values), `predicate_simplify`, `key_bounds`, `partition_pruner`.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.cached_property import cached_property
from pykudu_sql.storage.common.predicate.integer_set import MOST_FLAGS, IntegerSet
from pykudu_sql.storage.common.types.types import Cell

_LIMIT = 1 << 63


class Op(StrEnum):
    """How a column is compared with a value; written as in SQL."""

    EQ = "="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="


@dataclass(frozen=True, slots=True)
class Comparison:
    """`column op value`."""

    column_id: int
    op: Op
    value: Cell


@dataclass(frozen=True)
class InList:
    """`column IN (values)`; of no values, never true.

    A list is tested on many rowsets and blocks, so the forms for these tests are made once.
    """

    column_id: int
    values: tuple[Cell, ...]

    @cached_property
    def ascending(self) -> tuple[Any, ...]:
        """The values without NULL, each once, in their order; NaN is the greatest."""
        if set(map(type, self.values)) == {int}:
            return tuple(sorted(set(self.values)))
        distinct = dict.fromkeys(value for value in self.values if value is not None)
        numbers = sorted(value for value in distinct if value == value)
        nan = next((value for value in distinct if value != value), None)
        return tuple(numbers) if nan is None else (*numbers, nan)

    @cached_property
    def integers(self) -> npt.NDArray[np.int64]:
        """Those of the values that are 64-bit integers, ascending."""
        values = self.ascending
        if set(map(type, values)) != {int} or values[0] < -_LIMIT or values[-1] >= _LIMIT:
            values = tuple(v for v in values if isinstance(v, int) and -_LIMIT <= v < _LIMIT)
        return np.array(values, np.int64)

    @cached_property
    def members(self) -> IntegerSet | None:
        """The same as a set; None where there are none, or too far apart."""
        return IntegerSet.of(self.integers, MOST_FLAGS)


@dataclass(frozen=True, slots=True)
class IsNull:
    """`column IS NULL`."""

    column_id: int


@dataclass(frozen=True, slots=True)
class IsNotNull:
    """`column IS NOT NULL`."""

    column_id: int


@dataclass(frozen=True, slots=True)
class StartsWith:
    """`column LIKE 'prefix%'`; the prefix is text for text columns and bytes for binary ones."""

    column_id: int
    prefix: str | bytes


@dataclass(frozen=True, slots=True)
class Like:
    """`column LIKE pattern` of a text column; see `text_pattern`."""

    column_id: int
    pattern: str


@dataclass(frozen=True, slots=True)
class Among:
    """`column IN (members)` of very many integers, as in runtime filters; equal only to itself."""

    column_id: int
    members: IntegerSet


@dataclass(frozen=True, slots=True)
class And:
    """True when every part is; of no parts, always."""

    parts: "tuple[Predicate, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    """True when some part is; of no parts, never."""

    parts: "tuple[Predicate, ...]"


Leaf = Comparison | InList | Among | IsNull | IsNotNull | StartsWith | Like
Predicate = Leaf | And | Or

ALWAYS = And(())
NEVER = Or(())


def leaves(predicate: Predicate) -> Iterator[Leaf]:
    """The comparisons of a tree, left to right."""
    if isinstance(predicate, And | Or):
        for part in predicate.parts:
            yield from leaves(part)
    else:
        yield predicate


def column_ids(predicate: Predicate) -> frozenset[int]:
    """The columns a predicate looks at."""
    return frozenset(leaf.column_id for leaf in leaves(predicate))


def conjuncts(predicate: Predicate) -> Iterator[Leaf | Or]:
    """The parts that must all hold, nested ANDs taken apart."""
    if isinstance(predicate, And):
        for part in predicate.parts:
            yield from conjuncts(part)
    else:
        yield predicate
