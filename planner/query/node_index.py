"""The nodes of a statement's tree, so that passes need not walk it for each question.

An index is of the tree as it was at the first question. What puts nodes of a class into the tree
that was not there, or takes nodes out, makes a new one (`LogicalQuery.with_tree`).
"""

from functools import cached_property
from typing import TypeVar

from sqlglot import exp

_Node = TypeVar("_Node", bound=exp.Expr)


class NodeIndex:
    """The nodes of a tree; walks it once, at its first use."""

    def __init__(self, tree: exp.Expr) -> None:
        self._tree = tree

    @cached_property
    def nodes(self) -> tuple[exp.Expr, ...]:
        """All of them, in the order of `walk`."""
        return tuple(self._tree.walk())

    @cached_property
    def classes(self) -> frozenset[type[exp.Expr]]:
        """The classes of which there are nodes."""
        return frozenset(map(type, self.nodes))

    def has(self, *classes: type[exp.Expr]) -> bool:
        """Whether there is a node of one of some classes, or of a class derived from them."""
        return any(issubclass(each, classes) for each in self.classes)

    def all(self, kind: type[_Node]) -> list[_Node]:
        """The nodes of a class or of one derived from it, in the order of `walk`."""
        return [node for node in self.nodes if isinstance(node, kind)]
