"""Brings predicates to their simplest form, by Kudu's rules (`common/column_predicate.cc`).

Within an AND each column's comparisons become one: an empty set makes the whole never true, one
value an equality, several an IN list in order, the ends of the type are dropped, and IS NOT NULL of
a NOT NULL column is nothing. The parts stand in the order in which a scan should look at them: IS
NULL, =, IN, ranges, IS NOT NULL, ORs. Within an OR, equalities of one column become one IN list,
and what every part asks for is asked for once, before the OR: (a AND b) OR (a AND c) is
a AND (b OR c). The result holds for exactly the same rows.
"""

from collections.abc import Iterator, Mapping, Sequence

from pykudu_sql.storage.common.predicate.column_domain import FULL, Domain, clip, domain_of, finite
from pykudu_sql.storage.common.predicate.column_predicate import (
    ALWAYS,
    NEVER,
    Among,
    And,
    Comparison,
    InList,
    IsNotNull,
    IsNull,
    Leaf,
    Like,
    Op,
    Or,
    Predicate,
    StartsWith,
    conjuncts,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Kind


def simplify(predicate: Predicate, columns: Mapping[int, ColumnSchema]) -> Predicate:
    """The simplest equal predicate.

    Args:
        predicate: any tree; its values are cells of the columns' types, or integers beyond them.
        columns: the columns it names, by id.

    Returns `NEVER`, `ALWAYS`, a leaf, or a tree of distinct parts.
    """
    if isinstance(predicate, Or):
        return _simplify_or(predicate, columns)
    by_column: dict[int, list[Leaf]] = {}
    whole: list[Predicate] = []
    for part in conjuncts(predicate):
        if isinstance(part, Among | Like):
            whole.append(part)
            continue
        if not isinstance(part, Or):
            by_column.setdefault(part.column_id, []).append(part)
            continue
        simple = simplify(part, columns)
        if simple == NEVER:
            return NEVER
        for inner in conjuncts(simple):
            if isinstance(inner, Or | Among | Like):
                whole.append(inner)
            else:
                by_column.setdefault(inner.column_id, []).append(inner)
    parts: list[Predicate] = []
    for column_id, leaves in by_column.items():
        merged = _merge(leaves, columns[column_id])
        if merged is None:
            return NEVER
        parts += merged
    parts.sort(key=_rank)
    return _join(And, [*parts, *whole])


def _simplify_or(predicate: Or, columns: Mapping[int, ColumnSchema]) -> Predicate:
    points: dict[int, list[Domain]] = {}
    others: list[Predicate] = []
    for part in _disjuncts(predicate, columns):
        if part == ALWAYS:
            return ALWAYS
        if isinstance(part, InList) or (isinstance(part, Comparison) and part.op is Op.EQ):
            points.setdefault(part.column_id, []).append(domain_of(part, part.column_id))
        else:
            others.append(part)
    parts: list[Predicate] = []
    for column_id, domains in points.items():
        values = finite(value for domain in domains for value in domain.values or ())
        parts += _emit(clip(values, columns[column_id].type), columns[column_id]) or []
    if ALWAYS in parts:
        return ALWAYS
    return _factored([*parts, *others], columns) if parts or others else NEVER


def _factored(parts: Sequence[Predicate], columns: Mapping[int, ColumnSchema]) -> Predicate:
    """The OR of distinct parts; what all of them ask for stands before it."""
    wholes = [tuple(conjuncts(part)) for part in parts]
    shared = [part for part in wholes[0] if all(part in whole for whole in wholes)]
    if len(wholes) == 1 or not shared:
        return _join(Or, parts)
    rests = [tuple(part for part in whole if part not in shared) for whole in wholes]
    return simplify(And((*shared, Or(tuple(map(And, rests))))), columns)


def _disjuncts(predicate: Or, columns: Mapping[int, ColumnSchema]) -> Iterator[Predicate]:
    for part in predicate.parts:
        simple = simplify(part, columns)
        if isinstance(simple, Or):
            yield from simple.parts
        else:
            yield simple


def _merge(leaves: list[Leaf], column: ColumnSchema) -> list[Predicate] | None:
    """One column's conjuncts as few as possible; None when they contradict each other."""
    asks_null = any(isinstance(leaf, IsNull) for leaf in leaves)
    asks_value = any(not isinstance(leaf, IsNull) for leaf in leaves)
    if asks_null:
        return None if asks_value or not column.may_show_null else [leaves[0]]
    if len(leaves) == 1 and isinstance(leaves[0], StartsWith) and leaves[0].prefix:
        return [leaves[0]]
    domain = FULL
    for leaf in leaves:
        domain = domain.intersect(domain_of(leaf, column.id))
    parts = _emit(domain, column)
    # With a long list stays what was made of it for tests of rows and blocks.
    return [*leaves] if parts == leaves else parts


def _emit(domain: Domain, column: ColumnSchema) -> list[Predicate] | None:
    """A domain as conjuncts; None when it is empty."""
    clipped = clip(domain, column.type)
    if clipped.is_empty:
        return None
    # The type decides, not the values: 0.0 and 1.0 of a DOUBLE equal False and True.
    both = column.type.kind is Kind.BOOL and clipped.values == (False, True)
    if clipped.is_full or both:
        return [IsNotNull(column.id)] if column.may_show_null else [ALWAYS]
    if clipped.values is not None:
        if len(clipped.values) == 1:
            return [Comparison(column.id, Op.EQ, clipped.values[0])]
        return [InList(column.id, clipped.values)]
    ends: list[Predicate] = []
    if clipped.lower is not None and domain.lower is not None:
        op = Op.GE if domain.lower.inclusive else Op.GT
        ends.append(Comparison(column.id, op, domain.lower.value))
    if clipped.upper is not None and domain.upper is not None:
        op = Op.LE if domain.upper.inclusive else Op.LT
        ends.append(Comparison(column.id, op, domain.upper.value))
    return ends


def _join(kind: type[And] | type[Or], parts: Sequence[Predicate]) -> Predicate:
    neutral = ALWAYS if kind is And else NEVER
    distinct = [part for part in dict.fromkeys(parts) if part != neutral]
    return distinct[0] if len(distinct) == 1 else kind(tuple(distinct))


def _rank(predicate: Predicate) -> tuple[int, int]:
    match predicate:
        case IsNull(column_id):
            return 0, column_id
        case Comparison(column_id, Op.EQ, _):
            return 1, column_id
        case InList(column_id, _):
            return 2, column_id
        case Comparison(column_id, _, _) | StartsWith(column_id, _):
            return 3, column_id
        case IsNotNull(column_id):
            return 4, column_id
    return 5, 0
