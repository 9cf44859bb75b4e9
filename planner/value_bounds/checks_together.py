"""How many checks of a statement let values through that are in memory together.

Each check is told their number, for the engine computes the calls of a vector of rows one after the
other and keeps what they make. A constant that other checks measure is made once, and what a check
ahead of another one lets through is the same.
"""

from sqlglot import exp

from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of

WITHIN = "__within"
WITHIN_UNFOLDED = "__within_unfolded"  # called for each row, so that the engine folds no constant
COUNTED = (WITHIN, WITHIN_UNFOLDED)
COPY = "pykudu_copy"  # in the meta of a call that gives no more than the checked one within it
_REDUCING = ("list_reduce", "array_reduce", "reduce", "reduce_list")
_REDUCED_VALUES = 6


def count_together(tree: exp.Expr) -> None:
    """Tell each check how many there are: what they let through is in memory together.

    So are copies of that in the other case, trimmed or cut. Of what a list is reduced by, the
    values of several steps are.
    """
    calls = nodes_of(tree, exp.Anonymous)
    checks = [call for call in calls if call.name.lower() in COUNTED]
    counted = [check for check in checks if not (_is_ahead(check) or _is_measured(check))]
    copies = sum(1 for each in all_nodes(tree) if each.meta_get(COPY)) if checks else 0
    reductions = [call for call in calls if call.name.lower() in _REDUCING]
    repeated = {id(part) for call in reductions for part in nodes_of(call, exp.Anonymous)}
    for check in checks:
        count = len(counted) + copies + (_REDUCED_VALUES if id(check) in repeated else 0)
        check.set("expressions", [*check.expressions[:2], exp.Literal.number(count)])


def _is_ahead(check: exp.Anonymous) -> bool:
    """Whether a check lets another one through, which is about the same call."""
    first = check.find_ancestor(exp.If)
    behind = None if first is None else first.args["true"]
    if not isinstance(behind, exp.Case):
        return False
    conditions = nodes_of(behind.args["ifs"][0].this, exp.Anonymous)
    return any(call.name.lower() in COUNTED for call in conditions)


def _is_measured(check: exp.Anonymous) -> bool:
    """Whether a check is of a constant where another check measures it: it is made once."""
    node: exp.Expr = check
    while node.parent is not None:
        around = node.parent
        condition = around.this if isinstance(around, exp.If) else None
        if node is condition and isinstance(condition, exp.Or):
            other = condition.expression
            is_check = isinstance(other, exp.Anonymous) and other.name.lower() in COUNTED
            if is_check and other is not check:
                return True
        node = around
    return False
