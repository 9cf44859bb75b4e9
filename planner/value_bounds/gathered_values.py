"""Aggregates that gather values of many rows into one, which is refused if it gets too large.

The engine counts what it gathers against its memory limit and can be interrupted meanwhile. The
value is looked at when it is whole, before anything else holds it.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sqlglot import exp

from pykudu_sql.planner.cancellation import check_cancelled
from pykudu_sql.planner.value_bounds.text_casts import COMPARING, TypeName, bound_comparison
from pykudu_sql.planner.value_bounds.value_growth import ELEMENT_BYTES
from pykudu_sql.planner.vocabulary.function_table import SOURCE_NAME
from pykudu_sql.storage.common.memory_budget import LEAST_VALUE

_GATHERING = (exp.GroupConcat, exp.ArrayAgg, exp.Anonymous)
CHECKED = (*COMPARING, *_GATHERING)  # the nodes that may get checks here
TOO_LARGE = "__too_large"
GATHERED = "__gathered"  # called before a window gathers, or copies values, or a sort does
SORT = "ORDER BY"  # what it is told of a sort, in place of a function
STATES = "__states"  # called before an aggregate has states that the engine does not count
_AROUND = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls, exp.Window)
# By what an aggregate is to the parser: what measures it, and the name if it has none in the text.
_MEASURES: Mapping[type[exp.Expr], tuple[str, str]] = MappingProxyType(
    {
        exp.GroupConcat: ("strlen", "string_agg"),
        exp.ArrayAgg: ("len", "list"),
        exp.Anonymous: ("cardinality", "histogram"),
    }
)


def bound_exact(tree: exp.Expr, nodes: Sequence[exp.Expr], type_name: TypeName) -> exp.Expr:
    """The tree with checks of what it compares and gathers, for whose types none may look any more.

    Changed in place.

    Args:
        tree: of a query.
        nodes: of it, in the order of a walk.
        type_name: the engine's name of an expression's type, None if it is not known.
    """
    for node in reversed([each for each in nodes if isinstance(each, CHECKED)]):
        check_cancelled()
        bound_comparison(node, type_name)
        if not gathers(node):
            continue
        whole: exp.Expr = node
        while isinstance(whole.parent, _AROUND) and whole.parent.this is whole:
            whole = whole.parent
        checked = _checked(whole, node)
        if whole is tree:
            return checked
        whole.replace(checked)
    return tree


def gathers(node: exp.Expr) -> bool:
    """Whether an expression is an aggregate that gathers."""
    is_histogram = isinstance(node, exp.Anonymous) and node.name.lower() == "histogram"
    return is_histogram or isinstance(node, exp.ArrayAgg | exp.GroupConcat)


def aggregate_name(node: exp.Expr) -> str:
    """The name by which a refusal knows an aggregate that gathers: as the statement has it."""
    written: str | None = node.meta.get(SOURCE_NAME)
    if written:
        return written
    if gathers(node):
        return _MEASURES[type(node)][1]
    if isinstance(node, exp.Func) and not isinstance(node, exp.AnonymousAggFunc):
        return node.sql_name().lower()
    return node.name.lower()


def _checked(whole: exp.Expr, node: exp.Expr) -> exp.Expr:
    """An aggregate with the clauses behind it; the engine computes equal ones once."""
    measure = _MEASURES[type(node)][0]
    size: exp.Expr = exp.Anonymous(this=measure, expressions=[whole.copy()])
    if not isinstance(node, exp.GroupConcat):
        size = size * exp.Literal.number(ELEMENT_BYTES)
    few = exp.LTE(this=size, expression=exp.Literal.number(LEAST_VALUE))
    heading = exp.Literal.string(aggregate_name(node))
    condition = exp.Or(
        this=exp.Coalesce(this=few, expressions=[exp.true()]),
        expression=exp.Anonymous(
            this=TOO_LARGE, expressions=[exp.cast(size, exp.DType.DOUBLE), heading]
        ),
    )
    return exp.Case(ifs=[exp.If(this=condition, true=whole.copy())])
