"""Long ORs of ANDs in groups, since the engine compares each of their parts with each other one.

DuckDB's rewriter of expressions takes the square of the ANDs below one OR: 1,500 of them take ten
seconds, 3,000 more than a minute, in which nothing interrupts it. It joins ORs that stand in each
other to one, but not what is compared with TRUE, which has the same value, NULL included.

It does not look into these for what all alternatives share, `t.a = u.a` of a join. So that is taken
out of them first: `(x AND y) OR (x AND z)` is `x AND (y OR z)` in three values too.
"""

from collections.abc import Sequence

from sqlglot import exp

from pykudu_sql.planner.tree_nodes import all_nodes
from pykudu_sql.planner.vocabulary.function_names import is_volatile

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
            top.replace(_shorter(alternatives))
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


def _shorter(alternatives: Sequence[exp.Expr]) -> exp.Expr:
    """Alternatives in groups, what all of them share in front."""
    conjunctions = [_conjuncts(part) for part in alternatives]
    shared = [each for each in conjunctions[0] if _is_movable(each)]
    for conjuncts in conjunctions[1:]:
        if shared:
            shared = [each for each in shared if each in conjuncts]
    if not shared:
        return _grouped(alternatives)
    rests = [[each for each in part if each not in shared] for part in conjunctions]
    if not all(rests):  # one alternative is what all share
        return _all_of(shared)
    parts = [_all_of(rest) for rest in rests]
    is_long = sum(len(rest) > 1 for rest in rests) > _MOST_ALTERNATIVES
    return _all_of([*shared, _grouped(parts) if is_long else _any_of(parts)])


def _conjuncts(part: exp.Expr) -> list[exp.Expr]:
    """What an AND joins, without parentheses; the part itself if it is none."""
    bare = part.unnest()
    return list(bare.flatten()) if isinstance(bare, exp.And) else [bare]


def _is_movable(condition: exp.Expr) -> bool:
    """Whether one copy of a condition has the value of each: it is not computed for each anew."""
    return not any(
        isinstance(node, exp.Query) or is_volatile(node) for node in all_nodes(condition)
    )


def _grouped(alternatives: Sequence[exp.Expr]) -> exp.Expr:
    groups: list[exp.Expr] = []
    for start in range(0, len(alternatives), _GROUP):
        group = _any_of(alternatives[start : start + _GROUP])
        groups.append(exp.paren(exp.EQ(this=group, expression=exp.true()), copy=False))
    return _any_of(groups)


def _all_of(parts: Sequence[exp.Expr]) -> exp.Expr:
    bracketed = [exp.paren(p, copy=False) if isinstance(p, exp.Or) else p for p in parts]
    return _joined(bracketed, exp.And)


def _any_of(parts: Sequence[exp.Expr]) -> exp.Expr:
    return _joined(parts, exp.Or)


def _joined(parts: Sequence[exp.Expr], connector: type[exp.Connector]) -> exp.Expr:
    """Parts joined from the left, in parentheses."""
    joined, *others = parts
    for part in others:
        joined = connector(this=joined, expression=part)
    return exp.paren(joined, copy=False)
