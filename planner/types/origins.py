"""What the values of an expression come from: columns of tables, expressions, elements of lists."""

from collections.abc import Iterator
from typing import cast

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import binding_of, columns_of
from pykudu_sql.planner.bind.relations import Projections, TableReference
from pykudu_sql.planner.tree_nodes import derived_from
from pykudu_sql.storage.common.types.schema import ColumnSchema

_BOUND_BY_NAME = (exp.Column, exp.Identifier)
_WHOLE = (exp.Query, exp.Placeholder, exp.Predicate, exp.Connector, exp.Not)


# Those whose results `alternatives` lists.
ALTERNATING = (
    *(exp.Case, exp.If, exp.Nvl2, exp.Coalesce, exp.Greatest, exp.Least, exp.Array),
    *(exp.Lag, exp.Lead),
)
_ALTERNATES = derived_from(*ALTERNATING)


def alternatives(node: exp.Expr) -> list[exp.Expr]:
    """The operands of which an expression has one's value, or all in a list; nothing of others."""
    if not _ALTERNATES[type(node)]:
        return []
    match node:
        case exp.Case():
            operands = [
                *(each.args.get("true") for each in node.args["ifs"]),
                node.args.get("default"),
            ]
        case exp.If() if isinstance(node.parent, exp.Case):
            return []
        case exp.If() | exp.Nvl2():
            operands = [node.args.get("true"), node.args.get("false")]
        case exp.Coalesce() | exp.Greatest() | exp.Least():
            operands = [node.this, *node.expressions]
        case exp.Array():
            operands = node.expressions
        case exp.Lag() | exp.Lead():
            operands = [node.this, node.args.get("default")]
        case _:
            return []
    return [each for each in operands if each is not None]


def projections_of(node: exp.Expr) -> Projections:
    """What a name stands for: columns of relations, or expressions; nothing where it is not known.

    A column that USING joins stands for all that are joined, another for itself, and one without a
    relation for an entry of the SELECT list, or for what a `*` there shows under the name.
    """
    binding = binding_of(node)
    if binding is not None:
        return binding.origins
    if not isinstance(node, exp.Column) or node.table:
        return ()
    select = node.find_ancestor(exp.Select)
    for item in select.expressions if select is not None else ():
        if isinstance(item, exp.Alias) and item.alias.lower() == node.name.lower():
            return () if node.find_ancestor(exp.Alias) is item else (item,)
    return () if select is None or not select.is_star else _columns_named(select, node.name)


def _columns_named(select: exp.Select, name: str) -> Projections:
    """What the columns of a select that have a name stand for; nothing if one is not known."""
    columns = [each for each in columns_of(select) if each.name.lower() == name.lower()]
    if not all(each.projections for each in columns):
        return ()
    return tuple([projection for each in columns for projection in each.projections])


def origins(projections: Projections) -> list[ColumnSchema | exp.Expr]:
    """The stored columns and the expressions that something shows; nothing if one is not known."""
    sources: list[ColumnSchema | exp.Expr] = []
    for each in projections:
        if isinstance(each, exp.Expr):
            sources.append(each)
            continue
        relation, name = each
        if isinstance(relation, TableReference):
            sources.append(relation.column(name))
            continue
        column = relation.column(name)
        inner = [] if column is None else origins(column.projections)
        if not inner:
            return []
        sources.extend(inner)
    return sources


def field_name(node: exp.Expr) -> str | None:
    """The struct's field that a node reads by its name; None of what reads none."""
    key = node.args.get("expression")
    if isinstance(node, exp.Bracket):
        key = node.expressions[0] if len(node.expressions) == 1 else None
    if isinstance(key, exp.Literal):
        return str(key.this) if key.is_string else None
    return key.name if isinstance(key, exp.Identifier) else None


def listed_by(node: exp.Expr) -> exp.Expr | None:
    """The list whose elements a variable stands for; None of what is no variable."""
    name = node.name.lower()
    scope = node.find_ancestor(exp.Lambda, exp.Comprehension, exp.Select)
    while isinstance(scope, exp.Lambda | exp.Comprehension):
        if isinstance(scope, exp.Comprehension):
            listed, variables = scope.args["iterator"], [scope.expression]
        else:
            listed, variables = _list_of_lambda(scope)
        if listed is not None and any(each.name.lower() == name for each in variables):
            return cast(exp.Expr, listed)
        scope = scope.find_ancestor(exp.Lambda, exp.Comprehension, exp.Select)
    return None


def _list_of_lambda(node: exp.Lambda) -> tuple[exp.Expr | None, list[exp.Expr]]:
    """The list that a function is applied to, and the function's variables for elements of it."""
    call = node.parent
    if not isinstance(call, exp.Func):
        return None, []
    listed = call.expressions[0] if isinstance(call, exp.Anonymous) else call.this
    # A second one is the element's place, but of list_reduce, which has both of one type.
    only = None if call.name.lower().endswith("reduce") else 1
    return listed, node.expressions[:only]


def is_variable(node: exp.Expr) -> bool:
    """Whether an identifier is by its place a variable of a list's function, not a name."""
    parent = node.parent
    if not isinstance(node, exp.Identifier) or isinstance(parent, _BOUND_BY_NAME):
        return False
    names = isinstance(parent, exp.Lambda | exp.Comprehension) and node.arg_key != "this"
    is_label = isinstance(parent, exp.Alias | exp.TableAlias | exp.PropertyEQ | exp.Table)
    return not (names or (is_label and node.arg_key != "expression")) and not (
        isinstance(parent, exp.Dot) and node.arg_key == "expression"
    )


def leaves(node: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of an expression that have a type by themselves, the outermost."""
    for child in node.iter_expressions():
        is_united = alternatives(child) and not isinstance(child, exp.Array)
        if isinstance(child, (exp.Column, *_WHOLE)) or is_united or is_variable(child):
            yield child
        elif not isinstance(child, exp.DataType):
            yield from leaves(child)
