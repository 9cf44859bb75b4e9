"""Differences between our SQL and the engine's, each a rule from tree to tree, applied in order.

A rule looks at one node and changes it in place or returns another. What needs no rule: `/` is
true division, `DIV` prints as `//`, NULLs sort as largest, since the dialect is the engine's with
those settings; a unary plus is dropped by the parser.
"""

from collections.abc import Callable, Sequence
from itertools import takewhile

from sqlglot import exp

from pykudu_sql.planner.functions.aggregate_clauses import (
    BEHIND_AGGREGATES,
    LOGICAL_AGGREGATES,
    plain_logical_aggregate,
    push_aggregate_clause,
)
from pykudu_sql.planner.functions.compatibility_forms import letters_pattern
from pykudu_sql.planner.functions.compatibility_functions import (
    COMPATIBILITY_KINDS,
    replace_compatibility_function,
)
from pykudu_sql.planner.functions.utc_offsets import utc_cast
from pykudu_sql.planner.parse.dialect import display
from pykudu_sql.planner.tree_nodes import all_nodes, derived_from, nodes_of, with_node
from pykudu_sql.storage.errors import NotSupportedError

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
    if not isinstance(node, exp.Cast) or not node.to.is_type(exp.DType.NVARCHAR):
        return node
    sizes = node.to.expressions
    if not sizes:
        return node
    whole = type(node)(this=node.this, to=exp.DataType(this=exp.DType.TEXT))
    return exp.Left(this=whole, expression=sizes[0].this)


def formatted_cast(node: exp.Expr) -> exp.Expr:
    """`CAST(x AS STRING FORMAT 'YYYY-MM-DD')` and its reverse, with the standard's patterns."""
    pattern = node.args.get("format")
    if isinstance(node, exp.Cast) and pattern is not None:
        moment = exp.cast(node.this, exp.DType.TIMESTAMP)
        return exp.Anonymous(this="strftime", expressions=[moment, letters_pattern(pattern)])
    is_text = isinstance(pattern, exp.Literal) and "%" not in pattern.name
    if isinstance(node, exp.StrToDate | exp.StrToTime) and pattern is not None and is_text:
        node.set("format", letters_pattern(pattern))
    return node


def approximate_top(node: exp.Expr) -> exp.Expr:
    """`approx_top_k(x, n)` as the engine's; sqlglot's printer takes it for another database's."""
    if not isinstance(node, exp.ApproxTopK):
        return node
    arguments = [node.this, node.expression]
    return exp.AnonymousAggFunc(this="approx_top_k", expressions=arguments)


def last_of_window(node: exp.Expr) -> exp.Expr:
    """`last(x IGNORE NULLS) OVER w` as `last_value`; the printer lacks words for the shorter."""
    call = node.this
    if isinstance(node, exp.IgnoreNulls | exp.RespectNulls) and isinstance(call, exp.Last):
        node.set("this", exp.LastValue(this=call.this))
    return node


def map_of_lists(node: exp.Expr) -> exp.Expr:
    """`MAP {k: v}` as `map([k], [v])`, where the braces are no struct and a value may be any."""
    if not isinstance(node, exp.ToMap):
        return node
    written: exp.Expr = node.this
    braces = written
    while isinstance(braces, exp.Bracket):  # the parser reads `MAP {k: v}[k]` as of `{k: v}[k]`
        braces = braces.this
    pairs = braces.expressions if isinstance(braces, exp.Struct) else []
    if not pairs or any(isinstance(pair.this, exp.Identifier) for pair in pairs):
        return node
    keys = exp.Array(expressions=[pair.this for pair in pairs])
    values = exp.Array(expressions=[pair.expression for pair in pairs])
    mapped = exp.Map(keys=keys, values=values)
    if written is braces:
        return mapped
    braces.replace(mapped)
    return written


def sha2_of_256_bits(node: exp.Expr) -> exp.Expr:
    """`sha2(x, 256)`, and 0 for the same; the engine has no other of its family.

    Raises NotSupportedError: another number of bits, or one that is no literal.
    """
    bits = node.args.get("length") if isinstance(node, exp.SHA2) else None
    if bits is None:
        return node
    if not isinstance(bits, exp.Literal) or bits.name not in ("0", "256"):
        raise NotSupportedError(
            f"sha2() of {display(bits)} bits is not supported",
            hint="sha2(x, 256) is there, and as shorter ones sha1(x) and md5(x)",
        )
    return exp.SHA2(this=node.this, length=exp.Literal.number(256))


def unreachable_alternative(node: exp.Expr) -> exp.Expr:
    """`SELECT coalesce(1, a) .. GROUP BY b` is 1, as in SQLite and MySQL.

    The engine wants `a` in GROUP BY although it never evaluates it. Any value of the
    group will do then, and keeps the type of the result.
    """
    if not isinstance(node, exp.Coalesce):
        return node
    select = node.find_ancestor(exp.Select, exp.AggFunc, exp.Window, exp.Where, exp.Group, exp.Join)
    if not isinstance(select, exp.Select) or not select.args.get("group"):
        return node
    if _is_group_key(node, select):
        return node
    alternatives = takewhile(
        lambda argument: not _is_constant(argument), (node.this, *node.expressions)
    )
    for alternative in node.expressions[len(list(alternatives)) :]:
        for column in nodes_of(alternative, exp.Column):
            if column.find_ancestor(exp.AggFunc, exp.Select) is select:
                column.replace(exp.AnyValue(this=column.copy()))
    return node


def _is_group_key(node: exp.Expr, select: exp.Select) -> bool:
    """Whether a value stands in an entry of the SELECT list that GROUP BY names or counts."""
    keys = select.args["group"].expressions
    for index, item in enumerate(select.expressions, 1):
        if any(each is node for each in all_nodes(item)):
            named = {str(index), item.alias.lower()} - {""}
            return any(not key.find(exp.Func) and key.name.lower() in named for key in keys)
    return False


def _is_constant(node: exp.Expr) -> bool:
    """Whether a value is written as a number or text, perhaps signed or in parentheses."""
    while isinstance(node, exp.Neg | exp.Paren):
        node = node.this
    return isinstance(node, exp.Literal)


# In their order, with the classes of nodes that each may change.
RULES: Sequence[tuple[Rule, Sequence[type[exp.Expr]]]] = (
    (replace_compatibility_function, COMPATIBILITY_KINDS),
    (push_aggregate_clause, BEHIND_AGGREGATES),
    (plain_logical_aggregate, LOGICAL_AGGREGATES),
    (empty_in_list, (exp.In,)),
    (approximate_top, (exp.ApproxTopK,)),
    (last_of_window, (exp.IgnoreNulls, exp.RespectNulls)),
    (map_of_lists, (exp.ToMap,)),
    (sha2_of_256_bits, (exp.SHA2,)),
    (formatted_cast, (exp.Cast, exp.StrToDate, exp.StrToTime)),
    (varchar_cast, (exp.Cast,)),
    (utc_cast, (exp.Cast,)),
    (unreachable_alternative, (exp.Coalesce,)),
)
IS_RULED = derived_from(*(kind for _, kinds in RULES for kind in kinds))


def apply_rules(tree: exp.Expr) -> exp.Expr:
    """The tree after all rules; changed in place, the innermost nodes first."""
    for node in reversed(all_nodes(tree)):
        if not IS_RULED[type(node)]:
            continue
        changed = node
        for rule, _ in RULES:
            changed = rule(changed)
        tree = with_node(tree, node, changed)
    return tree
