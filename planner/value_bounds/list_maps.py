"""How large a list gets that is made of another one, an element for each."""

from math import inf

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of
from pykudu_sql.planner.value_bounds.value_calls import ListMap, call_of, list_map_of
from pykudu_sql.planner.value_bounds.value_growth import (
    ELEMENT_BYTES,
    GROWING,
    Amount,
    Growth,
    Measures,
)
from pykudu_sql.planner.value_bounds.value_measures import (
    ComputedMeasures,
    static_measures,
    value_bytes,
)
from pykudu_sql.planner.value_bounds.value_sizes import most_bytes

_SMALL_LIST = 1024 * 1024
_MOST_MENTIONS = 4
# Of a list that many rows share each gets its own, and what those of a vector take nobody counts.
COPIED = Growth(lambda measures: measures.items(1) * measures.element, small=_SMALL_LIST)


@dataclass(frozen=True, slots=True)
class Element:
    """What an element becomes.

    Attributes:
        max_bytes: the most bytes by the text of the statement, else infinity.
        body: as the statement has it.
        parameters: see ListMap.
    """

    max_bytes: float
    body: exp.Expr
    parameters: tuple[exp.Expr, ...]


def element_of(mapped: ListMap) -> Element | None:
    """What an element becomes, None if the new list cannot outgrow the other one."""
    if _copies(mapped):
        return None
    parameters = tuple(parameter.copy() for parameter in mapped.parameters)
    return Element(_max_bytes(mapped.body), mapped.body.copy(), parameters)


def growth_of(element: Element, guarded: exp.Expr) -> Growth:
    """The rule of a map.

    `element`: what an element becomes; `guarded`: the same with checks in it.
    """

    def rule(measures: Measures) -> Amount:
        if element.max_bytes < inf:
            elements = max(element.max_bytes / ELEMENT_BYTES, 1.0)
            return measures.items(1) * (elements * measures.element)
        return measures.mapped(1, _amount(element, guarded), element.parameters)

    return Growth(rule, small=_SMALL_LIST)


def _copies(mapped: ListMap) -> bool:
    """Whether an element becomes no more than a few times itself, or something of fixed size."""
    names = {parameter.name for parameter in mapped.parameters}
    mentions = 0
    for node in all_nodes(mapped.body):
        if isinstance(node, exp.Array | exp.Struct | exp.Column | exp.Subquery):
            return most_bytes(mapped.body) <= ELEMENT_BYTES
        call = call_of(node)
        if list_map_of(node) is not None or (
            call is not None and call.name in GROWING and call.name != "concat"
        ):
            return False
        mentions += isinstance(node, exp.Identifier) and node.name in names
    literals = sum(len(node.name) for node in nodes_of(mapped.body, exp.Literal))
    return mentions <= _MOST_MENTIONS and literals <= ELEMENT_BYTES


def _max_bytes(node: exp.Expr) -> float:
    """The most bytes of a value that may be a list."""
    if isinstance(node, exp.Paren):
        return _max_bytes(node.this)
    mapped = list_map_of(node)
    if mapped is not None:
        items = static_measures([mapped.source]).items(1)
        return items * max(_max_bytes(mapped.body), ELEMENT_BYTES)
    if isinstance(node, exp.Array):
        return sum(max(_max_bytes(part), ELEMENT_BYTES) for part in node.expressions)
    return value_bytes(node)


def _amount(element: Element, guarded: exp.Expr) -> exp.Expr:
    """SQL of the bytes of what an element becomes."""
    call = call_of(element.body)
    growth = None if call is None else GROWING.get(call.name)
    if call is not None and growth is not None and not any(map(_grows, call.arguments)):
        amount: exp.Expr = growth.rule(ComputedMeasures(call.arguments))
        return amount
    length = exp.Anonymous(this="strlen", expressions=[exp.cast(guarded, exp.DType.TEXT)])
    return exp.Coalesce(
        this=exp.cast(length, exp.DType.DOUBLE, copy=False), expressions=[exp.Literal.number(0)]
    )


def _grows(node: exp.Expr) -> bool:
    calls = (call_of(part) for part in all_nodes(node))
    return any(call is not None and call.name in GROWING for call in calls) or any(
        list_map_of(part) is not None for part in all_nodes(node)
    )
