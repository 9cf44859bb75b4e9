"""What a condition requires of one table, as a value, and how conditions are joined."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.constant_folding.constant import Constant, Hole, Typing
from pykudu_sql.planner.operands.template import (
    PredicateTemplate,
    all_of,
    any_of,
    loses_parameters,
)
from pykudu_sql.storage.common.predicate.column_predicate import Op

_EXACT_IN_DOUBLE = 1 << 53
COMPARISONS: Mapping[type[exp.Expr], Op] = {
    exp.EQ: Op.EQ,
    exp.LT: Op.LT,
    exp.LTE: Op.LE,
    exp.GT: Op.GT,
    exp.GTE: Op.GE,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """What a boolean expression requires of one table.

    Attributes:
        reference: the table.
        template: holds for every row of it that the expression can hold for.
        fails_null: whether the expression is not true when the table's columns are all NULL.
        is_exact: whether the expression is true for every row that the template holds for, if the
            values of its parameters are compared exactly (`template.fill`).
    """

    reference: TableReference
    template: PredicateTemplate
    fails_null: bool
    is_exact: bool = False


def lose_digits(listed: Sequence[Constant | Hole | None]) -> bool:
    """Whether values that are compared together may change with the type that all are cast to."""
    constants = [each for each in listed if isinstance(each, Constant)]
    if any(each.typing is Typing.HIDDEN for each in constants):
        return True
    values = [each.value for each in constants]
    if not any(isinstance(value, float) for value in values):
        return False
    whole = [value for value in values if isinstance(value, int | Decimal)]
    return not all(-_EXACT_IN_DOUBLE <= number <= _EXACT_IN_DOUBLE for number in whole)


def conjunction(parts: Sequence[Condition], is_whole: bool) -> Condition:
    """What the AND of expressions requires of a table.

    `parts`: their conditions of that table; `is_whole`: whether they say all that these do.
    """
    fails_null = any(part.fails_null for part in parts)
    return _joined(parts, all_of, fails_null, is_whole)


def disjunction(parts: Sequence[Condition], is_whole: bool) -> Condition:
    """What the OR of expressions requires of a table; see `conjunction`."""
    fails_null = all(part.fails_null for part in parts)
    return _joined(parts, any_of, fails_null, is_whole)


def _joined(
    parts: Sequence[Condition],
    join: Callable[[Sequence[PredicateTemplate]], PredicateTemplate],
    fails_null: bool,
    is_whole: bool,
) -> Condition:
    templates = [part.template for part in parts]
    template = join(templates)
    is_exact = (
        is_whole
        and all(part.is_exact for part in parts)
        and not loses_parameters(templates, template)  # whose values could be refused
    )
    return Condition(parts[0].reference, template, fails_null, is_exact)
