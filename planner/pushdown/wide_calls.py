"""Calls that make values of any length, and whose columns they have."""

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import binding_of
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.value_bounds.value_sizes import FIXED_BYTES, is_short_type, most_bytes

# Functions that give one of their arguments, or numbers that they need no room for.
_COPYING_NOTHING = (
    exp.AggFunc, exp.Connector, exp.Predicate, exp.Case, exp.If, exp.Coalesce, exp.Nullif,
    exp.Length,
)  # fmt: skip


def is_wide_call(node: exp.Expr) -> bool:
    """Whether an expression makes a value of texts and the like of any length."""
    if not isinstance(node, exp.Func | exp.DPipe | exp.Bracket) or isinstance(
        node, _COPYING_NOTHING
    ):
        return False
    if isinstance(node, exp.Cast) and is_short_type(node.to):
        return False
    return any(most_bytes(column) > FIXED_BYTES for column in nodes_of(node, exp.Column))


def qualifier(column: exp.Column) -> str:
    """The name of a column's relation, lower case; nothing for a name of the SELECT list."""
    binding = binding_of(column)
    if column.table or binding is None:
        return column.table.lower()
    return binding.relation.alias
