"""The checks of gathered values that a query has."""

from sqlglot import exp

from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.value_bounds.gathered_values import GATHERED


def checked_names(tree: exp.Expr) -> list[str]:
    """The aggregates, windows and sorts that checks stand before, as a refusal names them."""
    calls = nodes_of(tree, exp.Anonymous)
    return [call.expressions[-1].name for call in calls if call.name == GATHERED]
