"""Refusals of types that meet where no value of the one is always one of the other.

Decimals that would need more than 38 digits in one column; and texts beside numbers or truth, or
numbers beside times, which the engine casts when it comes to a row, so that whether there is an
error would depend on the rows.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from operator import itemgetter

from sqlglot import exp

from pykudu_sql.planner.bind.relations import Scope
from pykudu_sql.planner.functions.parameter_literals import list_parameter
from pykudu_sql.planner.operands.parameter_types import incomparable_list
from pykudu_sql.planner.parse.dialect import display
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.type_coercion.exact_decimals import compared
from pykudu_sql.planner.types.engine_types import (
    BOOLEAN,
    DOUBLE,
    FLOAT,
    VARCHAR,
    digits_of_type,
    fit_together,
    is_decimal,
)
from pykudu_sql.planner.types.expression_types import (
    ExpressionTypes,
    have_decimals,
    holds_decimals,
)
from pykudu_sql.storage.common.types.type_names import format_engine_type
from pykudu_sql.storage.errors import NotSupportedError, ProgrammingError

_NO_COMMON_TYPE = "42804"
_NOT_NUMBERS = frozenset(
    {
        *("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIME", "TIMETZ"),
        *("TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE", "INTERVAL", "BLOB", "UUID", VARCHAR),
    }
)
_ONLY_TIMES = _NOT_NUMBERS - {"BLOB", "UUID", VARCHAR}
_TIMES = frozenset({"DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"})
_NO_TEXTS = (  # whatever they are computed from
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Pow, exp.Neg),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.Abs, exp.Ceil, exp.Floor, exp.Round),
    *(exp.Extract, exp.DateTrunc, exp.TimestampTrunc, exp.DateAdd, exp.DateSub, exp.DateDiff),
)


def no_common_type(where: str, names: Sequence[str]) -> ProgrammingError:
    """The error for types of which no type of 38 digits has all values.

    `where`: what they meet in, as it is written; `names`: of the types.
    """
    listed_types = " and ".join(dict.fromkeys(names))
    return ProgrammingError(
        f"{where} of {listed_types}: no type of 38 digits has all their values",
        hint="CAST one to fewer digits, as CAST(x AS DECIMAL(38,20)), or to DOUBLE",
        sqlstate=_NO_COMMON_TYPE,
    )


def check_compared(nodes: Iterable[exp.Expr], types: ExpressionTypes) -> None:
    """Refuse comparisons of texts with numbers or truth, of numbers with times, of lists with one.

    A text that is written as a literal takes the type of what it meets, see `compared_texts`.

    Args:
        nodes: those of `COMPARING` in a bound query's tree.
        types: of its expressions.

    Raises ProgrammingError: there is one; InterfaceError: it is with the list of a parameter.
    """
    comparisons = [(node, list(map(_operand, compared(node)))) for node in nodes]
    types.learn(each for _, operands in comparisons for each in _unknown(operands, types))
    for node, operands in comparisons:
        names = [_compared_type(each, types) for each in operands if not _is_free(each)]
        for one, other in combinations(dict.fromkeys(names), 2):
            if _differ(one, other):
                _check_no_list_parameter(operands, other if _is_nested(one) else one)
                sides = [each for each in operands if _compared_type(each, types) in (one, other)]
                raise _differing("compare values", one, other, node, _text_of(sides, types))


def _text_of(operands: Iterable[exp.Expr], types: ExpressionTypes) -> exp.Expr | None:
    """The column of texts among operands, for which a cast can be written out."""
    texts = (each for each in operands if _compared_type(each, types) == VARCHAR)
    return next((each for each in texts if isinstance(each, exp.Column)), None)


def _check_no_list_parameter(operands: Iterable[exp.Expr], beside: str | None) -> None:
    """Raise InterfaceError if one of the operands is the list of a parameter.

    `beside`: the type that it meets.
    """
    for operand in operands:
        key = list_parameter(operand)
        if key is not None:
            raise incomparable_list(key, format_engine_type(beside or ""))


def _operand(node: exp.Expr) -> exp.Expr:
    """What is compared, without parentheses: of ANY and ALL a query, or a list of values."""
    while isinstance(node, exp.Any | exp.All | exp.Paren):
        node = node.this
    return node


def _compared_type(operand: exp.Expr, types: ExpressionTypes) -> str | None:
    """The type of what is compared; lists under ANY and ALL are the engine's to look into."""
    name, around = types.rule_name(operand), operand.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    return None if isinstance(around, exp.Any | exp.All) and _is_nested(name) else name


def _is_free(operand: exp.Expr) -> bool:
    """Whether it takes the type of what it meets."""
    if isinstance(operand, exp.Literal):
        return operand.is_string
    return isinstance(operand, exp.Placeholder | exp.Null)


def _unknown(operands: Sequence[exp.Expr], types: ExpressionTypes) -> list[exp.Expr]:
    """Operands that may be texts, for no rule tells their types, beside a number or what is none.

    A constant number beside a time is an error of the engine's whatever rows there are.
    """
    names = [(each, types.rule_name(each)) for each in operands if not _is_free(each)]
    unknown = [each for each, name in names if name is None and not isinstance(each, _NO_TEXTS)]
    return unknown if unknown and any(_is_either(name) for _, name in names) else []


def _is_number(name: str | None) -> bool:
    return name in (BOOLEAN, DOUBLE, FLOAT) or digits_of_type(name) is not None


