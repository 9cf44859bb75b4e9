"""A predicate prepared for a scan: steps, the most selective first, and ranges of keys.

Kudu's order of evaluation (`common/generic_iterators.cc`, MaterializingIterator): IS NULL, then
equality, IN, ranges, IS NOT NULL; of two alike the one over the narrower column, then the one whose
column comes first. ORs, which Kudu does not have, come last. Each step is about one column, but for
ORs, so a scan reads one column more only while rows survive.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.predicate.column_domain import Domain, clip, domain_of
from pykudu_sql.storage.common.predicate.column_predicate import (
    ALWAYS,
    NEVER,
    Among,
    And,
    Comparison,
    InList,
    IsNotNull,
    IsNull,
    Like,
    Op,
    Or,
    Predicate,
    StartsWith,
    column_ids,
    conjuncts,
)
from pykudu_sql.storage.common.predicate.key_bounds import (
    KeyRange,
    exact_columns,
    key_domains,
    key_ranges,
)
from pykudu_sql.storage.common.predicate.predicate_simplify import simplify
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType

MAX_KEY_RANGES = 256

_STRING_BYTES = 1 << 16
_RANK_OF_OR = 6
# Predicates that hold for every value of their domain.
_EXACT = Comparison | InList | StartsWith


@dataclass(frozen=True, slots=True)
class FilterStep:
    """One part of a conjunction.

    `predicate`: over `columns` alone; `columns`: what it looks at; `types`: their types by id.
    """

    predicate: Predicate
    columns: tuple[ColumnSchema, ...]
    types: Mapping[int, DataType]


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A predicate as a scan uses it.

    Attributes:
        predicate: what the steps ask for together; statistics are checked against it.
        steps: a row matches when all of them hold, and each holds for some row.
        key_ranges: ranges of encoded keys outside which no row matches, ascending and disjoint;
            None when keys do not restrict it, empty when no row matches.
        beyond_key: the steps that do not hold for every row with a key in these ranges.
        is_complete: whether the steps together are the predicate. They are less where it names
            columns that are not known here.
        dense: where at least this share of rows matches, the others are left in. Whoever scans
            filters again, and to copy so many rows here costs more than it saves there.
    """

    predicate: Predicate
    steps: tuple[FilterStep, ...]
    key_ranges: tuple[KeyRange, ...] | None
    beyond_key: tuple[FilterStep, ...]
    is_complete: bool
    dense: float = 0.25

    @classmethod
    def of(
        cls,
        predicate: Predicate,
        key_columns: Sequence[ColumnSchema],
        columns: Iterable[ColumnSchema],
    ) -> "RowFilter":
        """The filter of a predicate.

        Args:
            predicate: any tree.
            columns: whose cells can be looked at; parts about others drop no rows.
        """
        by_id = {column.id: column for column in columns}
        parts = list(conjuncts(predicate))
        evaluable = [part for part in parts if column_ids(part) <= by_id.keys()]
        simple = simplify(And(tuple(evaluable)), by_id)
        is_complete = len(evaluable) == len(parts)
        if simple == NEVER:
            return cls(simple, (), (), (), is_complete)
        steps = _steps(simple, by_id)
        domains = key_domains(predicate, key_columns)
        if domains[0].is_full:
            return cls(simple, steps, None, steps, is_complete)
        ranges = key_ranges(domains, key_columns, limit=MAX_KEY_RANGES)
        non_empty = (r for r in ranges if r[1] is None or r[0] < r[1])
        beyond = _undecided(steps, domains, key_columns)
        return cls(simple, steps, tuple(sorted(non_empty, key=_low)), beyond, is_complete)

    def exactly(self) -> "RowFilter":
        """The same filter, which leaves no row in that a step does not hold for."""
        return replace(self, dense=1.0)

    def within_key_ranges(self) -> "RowFilter":
        """The filter for rows whose keys are known to lie in the ranges."""
        return self if self.beyond_key is self.steps else replace(self, steps=self.beyond_key)

    @property
    def matches_nothing(self) -> bool:
        """Whether it is known beforehand that no row matches."""
        return self.key_ranges == ()

    def may_hold(self, min_key: bytes, max_key: bytes) -> bool:
        """Whether a row with an encoded key from `min_key` to `max_key` may match."""
        ranges = self.key_ranges
        if ranges is None:
            return True
        index = bisect_right(ranges, max_key, key=_low)
        return any(high is None or high > min_key for _, high in ranges[max(0, index - 1) : index])


def _low(key_range: KeyRange) -> bytes:
    return key_range[0]


def _undecided(
    steps: tuple[FilterStep, ...], domains: Sequence[Domain], key_columns: Sequence[ColumnSchema]
) -> tuple[FilterStep, ...]:
    """The steps that may fail for a row with a key in the ranges of some domains."""
    count = exact_columns(domains, limit=MAX_KEY_RANGES)
    exact = {c.id: domain for c, domain in zip(key_columns[:count], domains, strict=False)}
    return tuple(step for step in steps if not _is_decided(step, exact))


def _is_decided(step: FilterStep, exact: Mapping[int, Domain]) -> bool:
    """Whether a step holds wherever some columns have cells in their domains."""
    column = step.columns[0]
    domain = exact.get(column.id)
    if domain is None or not all(isinstance(p, _EXACT) for p in conjuncts(step.predicate)):
        return False
    part_domain = clip(domain_of(step.predicate, column.id), column.type)
    return part_domain == domain or part_domain.intersect(domain) == domain


def _steps(simple: Predicate, by_id: Mapping[int, ColumnSchema]) -> tuple[FilterStep, ...]:
    if simple == ALWAYS:
        return ()
    by_column: dict[int, list[Predicate]] = {}
    parts: list[Predicate] = []
    for part in conjuncts(simple):
        if isinstance(part, Or):
            parts.append(part)
        else:
            by_column.setdefault(part.column_id, []).append(part)
    parts += [
        leaves[0] if len(leaves) == 1 else And(tuple(leaves)) for leaves in by_column.values()
    ]
    column_order = {column_id: index for index, column_id in enumerate(by_id)}
    parts.sort(key=lambda part: _rank(part, by_id, column_order))
    return tuple(_step(part, by_id) for part in parts)


def _step(part: Predicate, by_id: Mapping[int, ColumnSchema]) -> FilterStep:
    columns = tuple(by_id[i] for i in sorted(column_ids(part)))
    return FilterStep(part, columns, {column.id: column.type for column in columns})


def _rank(
    part: Predicate, by_id: Mapping[int, ColumnSchema], column_order: Mapping[int, int]
) -> tuple[int, int, int]:
    ids = column_ids(part)
    if isinstance(part, Or):
        return _RANK_OF_OR, len(ids), 0
    (column_id,) = ids
    size = by_id[column_id].type.width or _STRING_BYTES
    return _kind_rank(part), size, column_order[column_id]


def _kind_rank(part: Predicate) -> int:
    match part:
        case IsNull():
            return 1
        case Comparison(_, Op.EQ, _):
            return 2
        case InList():
            return 3
        case IsNotNull() | Among() | Like():
            return 5
    return 4
