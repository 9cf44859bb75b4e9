"""Transitive predicates: `a.k = b.k AND a.k = 5` implies `b.k = 5`.

An equality by which a row of the target cannot matter without an equal value of the source (see
`planner.pushdown.runtime_filters`) passes on the conditions on the source's column: rows of the
source that fail it are not looked at, so what only they equal is not wanted either.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.operands.comparison import among, compare, like, null_test, starts_with
from pykudu_sql.planner.operands.template import (
    AllOf,
    AnyOf,
    ParameterComparison,
    ParameterInList,
    PredicateTemplate,
    all_of,
    any_of,
)
from pykudu_sql.planner.operands.value import Parameter
from pykudu_sql.planner.pushdown.runtime_filters import Equality
from pykudu_sql.storage.common.predicate.column_predicate import (
    ALWAYS,
    And,
    Comparison,
    InList,
    IsNotNull,
    Like,
    Or,
    StartsWith,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema

_MOST_PREDICATES = 1000
_LONGEST_LIST = 10_000
ColumnMention = tuple[TableReference, int]


def with_equalities(
    pushed: Mapping[TableReference, PredicateTemplate], equalities: Sequence[Equality]
) -> dict[TableReference, PredicateTemplate]:
    """Predicates of mentions, with what equalities add.

    `pushed`: of `push_down`; `equalities`: of `join_equalities`, over the same query.
    """
    equal: dict[ColumnMention, list[ColumnMention]] = {}
    for equality in equalities:
        equal.setdefault(equality.source, []).append(equality.target)
    parts = {key: dict.fromkeys(_parts(template)) for key, template in pushed.items()}
    waiting = deque((key, part) for key, predicates in parts.items() for part in predicates)
    count = 0
    while waiting and count < _MOST_PREDICATES:
        mention, part = waiting.popleft()
        column_id = _only_column(part)
        targets = equal.get((mention, column_id), ()) if column_id is not None else ()
        for target, target_id in targets:
            restated = _restated(part, target.table.schema.by_id[target_id])
            for each in _parts(restated):
                if each not in parts.setdefault(target, {}):
                    parts[target][each] = None
                    waiting.append((target, each))
                    count += 1
    return {key: all_of(tuple(predicates)) for key, predicates in parts.items() if predicates}


def _parts(template: PredicateTemplate) -> Iterator[PredicateTemplate]:
    """The parts that must all hold; those that always do are left out."""
    if isinstance(template, And | AllOf):
        for part in template.parts:
            yield from _parts(part)
    else:
        yield template


def _only_column(part: PredicateTemplate) -> int | None:
    """The one column that a condition is about."""
    match part:
        case Comparison() | InList() | StartsWith() | Like() | IsNotNull():
            return part.column_id
        case ParameterComparison() | ParameterInList():
            return part.column.id
        case Or() | AnyOf() | And() | AllOf():
            columns = {_only_column(inner) for inner in part.parts}
            return columns.pop() if len(columns) == 1 else None
        case _:
            return None


def _restated(part: PredicateTemplate, column: ColumnSchema) -> PredicateTemplate:
    """A condition on one column, transferred to another one that is equal to it.

    Both are text or both are integers, so cells are values.
    """
    match part:
        case Comparison(_, op, cell):
            return compare(column, op, cell).predicate
        case InList(_, cells) if len(cells) <= _LONGEST_LIST:
            return among(column, cells).predicate
        case StartsWith(_, str() as prefix):
            return starts_with(column, prefix)
        case Like(_, pattern):
            return like(column, pattern).predicate
        case IsNotNull():
            return null_test(column, False)
        case ParameterComparison(_, op, parameter):
            return ParameterComparison(column, op, _moved(parameter, column))
        case ParameterInList(_, values):
            moved = (_moved(v, column) if isinstance(v, Parameter) else v for v in values)
            return ParameterInList(column, tuple(moved))
        case Or(parts) | AnyOf(parts):
            return any_of([_restated(inner, column) for inner in parts])
        case And(parts) | AllOf(parts):
            return all_of([_restated(inner, column) for inner in parts])
        case _:
            return ALWAYS


def _moved(parameter: Parameter, column: ColumnSchema) -> Parameter:
    return Parameter(parameter.key, column.type, column.name)
