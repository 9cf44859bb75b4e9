"""The functions a query may call: pure ones of the engine, by name; nothing else gets through.

The engine has functions that read files, show its settings or run text as SQL. They are kept out by
this list, not by a list of what is known to be dangerous; the engine's own lockdown is the second
line. The names are those of `function_table`, and what stands for some of them inside of the
planner, of `compatibility_functions`. sqlglot knows most functions as node classes, which carry the
SQL names they stand for; the rest arrive as `Anonymous`.
"""

from sqlglot import exp

from pykudu_sql.planner.functions.compatibility_functions import COMPATIBILITY_FUNCTIONS
from pykudu_sql.planner.parse.dialect import node_position
from pykudu_sql.planner.parse.written_calls import undefined_function
from pykudu_sql.planner.vocabulary.function_table import FUNCTIONS, NODE_NAMES, FunctionKind

ALLOWED = frozenset(FUNCTIONS) | COMPATIBILITY_FUNCTIONS | NODE_NAMES
AGGREGATES = frozenset(
    function.name for function in FUNCTIONS.values() if function.kind is FunctionKind.AGGREGATE
)
VOLATILE = frozenset(function.name for function in FUNCTIONS.values() if function.volatile)
TABLE_FUNCTIONS = frozenset({"generate_series", "range", "unnest"})


def function_names(node: exp.Func) -> frozenset[str]:
    """The SQL names a call may stand for, in lower case."""
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return frozenset({node.name.lower()})
    return frozenset(name.lower() for name in type(node).sql_names())


def is_allowed(node: exp.Func) -> bool:
    """Whether a query may call this."""
    if isinstance(node, exp.Connector | exp.Cast | exp.Case | exp.CombinedAggFunc):
        return True
    return not ALLOWED.isdisjoint(function_names(node))


def check_function(node: exp.Func, text: str) -> None:
    """Refuse a call of a function that is not on the list.

    Raises:
        ProgrammingError: with the place, and a near name if there is one.
    """
    if is_allowed(node):
        return
    raise undefined_function(_written_name(node, text), node_position(node, text))


def _written_name(node: exp.Func, text: str) -> str:
    """The name of a call as the statement has it, or one of those it may stand for."""
    if "start" in node.meta and text:
        return text[node.meta["start"] : node.meta["end"] + 1].lower()
    return min(function_names(node), key=len)


def gathers_rows(node: exp.Expr) -> bool:
    """Whether an expression has an aggregate over the rows of the query that it belongs to."""
    return any(
        not AGGREGATES.isdisjoint(function_names(call))
        and call.find_ancestor(exp.Window, exp.Query) is None
        for call in node.find_all(exp.Func)
    )


def is_volatile(node: exp.Expr) -> bool:
    """Whether a call gives another value each time, so that it cannot be folded."""
    return isinstance(node, exp.Func) and not VOLATILE.isdisjoint(function_names(node))
