"""Calls as the rules of `value_growth` see them: a name, and arguments in the order of writing."""

from collections.abc import Sequence

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.value_bounds.computed_once import COMPUTED_ONCE

_AGGREGATING_NAMES = frozenset({"list_aggregate", "list_aggr", "aggregate", "array_aggregate"})
_HASHING = frozenset({"histogram", "mode", "entropy"})
_MAPPING = "list_transform"
_MAPPING_NAMES = frozenset({_MAPPING, "list_apply", "array_transform"})


@dataclass(frozen=True, slots=True)
class Call:
    """A call as its rule sees it.

    Attributes:
        name: to the engine or to the parser, in lower case.
        node: of the call; of a chain of `||` the topmost.
        arguments: nodes within it.
    """

    name: str
    node: exp.Expr
    arguments: Sequence[exp.Expr]


@dataclass(frozen=True, slots=True)
class ListMap:
    """A list made of another one, an element for each or for some.

    Attributes:
        name: of the call.
        node: of it or the list comprehension.
        source: the other list.
        body: what an element becomes.
        parameters: names in the body of the element, and of its place.
    """

    name: str
    node: exp.Expr
    source: exp.Expr
    body: exp.Expr
    parameters: Sequence[exp.Expr]


def call_of(node: exp.Expr) -> Call | None:
    """The call that a node is, None for a node of another kind or within a chain of `||`."""
    if isinstance(node, exp.DPipe):
        if isinstance(node.parent, exp.DPipe):
            return None
        return Call("concat", node, list(node.flatten(unnest=False)))
    if not isinstance(node, exp.Func) or isinstance(node.parent, exp.Table):
        return None
    if COMPUTED_ONCE in node.meta:
        return None
    if isinstance(node, exp.Anonymous):
        return Call(_anonymous_name(node), node, node.expressions)
    name = type(node).sql_names()[0].lower()
    if isinstance(node, exp.Cast):
        return Call("cast_nested" if node.to.args.get("nested") else name, node, [node.this])
    values = [value for child in _children(node) for value in _values(child)]
    if isinstance(node, exp.Array) and any(
        isinstance(value, exp.Query | exp.Comprehension) for value in values
    ):
        return None
    return Call(name, node, values)


def engine_call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a function of the engine."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def _anonymous_name(node: exp.Anonymous) -> str:
    """Of a call; of a list's aggregate that holds an entry for each element, its own."""
    name: str = node.name.lower()
    second = node.expressions[1:2] if name in _AGGREGATING_NAMES else []
    hashing = (each.name.lower() for each in second if each.name.lower() in _HASHING)
    return next((f"list_{each}" for each in hashing), name)


def part_group_keys(tree: exp.Expr) -> bool:
    """Put chains of `||` that are group keys in parentheses where they begin longer ones.

    A chain gets its check as a whole. A key within a longer chain gets its own this way, and stays
    equal to the key; the tree is changed in place. Returns whether it is.
    """
    is_changed = False
    for select in nodes_of(tree, exp.Select):
        if select.args.get("group") is None:
            continue
        # The keys may be given by numbers and aliases of the select list.
        parts = (select.args["group"], *select.expressions)
        chains = [chain for part in parts for chain in nodes_of(part, exp.DPipe)]
        keys = [chain for chain in chains if not isinstance(chain.parent, exp.DPipe)]
        beginnings = [
            chain
            for chain in nodes_of(select, exp.DPipe)
            if isinstance(chain.parent, exp.DPipe) and chain in keys
        ]
        for chain in beginnings:
            parentheses = exp.Paren()
            chain.replace(parentheses)
            parentheses.set("this", chain)
        is_changed |= bool(beginnings)
    return is_changed


def list_map_of(node: exp.Expr) -> ListMap | None:
    """The map over a list that a node is, None for a node of another kind."""
    if isinstance(node, exp.Array) and node.find(exp.Comprehension) in node.expressions:
        (body,) = node.expressions
        return ListMap(_MAPPING, node, body.args["iterator"], body.this, [body.expression])
    if isinstance(node, exp.Transform | exp.ArrayFilter):
        if COMPUTED_ONCE in node.meta:
            return None
        source, function = node.this, node.expression
    elif isinstance(node, exp.Anonymous) and node.name.lower() in _MAPPING_NAMES:
        if len(node.expressions) != 2:
            return None
        source, function = node.expressions
    else:
        return None
    if not isinstance(function, exp.Lambda):
        return None
    if isinstance(node, exp.ArrayFilter):
        return ListMap("list_filter", node, source, function.expressions[0], function.expressions)
    return ListMap(_MAPPING, node, source, function.this, function.expressions)


def _children(node: exp.Expr) -> list[exp.Expr]:
    """The arguments in the order in which they are written."""
    children: list[object] = []
    for key in node.arg_types:
        value = node.args.get(key)
        children.extend(value if isinstance(value, list) else [value])
    return [child for child in children if isinstance(child, exp.Expr)]


def _values(node: exp.Expr) -> list[exp.Expr]:
    """What a child of a call gives it; fields and members of objects have names beside."""
    match node:
        case exp.TableAlias():
            return []
        case exp.JSONKeyValue():
            return [node.this, node.expression]
        case exp.PropertyEQ():
            return [node.expression]
    return [node]
