"""The pass that numbers parameters as the engine wants them."""

from dataclasses import replace

from sqlglot import exp

from pykudu_sql.planner.functions.parameter_literals import parameter_key
from pykudu_sql.planner.operands.value import ParameterKey, United
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.logical_query import LogicalQuery
from pykudu_sql.planner.type_coercion.exact_decimals import MEETS
from pykudu_sql.storage.common.types.types import DataType


def number_parameters(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    """Rename placeholders to `$1`, `$2`, ...; one that is compared with two types gets two."""
    numbers: dict[tuple[ParameterKey, DataType | United | None], int] = {}
    for node in query.nodes.all(exp.Placeholder):
        use = (parameter_key(node), node.meta.get(MEETS))
        node.set("this", str(numbers.setdefault(use, len(numbers) + 1)))
    if not numbers:
        return query
    return replace(
        query,
        parameters=tuple(key for key, _ in numbers),
        parameter_types=tuple(parameter_type for _, parameter_type in numbers),
    )
