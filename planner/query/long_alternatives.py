"""Long ORs of ANDs in groups, since the engine compares each of their parts with each other one.

DuckDB's rewriter of expressions takes the square of the ANDs below one OR: 1,500 of them take ten
seconds, 3,000 more than a minute, in which nothing interrupts it. It joins ORs that stand in each
other to one, but not what is compared with TRUE, which has the same value, NULL included.
"""

from collections.abc import Sequence

from sqlglot import exp

_MOST_ALTERNATIVES = 64  # that are ANDs, below one OR
_GROUP = 32


def group_alternatives(ors: Sequence[exp.Or]) -> bool:
    """Cut the ORs of a tree into groups where many of their parts are ANDs.

    `ors`: all of the tree, each before those below it. Returns whether there are such.
    """
    is_changed = False
    inner: set[int] = set()
    for top in ors:
        if id(top) in inner:
            continue
        alternatives, connectors = _flattened(top)
        inner.update(connectors)
        if sum(isinstance(part.unnest(), exp.And) for part in alternatives) > _MOST_ALTERNATIVES:
            top.replace(_grouped(alternatives))
            is_changed = True
    return is_changed


def _flattened(top: exp.Or) -> tuple[list[exp.Expr], set[int]]:
    """What is below an OR and the ORs in it, in order, and the ids of those ORs."""
    alternatives: list[exp.Expr] = []
    connectors: set[int] = set()
    waiting: list[exp.Expr] = [top]
    while waiting:
        node = waiting.pop()
        bare = node.unnest()
        if isinstance(bare, exp.Or):
            connectors.add(id(bare))
            waiting += (bare.expression, bare.this)
        else:
            alternatives.append(node)
    return alternatives, connectors


def _grouped(alternatives: Sequence[exp.Expr]) -> exp.Expr:
    groups: list[exp.Expr] = []
    for start in range(0, len(alternatives), _GROUP):
        group = exp.paren(_either(alternatives[start : start + _GROUP]), copy=False)
        groups.append(exp.paren(exp.EQ(this=group, expression=exp.true()), copy=False))
    return exp.paren(_either(groups), copy=False)


def _either(parts: Sequence[exp.Expr]) -> exp.Expr:
    joined, *others = parts
    for part in others:
        joined = exp.Or(this=joined, expression=part)
    return joined
