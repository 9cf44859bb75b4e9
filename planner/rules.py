"""Differences between our SQL and the engine's, each a rule from tree to tree, applied in order.

A rule looks at one node and changes it in place or returns another. What needs no rule: `/` is
true division, `DIV` prints as `//`, NULLs sort as largest, since the dialect is the engine's with
those settings; a unary plus is dropped by the parser.
"""

from collections.abc import Callable

from sqlglot import exp

Rule = Callable[[exp.Expr], exp.Expr]


def empty_in_list(node: exp.Expr) -> exp.Expr:
    """`x IN ()` is false, whatever x is, as in SQLite; the engine has no empty list."""
    if isinstance(node, exp.In) and not any(
        node.args.get(key) for key in ("expressions", "query", "field", "unnest")
    ):
        return exp.false()
    return node


def varchar_cast(node: exp.Expr) -> exp.Expr:
    """`CAST(x AS VARCHAR(n))` cuts to n characters, as Kudu and Impala do."""
    if not isinstance(node, exp.Cast) or not node.to.is_type("nvarchar"):
        return node
    sizes = node.to.expressions
    if not sizes:
        return node
    whole = type(node)(this=node.this, to=exp.DataType.build("text"))
    return exp.Left(this=whole, expression=sizes[0].this)


RULES: tuple[Rule, ...] = (empty_in_list, varchar_cast)


def apply_rules(tree: exp.Expr) -> exp.Expr:
    """The tree after all rules; changed in place."""
    for node in list(tree.walk()):
        changed = node
        for rule in RULES:
            changed = rule(changed)
        if changed is not node and node is tree:
            tree = changed
        elif changed is not node:
            node.replace(changed)
    return tree
