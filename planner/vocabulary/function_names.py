"""The SQL names of a call in a tree, and what they say of it.

sqlglot knows most functions as node classes, which carry their SQL names; the rest arrive as
`Anonymous`.
"""

from sqlglot import exp

from pykudu_sql.planner.vocabulary.function_table import FUNCTIONS

_VOLATILE = frozenset(function.name for function in FUNCTIONS.values() if function.volatile)


def function_names(node: exp.Func) -> frozenset[str]:
    """The SQL names of a call, in lower case."""
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return frozenset({node.name.lower()})
    return frozenset(name.lower() for name in type(node).sql_names())


def is_volatile(node: exp.Expr) -> bool:
    """Whether a call gives another value each time, so that it cannot be folded."""
    return isinstance(node, exp.Func) and not _VOLATILE.isdisjoint(function_names(node))
