"""Key look-ups: statements about one row by its whole key, planned without the engine.

The condition must have an equality with a constant or parameter for each key column, and beside
these only what the push-down says exactly: it is then tested on the cells of the row.
Anything more (a join, an ORDER BY, a condition that only the engine can compute) is left to the
engine, which loses nothing: the same equalities are pushed into its scan.
"""

from collections.abc import Callable

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.bound_query import BoundQuery, table_of
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.operands.template import (
    ParameterComparison,
    PredicateTemplate,
    all_of,
    loses_parameters,
    parameters_in,
)
from pykudu_sql.planner.operands.value import Parameter, ParameterKey, Value
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import KeyLookup, Plan
from pykudu_sql.planner.pushdown.condition import ConditionReader, conjuncts
from pykudu_sql.planner.pushdown.limit_pushdown import row_count
from pykudu_sql.planner.pushdown.table_condition import Condition
from pykudu_sql.storage.common.predicate.column_predicate import Comparison, Op

_PLAIN = frozenset({"expressions", "from_", "where", "limit"})


class GeneralPlan:
    """The plan as a query of a statement about one row by its key, made when it is called first.

    A parameter of another kind than the key calls it.
    """

    def __init__(self, plan: Callable[[PlanContext], Plan], context: PlanContext) -> None:
        """Of the statement that `plan` plans in `context`."""
        self._plan, self._context = plan, context
        self._planned: Plan | None = None

    def __call__(self) -> Plan:
        """The plan."""
        if self._planned is None:
            self._planned = self._plan(self._context.without_key_access())
        return self._planned


def key_lookup(
    bound: BoundQuery, context: PlanContext, general: Callable[[], Plan]
) -> KeyLookup | None:
    """The look-up that a SELECT amounts to, None if it is more than one.

    `bound`: the query; `general`: plans the same as a query.
    """
    select = bound.tree
    if not isinstance(select, exp.Select) or len(bound.references) != 1:
        return None
    if any(value for name, value in select.args.items() if name not in _PLAIN):
        return None
    reference = bound.references[0]
    if not reference.is_plain:
        return None
    source = select.args["from_"].this if select.args.get("from_") else None
    if source is not reference.node or not _keeps_a_row(select.args.get("limit")):
        return None
    outputs = plain_outputs(select, reference)
    row = single_row(select.args.get("where"), bound, reference, context)
    if outputs is None or row is None:
        return None
    named = tuple(zip(bound.names, outputs, strict=True))
    return KeyLookup(
        reference.table,
        row.key,
        named,
        general,
        row.parameters,
        reference.bound,
        not bound.volatile,
        row.condition,
    )


@dataclass(frozen=True, slots=True)
class SingleRow:
    """The one row that a WHERE can hold for.

    Attributes:
        key: in key order.
        condition: what the row must hold besides; None of nothing.
    """

    key: tuple[Value, ...]
    condition: PredicateTemplate | None

    @property
    def parameters(self) -> tuple[ParameterKey, ...]:
        """The keys of its parameters, each once."""
        others = () if self.condition is None else tuple(parameters_in(self.condition))
        return parameters_of((*self.key, *others))


def single_row(
    where: exp.Where | None, bound: BoundQuery, reference: TableReference, context: PlanContext
) -> SingleRow | None:
    """The row that a WHERE fixes by its whole key; None if it does not, or only the engine can."""
    if not context.settings.key_access:
        return None
    reader = ConditionReader(bound, context)
    key_ids = reference.table.schema.key_ids
    values: dict[int, Value] = {}
    others: list[PredicateTemplate] = []
    for part in conjuncts(where.this if where is not None else None):
        conditions = reader.read(part)
        if len(conditions) != 1 or conditions[0].reference is not reference:
            return None
        condition = conditions[0]
        equal = _equal_value(condition) if isinstance(part, exp.EQ) else None
        if equal is not None and equal[0] in key_ids and equal[0] not in values:
            values[equal[0]] = equal[1]
        elif condition.is_exact:
            others.append(condition.template)
        else:
            return None
    if set(values) != set(key_ids):
        return None
    template = all_of(others) if others else None
    if template is not None and loses_parameters(others, template):
        return None
    return SingleRow(tuple(values[i] for i in key_ids), template)


def _equal_value(condition: Condition) -> tuple[int, Value] | None:
    """The id of the column of an equality, and what it equals; None of another condition."""
    match condition:
        case Condition(template=Comparison(column_id, Op.EQ, cell), is_exact=True):
            return column_id, cell
        case Condition(template=ParameterComparison(column, Op.EQ, parameter), is_exact=True):
            return column.id, parameter
    return None


def parameters_of(values: tuple[Value, ...]) -> tuple[ParameterKey, ...]:
    """The keys of the parameters among some values, each once."""
    return tuple(dict.fromkeys(v.key for v in values if isinstance(v, Parameter)))


def _keeps_a_row(limit: exp.Expr | None) -> bool:
    return limit is None or bool(row_count(limit))


def plain_outputs(select: exp.Select, reference: TableReference) -> list[int] | None:
    """The column ids of a SELECT list of plain columns and stars; None of any other.

    `reference`: the only one of the SELECT.
    """
    ids: list[int] = []
    for item in select.expressions:
        inner = item.this if isinstance(item, exp.Alias) else item
        star = inner.this if isinstance(inner, exp.Column) else inner
        if isinstance(star, exp.Star):
            if (star is not inner and item is not inner) or any(star.args.values()):
                return None
            ids.extend(column.id for column in reference.table.schema.visible_columns)
        elif isinstance(inner, exp.Column) and table_of(inner) is reference:
            ids.append(reference.column(inner.name.lower()).id)
        else:
            return None
    return ids
