"""The nodes of a tree in one list, level by level, as sqlglot's `walk` gives them one by one.

A list takes a third of the time of its generators, and stays as it is where the tree is changed.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from sqlglot import exp

_Node = TypeVar("_Node", bound=exp.Expr)


class ClassTest(dict[type[exp.Expr], bool]):
    """Whether nodes of a class pass a test of the class alone; each class is tested once."""

    def __init__(self, test: Callable[[type[exp.Expr]], bool]) -> None:
        super().__init__()
        self._test = test

    def __missing__(self, kind: type[exp.Expr]) -> bool:
        passes = self[kind] = self._test(kind)
        return passes


def derived_from(*classes: type[exp.Expr]) -> ClassTest:
    """Whether a class is one of some, or derived from one; for many it is much to look through."""
    return ClassTest(lambda kind: issubclass(kind, classes))


def all_nodes(tree: exp.Expr) -> list[exp.Expr]:
    """The nodes of a tree, itself first."""
    nodes = [tree]
    for node in nodes:  # which grows meanwhile
        for value in node.args.values():
            if isinstance(value, exp.Expr):
                nodes.append(value)
            elif isinstance(value, list):
                nodes += [each for each in value if isinstance(each, exp.Expr)]
    return nodes


def children_of(node: exp.Expr) -> list[exp.Expr]:
    """The nodes right below one, in the order of `iter_expressions`."""
    children: list[exp.Expr] = []
    for value in node.args.values():
        if isinstance(value, exp.Expr):
            children.append(value)
        elif isinstance(value, list):
            children += [each for each in value if isinstance(each, exp.Expr)]
    return children


def walk_once(
    start: exp.Expr, sources_of: Callable[[exp.Expr], Iterable[exp.Expr]]
) -> Iterator[exp.Expr]:
    """A node and what it comes from, each once however many roads lead to it."""
    pending: list[exp.Expr] = [start]
    visited: list[exp.Expr] = []
    while pending:
        node = pending.pop()
        if not any(node is each for each in visited):
            visited.append(node)
            yield node
            pending.extend(sources_of(node))


def with_node(tree: exp.Expr, node: exp.Expr, other: exp.Expr) -> exp.Expr:
    """The tree with another node in the place of one of its nodes, if it is another.

    Changed in place, unless the node is the tree itself: then that is the other node.
    """
    if other is node:
        return tree
    if node is tree:
        return other
    node.replace(other)
    return tree


def nodes_of(tree: exp.Expr, *kinds: type[_Node]) -> list[_Node]:
    """The nodes of one of some classes, or of one derived from these."""
    return [node for node in all_nodes(tree) if isinstance(node, kinds)]
