"""Arguments that both a check and its call use, computed once.

`f(g(x), y)` with a check of `g(x)` becomes the first element of `list_transform([struct_pack(a1 :=
g(x))], __bound -> ..)`, in which `struct_extract(__bound, 'a1')` is `g(x)`. HAVING has no
other way to say so: a field `__bound.a1` would be a column without a group there.
"""

from collections.abc import Sequence

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of
from pykudu_sql.planner.vocabulary.function_names import is_volatile

COMPUTED_ONCE = "pykudu_computed_once"  # in the meta of the nodes around a lambda of parts
ARGUMENTS = "__given"  # what the arguments of a template are within it
_BOUND = "__bound"
_NAMES = frozenset({_BOUND, ARGUMENTS})
_SIMPLE = (
    exp.Column, exp.Identifier, exp.Literal, exp.Placeholder, exp.Null, exp.Boolean, exp.Neg,
    exp.Paren, exp.Cast, exp.DataType, exp.DataTypeParam, exp.HexString, exp.Dot, exp.Var,
    exp.StructExtract,
)  # fmt: skip
_MAX_SIMPLE = 12
_MAX_FOLDED = 1000


@dataclass(frozen=True, slots=True)
class NamedArguments:
    """Arguments of a call in its tree, which may be mentioned again.

    Attributes:
        arguments: constants, columns, and names of what is computed once.
        parts: what is computed once, by name.
        bound: the parameter of the lambda that the parts are fields of.
    """

    arguments: Sequence[exp.Expr]
    parts: dict[str, exp.Expr]
    bound: str


def name_arguments(originals: Sequence[exp.Expr], bound: str = _BOUND) -> NamedArguments:
    """Put names in place of the arguments that are more than a column or a constant.

    These are taken out of their tree, not copied: calls may be nested. Beside arguments that vary
    a call of constants has no name: the engine would make a copy of its value for each row.

    Args:
        originals: arguments, in their tree.
        bound: see NamedArguments; lambdas of one name must not stand within each other.
    """
    parts: dict[str, exp.Expr] = {}
    arguments = list(originals)
    folded = list(map(_is_folded, originals))
    for i, argument in enumerate(originals):
        if not (_is_simple(argument) or (folded[i] and not all(folded))):
            name = f"a{i + 1}"
            parts[name] = argument
            arguments[i] = exp.StructExtract(
                this=exp.to_identifier(bound), expression=exp.Literal.string(name)
            )
            argument.replace(arguments[i])
    return NamedArguments(arguments, parts, bound)


def with_parts(node: exp.Expr, named: NamedArguments) -> exp.Expr:
    """A call with names in place of parts, with these computed once."""
    if not named.parts:
        return node
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(name), expression=part)
        for name, part in named.parts.items()
    ]
    struct = exp.Anonymous(this="struct_pack", expressions=fields)
    inner = exp.Lambda(this=node.copy(), expressions=[exp.to_identifier(named.bound)])
    structs = exp.Array(expressions=[struct])
    transform = exp.Transform(this=structs, expression=inner)
    for around in (struct, structs, transform):
        around.meta[COMPUTED_ONCE] = True
    return exp.Anonymous(this="list_extract", expressions=[transform, exp.Literal.number(1)])


def without_parts(node: exp.Anonymous) -> exp.Expr:
    """The call that `with_parts` took, its parts in their places; another node as it is."""
    transform = node.expressions[0]
    if (
        not isinstance(transform, exp.Transform)
        or transform.expression.expressions[0].name not in _NAMES
    ):
        return node
    bound = transform.expression.expressions[0].name
    struct = transform.this.expressions[0]
    parts = {field.name: field.expression for field in struct.expressions}
    function = transform.expression
    for place in nodes_of(function, exp.StructExtract):
        if place.this.name == bound:
            place.replace(parts[place.expression.name].copy())
    body: exp.Expr = function.this
    return body.copy()


def varies(node: exp.Expr) -> bool:
    """Whether an argument may have another value in another row."""
    if node.find(exp.Column) is not None:
        return True
    others = (
        name
        for name in nodes_of(node, exp.Subquery, exp.Identifier)
        if not (name.parent is not None and _is_part(name.parent))
    )
    return next(others, None) is not None and node.find(exp.Lambda) is None


def _is_folded(argument: exp.Expr) -> bool:
    """Whether the engine works an argument out beforehand, and it may be written several times."""
    nodes = all_nodes(argument)
    return len(nodes) <= _MAX_FOLDED and not varies(argument) and not any(map(is_volatile, nodes))


def _is_part(node: exp.Expr) -> bool:
    return isinstance(node, exp.StructExtract) and node.this.name == _BOUND


def _is_simple(node: exp.Expr) -> bool:
    parts = all_nodes(node)
    return len(parts) <= _MAX_SIMPLE and all(isinstance(part, _SIMPLE) for part in parts)