def _is_nested(name: str | None) -> bool:
    return name is not None and name.endswith(("]", ")")) and not is_decimal(name)


def _is_either(name: str | None) -> bool:
    return name in _NOT_NUMBERS or _is_number(name)


def _differ(one: str | None, other: str | None) -> bool:
    """Whether one type is of numbers and the other of what is none, or one of several values."""
    if _is_nested(one) != _is_nested(other):
        return _is_either(one) or _is_either(other)
    return (_is_number(one) and other in _NOT_NUMBERS) or (
        _is_number(other) and one in _NOT_NUMBERS
    )


def _differing(
    what: str,
    one: str | None,
    other: str | None,
    node: exp.Expr | None = None,
    text: exp.Expr | None = None,
) -> ProgrammingError:
    names = [format_engine_type(each or "") for each in (one, other)]
    hint = f"CAST one: CAST(x AS {names[0]}), CAST(x AS {names[1]})"
    if not _TIMES.isdisjoint((one, other)) and (_is_number(one) or _is_number(other)):
        hint = f"a time is written in quotes, '2026-01-31' or '2026-01-31 12:00:00'; else {hint}"
    if text is not None:
        hint = f"write CAST({display(text)} AS {names[one == VARCHAR]})"
    error = ProgrammingError(
        f"cannot {what} of type {names[0]} with type {names[1]}",
        hint=hint,
        sqlstate=_NO_COMMON_TYPE,
    )
    error.span = None if node is None else node_span(node)
    return error


def check_unnested(nodes: Iterable[exp.Explode], types: ExpressionTypes) -> None:
    """Refuse to unnest structs, of which the engine makes a column for each field.

    `nodes`: of a bound query's tree, whose columns are named; `types`: of its expressions. Raises
    NotSupportedError: there is one.
    """
    for node in nodes:
        name = types.name(node.this) or ""
        if name.startswith("STRUCT(") and (node.expressions or not name.endswith("]")):
            error = NotSupportedError(
                "unnest() of a struct, which would make a column of each of its fields, is not "
                "supported",
                hint="write the fields: (s).a, (s).b",
            )
            error.span = node_span(node.this)
            raise error


def check_using(scope: Scope, types: ExpressionTypes) -> None:
    """Refuse to make one column of columns that USING joins, where they have no common type.

    Raises ProgrammingError: it is so.
    """
    for name, relations in sorted(scope.merged, key=itemgetter(0)):
        joined = tuple((each, name) for each in scope.visible() if each in relations)
        names = [types.type_of_projections((each,)) for each in joined]
        for one, other in combinations(dict.fromkeys(names), 2):
            if _differ(one, other):
                raise _differing(f"compare columns '{name}'", one, other)
        if have_decimals(joined):
            _check_merged(name, names)


def _check_merged(name: str, types: Sequence[str | None]) -> None:
    numbers = [each for each in types if each is not None and digits_of_type(each) is not None]
    number_digits = [digits for each in numbers if (digits := digits_of_type(each)) is not None]
    if any(map(is_decimal, numbers)) and not fit_together(number_digits):
        raise no_common_type(f"USING ({name})", numbers)


def check_united(nodes: Iterable[exp.SetOperation], types: ExpressionTypes) -> None:
    """Refuse set operations of numbers with times, BINARY or lists: the first row makes them fail.

    `nodes`: of a bound query's tree; `types`: of its expressions. Columns behind a `*` and those
    whose type no rule tells are left to the engine. Raises ProgrammingError: there is one.
    """
    for node in nodes:
        left, right = _entries(node.left), _entries(node.right)
        if node.args.get("by_name") or len(left) != len(right):
            continue
        for one, other in zip(left, right, strict=True):
            names = (types.rule_name(one), types.rule_name(other))
            if any(map(_is_number, names)) and any(map(_has_no_numbers, names)):
                raise _differing("unite columns of a set operation", *names, other)


def _has_no_numbers(name: str | None) -> bool:
    """Whether no number can be cast to a type."""
    return name in _ONLY_TIMES or name == "BLOB" or _is_nested(name)


def _entries(query: exp.Expr) -> list[exp.Expr]:
    """The SELECT list of a query, of its first part if it has several; none with a `*` in it."""
    while isinstance(query, exp.SetOperation | exp.Subquery):
        query = query.this
    entries = query.expressions if isinstance(query, exp.Select) else []
    return [] if any(each.is_star for each in entries) else [each.unalias() for each in entries]


def check_recursive(cte: exp.CTE, types: ExpressionTypes) -> None:
    """Refuse a recursive query whose rows would be rounded to the type of its first part.

    Raises ProgrammingError: it is so.
    """
    query, name = cte.this, cte.alias
    if not isinstance(query, exp.SetOperation) or not holds_decimals(query):
        return
    if not any(table.name.lower() == name.lower() for table in nodes_of(query.right, exp.Table)):
        return
    first, second = types.of_columns(query.left), types.of_columns(query.right)
    for (_, first_type), (_, step_type) in zip(first, second, strict=False):
        start, step = digits_of_type(first_type), digits_of_type(step_type)
        if start is not None and step is not None and step.scale > start.scale:
            raise ProgrammingError(
                f"a column of recursive query '{name}' begins as {first_type} and goes on as "
                f"{step_type}",
                hint=f"CAST what it begins with, as CAST(x AS {step_type})",
                sqlstate=_NO_COMMON_TYPE,
            )
