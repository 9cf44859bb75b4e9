"""Comparisons of numbers, exact in all of their 38 digits, whatever the other side is.

The engine reads a number of more than 38 digits as a double, and compares two decimals in a type
of 38 digits that may not have all values of both: it fails then, or rounds one. Where numbers are
compared that would need more (columns, literals, parameters, what is computed, queries), both
sides are compared as integers of any length; see `decimal_values`, and `quick_comparisons` for what
spares most rows that. Conditions have been pushed into scans before, where cells are integers.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.bound_query import relation_of
from pykudu_sql.planner.bind.relations import stored_type
from pykudu_sql.planner.constant_folding.constant import Constant, constant
from pykudu_sql.planner.functions.decimal_values import (
    KEY_SCALE,
    MAX_DIGITS,
    Digits,
    digits_of,
    digits_of_number,
    exact_number,
    is_wide,
    sort_key,
)
from pykudu_sql.planner.parse.dialect import display
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.tree_nodes import all_nodes
from pykudu_sql.planner.types.engine_types import (
    cast_in_place,
    decimal_type,
    digits_of_type,
    fit_together,
    named_type,
)
from pykudu_sql.planner.types.expression_types import ExpressionTypes, holds_decimals
from pykudu_sql.planner.types.literal_types import number
from pykudu_sql.planner.types.quick_comparisons import quick_form
from pykudu_sql.storage.common.types.types import DataType, Kind

MEETS = "pykudu_meets"  # in the meta of a parameter: the type of what it is compared with
_SINGLE = DataType(Kind.FLOAT)
_COMPUTED = DataType(Kind.DOUBLE)  # what is computed takes a number that no type has as a double
_WHOLE = DataType(Kind.DECIMAL, precision=MAX_DIGITS)
_NUMBER = "pykudu_number"
_COMPARED = "__compared"
COMPARISONS = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Between, exp.Case),
)
COMPARING = (*COMPARISONS, exp.Nullif)


@dataclass(frozen=True, slots=True)
class _Operand:
    """One side of a comparison.

    Attributes:
        node: of it.
        digits: of its values; None if it is no exact number, or not known to be one.
        constant: the number that it is known to be.
        stored: the type of the column of exact numbers that it is.
    """

    node: exp.Expr
    digits: Digits | None
    constant: Decimal | None
    stored: DataType | None

    @property
    def is_free(self) -> bool:
        """Whether it takes the type of the others."""
        return isinstance(self.node, exp.Placeholder | exp.Null)


def mark_numbers(nodes: Iterable[exp.Expr], context: PlanContext) -> None:
    """Note the constants that number columns are compared with.

    Args:
        nodes: the comparisons of a bound query.
        context: for what constants stand for.
    """
    for node in nodes:
        operands = list(compared(node))
        types = [_stored(each) for each in operands]
        wide = any(each is not None and is_wide(each) for each in types)
        for operand, stored in zip(operands, types, strict=True):
            if stored is None and any(types):
                value = _number(operand, wide, context)
                if value is not None:
                    operand.meta[_NUMBER] = value


def compare_exactly(nodes: Iterable[exp.Expr], types: ExpressionTypes | None) -> bool:
    """Rewrite the comparisons of numbers that the engine would not make exactly; whether one was.

    Args:
        nodes: the comparisons of a tree with the notes of `mark_numbers`, as the engine is to have
            it otherwise; it is changed in place.
        types: of expressions; None where the query has no decimals and no parameter, which may be
            one.
    """
    rewritten = False
    for node in reversed(list(nodes)):  # what a comparison has in it before it is copied
        if not isinstance(node, exp.Nullif):
            rewritten |= _rewrite(node, types)
        elif types is not None:
            rewritten |= _write_out(node, types)
    return rewritten


def noted_numbers(tree: exp.Expr) -> Iterator[str]:
    """What `mark_numbers` noted, each operand with its value."""
    for node in all_nodes(tree):
        note = node.meta_get(_NUMBER)
        if note is not None:
            yield f"{display(node)} is {note}"


def _rewrite(node: exp.Expr, types: ExpressionTypes | None) -> bool:
    nodes = list(compared(node))
    parameters = [each for each in nodes if isinstance(each, exp.Placeholder)]
    if types is not None and not (parameters or any(map(holds_decimals, nodes))):
        types = None
    operands = [_operand(each, types) for each in nodes]
    computed = [e.digits for e in operands if e.digits is not None and e.constant is None]
    is_complete = all(each.digits is not None or each.is_free for each in operands)
    stored = [each.stored for each in operands if each.stored is not None]
    is_beside_floats = any(each.meta.get(MEETS) == _SINGLE for each in parameters)
    for each in parameters if not is_beside_floats else ():
        each.meta[MEETS] = _comparison_type(stored, computed) if is_complete else _COMPUTED
    if not computed or len(operands) < 2 or not is_complete:
        return False
    if parameters:
        computed = [each.with_neighbours() for each in computed]
    constants = [each.constant for each in operands if each.constant is not None]
    constant_digits = [digits_of_number(each) for each in constants]
    if fit_together([*computed, *constant_digits]):
        return False
    quick = None if parameters else quick_form(node, computed, constant_digits)
    for operand in operands:
        _compare_as_key(operand)
    if quick is not None:
        exact = exp.Coalesce(this=quick)
        node.replace(exact)
        exact.append("expressions", node)
    return True


def _operand(node: exp.Expr, types: ExpressionTypes | None) -> _Operand:
    """What is known of an operand; without decimals beside it, of columns and constants only."""
    query, stored = _compared_query(node), _stored(node)
    value: Decimal | None = node.meta_get(_NUMBER)
    if value is None and types is not None:
        value = number(node)
    if query is not None:
        columns = [] if types is None else types.of_columns(query)
        digits = digits_of_type(columns[0][1]) if len(columns) == 1 else None
    elif value is not None:
        digits = digits_of_number(value)
    elif types is not None:
        digits = types.digits(node)
    else:
        digits = None if stored is None else digits_of(stored)
    return _Operand(node, digits, value, stored)


def _comparison_type(stored: Sequence[DataType], computed: Sequence[Digits]) -> DataType:
    """The type that a parameter is compared with."""
    if len(stored) == len(computed):
        widest = max(stored, key=lambda each: (is_wide(each), each.width), default=None)
        return _COMPUTED if widest is None else widest
    together = fit_together([each.with_neighbours() for each in computed])
    scale = max(each.scale for each in computed)
    whole = max(each.whole for each in computed)
    return DataType(Kind.DECIMAL, precision=whole + scale, scale=scale) if together else _WHOLE


def _compare_as_key(operand: _Operand) -> None:
    query = _compared_query(operand.node)
    if isinstance(operand.node, exp.Placeholder):
        operand.node.meta[MEETS] = _WHOLE
        cast_in_place(operand.node, _key_type())
    elif operand.constant is not None:
        key = exp.Literal.string(sort_key(operand.constant))
        operand.node.replace(exp.Cast(this=key, to=_key_type()))
    elif operand.digits is not None and query is not None:
        _compare_query(query, operand.digits)
    elif operand.digits is not None:
        _compare_key(operand.node, operand.digits)


def compared(node: exp.Expr) -> Iterator[exp.Expr]:
    """What a comparison compares."""
    if isinstance(node, exp.In):
        query = node.args.get("query")
        operands = [node.this, *([query] if query is not None else node.expressions)]
    elif isinstance(node, exp.Between):
        operands = [node.this, node.args["low"], node.args["high"]]
    elif isinstance(node, exp.Case):
        operands = (
            [] if node.this is None else [node.this, *(each.this for each in node.args["ifs"])]
        )
    else:
        operands = [node.this, node.expression]
    for each in operands:
        while isinstance(each, exp.Paren):
            each = each.this
        yield each


def _compared_query(operand: exp.Expr) -> exp.Expr | None:
    """The query of an operand under IN, ANY or ALL."""
    if isinstance(operand, exp.Query) and isinstance(operand.parent, exp.In):
        return operand if operand.arg_key == "query" else None
    if isinstance(operand, exp.Any | exp.All) and isinstance(operand.this, exp.Query):
        return operand.this
    return None


def _stored(node: exp.Expr) -> DataType | None:
    """The type of a stored column of exact numbers."""
    if not isinstance(node, exp.Column):
        return None
    column_type = stored_type(relation_of(node), node.name.lower())
    return None if column_type is None or digits_of(column_type) is None else column_type


def _number(node: exp.Expr, wide: bool, context: PlanContext) -> Decimal | None:
    """The number that a constant is; one that has to be computed only beside a wide column."""
    written = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(written, exp.Literal) and not wide:
        return None
    if isinstance(written, exp.Literal) and not written.is_string:
        return number(node)
    value = constant(node, context)
    return exact_number(value.value) if isinstance(value, Constant) else None


def _write_out(node: exp.Nullif, types: ExpressionTypes) -> bool:
    """Write a NULLIF out whose operands the engine would not compare exactly."""
    operands = [node.this, node.expression]
    if not any(map(holds_decimals, operands)):
        return False
    operand_digits = [digits for each in operands if (digits := types.digits(each)) is not None]
    if len(operand_digits) < len(operands) or fit_together(operand_digits):
        return False
    equal = exp.EQ(this=node.this.copy(), expression=node.expression)
    same = exp.If(this=equal, true=exp.null())
    node.replace(exp.paren(exp.Case(ifs=[same], default=node.this), copy=False))
    _rewrite(equal, types)
    return True


def _compare_query(query: exp.Expr, digits: Digits) -> None:
    """Put a query around one of one column that has the keys of its values."""
    column = exp.to_identifier("c0", quoted=True)
    alias = exp.TableAlias(this=exp.to_identifier(_COMPARED, quoted=True), columns=[column])
    place = exp.Column(this=column.copy())
    inner = exp.Subquery(alias=alias)
    keys = exp.Select(expressions=[place], from_=exp.From(this=inner))
    query.replace(exp.Subquery(this=keys))
    inner.set("this", query.unnest() if isinstance(query, exp.Subquery) else query)
    _compare_key(place, digits)


def _compare_key(operand: exp.Expr, digits: Digits) -> None:
    """Put the key of `decimal_values.sort_key` in an operand's place; NULL of NULL."""
    place = exp.null()
    operand.replace(place)
    value = operand
    if digits.whole <= MAX_DIGITS - digits.scale:
        value = exp.cast(exp.paren(operand, copy=False), decimal_type(digits), copy=False)
    text = exp.cast(value, exp.DType.TEXT, copy=False)
    units = exp.Anonymous(
        this="replace", expressions=[text, exp.Literal.string("."), exp.Literal.string("")]
    )
    zeros = exp.Literal.string("0" * (KEY_SCALE - digits.scale))
    scaled = exp.paren(exp.DPipe(this=units, expression=zeros), copy=False)
    place.replace(exp.cast(scaled, _key_type(), copy=False))


def _key_type() -> exp.DataType:
    return named_type("BIGNUM")
