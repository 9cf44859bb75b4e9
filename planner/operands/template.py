"""Pushed predicates whose constants may still be parameters.

A template is a storage predicate, complete, or a tree with conditions that wait for parameters.
`bind_predicate` fills them by the rules that make predicates of literals
(`comparison`), so a parameter prunes exactly as the literal in its place would.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.comparison import (
    Approximation,
    EngineRequiredError,
    all_approximations,
    among,
    any_approximation,
    compare,
    conjunction,
    disjunction,
)
from pykudu_sql.planner.operands.time_steps import (
    SteppedColumn,
    among_stepped,
    compare_stepped,
)
from pykudu_sql.planner.operands.value import Parameter, ParameterValues, parameter_value
from pykudu_sql.storage.common.predicate.column_predicate import (
    ALWAYS,
    NEVER,
    Op,
    Predicate,
    leaves,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema


@dataclass(frozen=True, slots=True)
class ParameterComparison:
    """`column op parameter`."""

    column: ColumnSchema
    op: Op
    parameter: Parameter


@dataclass(frozen=True, slots=True)
class ParameterInList:
    """`column IN (...)` with a parameter among the values; the others are Python values."""

    column: ColumnSchema
    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class SteppedComparison:
    """`CAST(column AS DATE) op parameter`, and its kind."""

    operand: SteppedColumn
    op: Op
    parameter: Parameter


@dataclass(frozen=True, slots=True)
class SteppedInList:
    """`CAST(column AS DATE) IN (...)`, and its kind; see `ParameterInList`."""

    operand: SteppedColumn
    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """A conjunction with a waiting part."""

    parts: tuple["PredicateTemplate", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A disjunction with a waiting part."""

    parts: tuple["PredicateTemplate", ...]


Waiting = ParameterComparison | ParameterInList | SteppedComparison | SteppedInList | AllOf | AnyOf
PredicateTemplate = Predicate | Waiting


def all_of(parts: Sequence[PredicateTemplate]) -> PredicateTemplate:
    """The conjunction of templates; complete if all parts are."""
    return _joined(parts, conjunction, (ALWAYS, NEVER), AllOf)


def any_of(parts: Sequence[PredicateTemplate]) -> PredicateTemplate:
    """The disjunction of templates; complete if all parts are."""
    return _joined(parts, disjunction, (NEVER, ALWAYS), AnyOf)


def _joined(
    parts: Sequence[PredicateTemplate],
    join: Callable[[Sequence[Predicate]], Predicate],
    bounds: tuple[Predicate, Predicate],
    kind: type[AllOf] | type[AnyOf],
) -> PredicateTemplate:
    """Templates joined by AND or OR.

    `join`: joins predicates; `bounds`: the one that changes nothing in a join, and the one that
    decides it; `kind`: of the joined template.
    """
    complete, waiting = _separate(parts)
    whole = join(complete)
    neutral, absorbing = bounds
    if not waiting or whole == absorbing:
        return whole
    rest = waiting if whole == neutral else (whole, *waiting)
    return rest[0] if len(rest) == 1 else kind(tuple(rest))


def loses_parameters(parts: Iterable[PredicateTemplate], whole: PredicateTemplate) -> bool:
    """Whether templates have parameters, and what was made of them has none left to check."""
    return not isinstance(whole, Waiting) and any(isinstance(part, Waiting) for part in parts)


def parameters_in(template: PredicateTemplate) -> Iterator[Parameter]:
    """The parameters of a template, left to right."""
    match template:
        case ParameterComparison(_, _, parameter) | SteppedComparison(_, _, parameter):
            yield parameter
        case ParameterInList(_, values) | SteppedInList(_, values):
            yield from (value for value in values if isinstance(value, Parameter))
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from parameters_in(part)
        case _:
            pass


def columns_in(template: PredicateTemplate) -> Iterator[int]:
    """The ids of the columns that a template is about, left to right; they may repeat."""
    match template:
        case ParameterComparison(column) | ParameterInList(column):
            yield column.id
        case SteppedComparison(operand) | SteppedInList(operand):
            yield operand.column.id
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from columns_in(part)
        case _:
            yield from (leaf.column_id for leaf in leaves(template))


def bind_predicate(
    template: PredicateTemplate | None, parameters: ParameterValues
) -> Predicate | None:
    """The storage predicate of a template; None when it keeps every row.

    Args:
        template: of a `Scan`.
        parameters: the caller's values, a sequence for `?` and a mapping for `:name`.

    Raises InterfaceError: a parameter has no value.
    """
    if template is None:
        return None
    bound = fill(template, parameters).predicate
    return None if bound == ALWAYS else bound


def exact_predicate(template: PredicateTemplate, parameters: ParameterValues) -> Predicate:
    """The predicate of a template of an exact condition, to be tested instead of the condition.

    Raises InterfaceError: a parameter has no value; EngineRequiredError: one is of another kind
    than its column, so that the predicate would be wider than the condition.
    """
    predicate, is_exact = fill(template, parameters)
    if not is_exact:
        raise EngineRequiredError
    return predicate


def fill(template: PredicateTemplate, parameters: ParameterValues) -> Approximation:
    """A template with its parameters filled, and whether all these are compared exactly.

    What has no parameter is taken as exact: its condition says whether it is (`Condition`).

    Raises InterfaceError: a parameter has no value.
    """
    match template:
        case ParameterComparison(column, op, parameter):
            return compare(column, op, parameter_value(parameters, parameter.key, column.name))
        case ParameterInList(column, values):
            return among(column, _filled_values(values, parameters, column))
        case SteppedComparison(operand, op, parameter):
            name = operand.column.name
            return compare_stepped(operand, op, parameter_value(parameters, parameter.key, name))
        case SteppedInList(operand, values):
            return among_stepped(operand, _filled_values(values, parameters, operand.column))
        case AllOf(parts):
            return all_approximations([fill(part, parameters) for part in parts])
        case AnyOf(parts):
            return any_approximation([fill(part, parameters) for part in parts])
        case _:
            return Approximation(template, True)


def _filled_values(
    values: Iterable[object], parameters: ParameterValues, column: ColumnSchema
) -> list[object]:
    return [
        parameter_value(parameters, v.key, column.name) if isinstance(v, Parameter) else v
        for v in values
    ]


def _separate(parts: Sequence[PredicateTemplate]) -> tuple[list[Predicate], tuple[Waiting, ...]]:
    complete: list[Predicate] = []
    waiting: list[Waiting] = []
    for part in parts:
        if isinstance(part, Waiting):
            waiting.append(part)
        else:
            complete.append(part)
    return complete, tuple(waiting)
