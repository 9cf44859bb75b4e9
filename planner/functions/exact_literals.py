"""Number literals that the engine would read as doubles, in a form that keeps their digits.

The engine counts a zero before the point as a digit, and reads a literal of more than 38 digits as
a double. One of at most 38 digits without that zero gets its type; a longer one that is cast to a
DECIMAL becomes a text there, which the engine rounds once, half up. A number with an exponent is a
double, as it is written.
"""

from sqlglot import exp

from pykudu_sql.planner.functions.decimal_values import MAX_DIGITS
from pykudu_sql.planner.tree_nodes import all_nodes, with_node


def type_literals(tree: exp.Expr) -> exp.Expr:
    """The tree with its literals as exact as their digits; changed in place.

    `tree`: of a query, or a value alone.
    """
    nodes = all_nodes(tree)
    for node in nodes:
        if isinstance(node, exp.Cast) and node.to.is_type(exp.DType.DECIMAL):
            _write_long_number(node)
    for node in nodes:
        if isinstance(node, exp.Literal):
            tree = with_node(tree, node, _typed(node))
    return tree


def is_written_long(node: exp.Literal) -> bool:
    """Whether a number is written with more digits than a DECIMAL has; no other changes."""
    return not node.is_string and len(str(node.this)) > MAX_DIGITS


def is_long(node: exp.Expr) -> bool:
    """Whether a node is a number with a point that the engine would read as a double."""
    return isinstance(node, exp.Literal) and (_digits(node) or 0) > MAX_DIGITS


def _write_long_number(cast: exp.Cast) -> None:
    """Make a text of a number that is cast as it is written, if it is too long for the engine."""
    node, sign = cast.this, ""
    while isinstance(node, exp.Paren | exp.Neg):
        if isinstance(node, exp.Neg):
            sign = "" if sign else "-"
        node = node.this
    if is_long(node):
        cast.set("this", exp.Literal.string(f"{sign}{node.this}"))


def _typed(node: exp.Literal) -> exp.Expr:
    """A literal with its type, if the engine counts a zero before the point as a digit too much."""
    digits = _digits(node)
    whole, _, fraction = str(node.this).partition(".")
    if digits is None or not digits <= MAX_DIGITS < len(whole) + len(fraction):
        return node
    return exp.cast(exp.Literal.string(str(node.this)), f"DECIMAL({digits}, {len(fraction)})")


def _digits(node: exp.Literal) -> int | None:
    """The digits of a number with a point; None of any other literal."""
    whole, point, fraction = str(node.this).partition(".")
    if node.is_string or not point or not (whole + fraction).isdigit():
        return None
    return max(1, len(whole.lstrip("0")) + len(fraction))
