"""The nodes of a statement's tree, so that passes need not walk it for each question.

An index is of the tree as it was at the first question. What puts nodes of a class into the tree
that was not there, or takes nodes out, lets it look again (`LogicalQuery.with_tree`).
"""

from collections.abc import Collection, Sequence
from typing import TypeVar

from sqlglot import exp

from pykudu_sql.planner.tree_nodes import ClassTest, all_nodes, derived_from

_Node = TypeVar("_Node", bound=exp.Expr)
_DERIVED: dict[tuple[type[exp.Expr], ...], ClassTest] = {}  # of the classes that passes ask for


class NodeIndex:
    """The nodes of a tree; walks it at its first use, and at the first one after a change."""

    def __init__(self, tree: exp.Expr) -> None:
        self._tree = tree
        self._nodes: Sequence[exp.Expr] = ()
        self._by_class: dict[type[exp.Expr], list[exp.Expr]] = {}

    @property
    def nodes(self) -> Sequence[exp.Expr]:
        """All of them, in the order of `walk`."""
        if not self._nodes:
            self._nodes = all_nodes(self._tree)
        return self._nodes

    def renew(self) -> None:
        """Walk the tree again at the next use: it has other nodes now."""
        self._nodes, self._by_class = (), {}

    def has(self, *classes: type[exp.Expr]) -> bool:
        """Whether there is a node of one of some classes, or of a class derived from them."""
        return bool(self._matching(classes))

    def has_any(self, test: ClassTest) -> bool:
        """Whether the class of some node passes a test."""
        return any(test[each] for each in self._classes())

    def all(self, *classes: type[_Node]) -> Sequence[_Node]:
        """The nodes of some classes or of those derived from them, in the order of `walk`."""
        matching = self._matching(classes)
        if len(matching) > 1:
            return [node for node in self.nodes if isinstance(node, classes)]
        return [node for each in matching for node in self._by_class[each]]  # type: ignore[misc]

    def _matching(self, classes: tuple[type[exp.Expr], ...]) -> list[type[exp.Expr]]:
        """The classes of nodes that are one of some classes or derived from one."""
        is_derived = _DERIVED.get(classes)
        if is_derived is None:
            is_derived = _DERIVED[classes] = derived_from(*classes)
        return [each for each in self._classes() if is_derived[each]]

    def _classes(self) -> Collection[type[exp.Expr]]:
        if not self._by_class:
            for node in self.nodes:
                self._by_class.setdefault(type(node), []).append(node)
        return self._by_class
