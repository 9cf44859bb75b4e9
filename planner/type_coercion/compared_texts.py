"""Text literals that a query compares with values of other types, read once while it is planned.

The engine casts such a text to the type of what it meets, where it comes to a row: whether a text
that is no value of the type is an error would depend on the rows. And it rounds: '1.5' would equal
the integer 2. Here a text beside exact numbers becomes the number that it is, and one that cannot
be read as the type that it meets is refused.

Beside a subquery a text that cannot be read is left to the engine: nothing is in an empty result,
so that `'hello' IN (SELECT i FROM t)` has an answer until there is a row.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Context

from sqlglot import exp

from pykudu_sql.planner.constant_folding.moment import constant_value
from pykudu_sql.planner.functions.decimal_values import Digits, digits_of_number
from pykudu_sql.planner.functions.utc_offsets import in_utc
from pykudu_sql.planner.operands.comparison import compare
from pykudu_sql.planner.operands.number_text import exact_number_text
from pykudu_sql.planner.parse.long_list import LongList, long_list, set_long_list
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.type_coercion.exact_decimals import compared
from pykudu_sql.planner.types.engine_types import (
    NULL,
    VARCHAR,
    column_type,
    digits_of_type,
    widest,
)
from pykudu_sql.planner.types.expression_types import ExpressionTypes
from pykudu_sql.planner.types.literal_types import literal_type, number
from pykudu_sql.planner.value_bounds.text_casts import MAX_TEXT_BYTES
from pykudu_sql.storage.common.predicate.column_predicate import ALWAYS, Op
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import DataError, SourceSpan

_TEXT_TYPES = frozenset({VARCHAR, NULL, "JSON"})
_NO_TYPE = '"NULL"'  # in the name of a type that has no value yet, such as that of [NULL]
_SMALL = re.compile(r"-?[0-9]{1,18}")
_EXACTLY = Context(prec=1000)


def read_compared_texts(
    nodes: Iterable[exp.Expr], types: ExpressionTypes, context: PlanContext
) -> bool:
    """Read the text literals that are compared with values of other types; whether a node changed.

    Args:
        nodes: those of `COMPARING` in a bound query's tree, which is changed in place.
        types: of its expressions.
        context: for asking the engine what is no plain number, date or time.

    Raises InvalidValueError, ValueOutOfRangeError: a text is no value of the type that it meets.
    """
    is_changed = False
    for node in nodes:
        operands = list(compared(node))
        texts = [each for each in operands if _is_text(each)]
        others = [each for each in operands if not _is_text(each)]
        type_names = _compared_types(others, types) if texts else ()
        for text in texts if type_names else ():
            try:
                is_changed |= _read(text, type_names, context)
            except DataError:
                if not any(map(_is_query, others)):
                    raise
    return is_changed


def _is_text(node: exp.Expr) -> bool:
    if isinstance(node, exp.Literal):
        return node.is_string
    values = long_list(node)
    return values is not None and values.is_text


def _compared_types(others: Sequence[exp.Expr], types: ExpressionTypes) -> tuple[str, ...]:
    """The types of what a text is compared with; none if one is not known, or is text."""
    names: dict[str, None] = {}
    for each in others:
        if isinstance(each, exp.Placeholder | exp.Null):
            continue
        name = _type(each, types)
        if name is None or name in _TEXT_TYPES or _NO_TYPE in name:
            return ()
        names[name] = None
    return tuple(names)


def _type(node: exp.Expr, types: ExpressionTypes) -> str | None:
    while isinstance(node, exp.Any | exp.All):
        node = node.this
    if isinstance(node, exp.Query):
        columns = types.of_columns(node)
        return columns[0][1] if len(columns) == 1 else None
    written = number(node)
    if written is not None and isinstance(node, exp.Literal):
        return literal_type(node)
    return types.name(node)


def _is_query(operand: exp.Expr) -> bool:
    """Whether what a text is compared with may have no row: a query, under ANY or ALL too."""
    return isinstance(operand, exp.Any | exp.All | exp.Query)


def _read(text: exp.Expr, type_names: Sequence[str], context: PlanContext) -> bool:
    """Put a number in the place of a text, or see that it can be read; whether it was put."""
    exact = [digits for name in type_names if (digits := digits_of_type(name)) is not None]
    values = long_list(text)
    if values is not None:
        for value in values.values:
            _check(str(value), type_names, context, node_span(text.parent or text))
        if len(exact) == len(type_names):
            set_long_list(text, _numbers(values, widest(exact)))
        return False
    written = exact_number_text(text.name) if len(exact) == len(type_names) else None
    if written is None:
        _check(text.name, type_names, context, node_span(text))
        return False
    literal = exp.Literal.number(format(written.copy_abs(), "f"))
    literal.meta.update(text.meta)
    text.replace(exp.Neg(this=literal) if written.is_signed() else literal)
    return True


def _numbers(values: LongList, type_names: Digits) -> LongList:
    """A list without numbers that no value of a type equals; of integers, if all are small."""
    texts: list[str] = []
    for value in values.values:
        written = exact_number_text(str(value))
        if written is None:
            texts.append(str(value))
        elif digits_of_number(written.normalize(_EXACTLY)).is_within(type_names):
            texts.append(format(written.normalize(_EXACTLY), "f"))
    if all(_SMALL.fullmatch(text) for text in texts):
        return replace(values, values=tuple(map(int, texts)))
    return replace(values, values=tuple(texts))


def _check(
    text: str, type_names: Sequence[str], context: PlanContext, span: SourceSpan | None
) -> None:
    """Refuse a text that can be read as none of some types."""
    if len(text) > MAX_TEXT_BYTES or any(
        _is_plainly(text, column_type(name)) for name in type_names
    ):
        return
    refusal: DataError | None = None
    for name in type_names:
        is_moment = name == "TIMESTAMP"
        literal = exp.Literal.string(in_utc(text) if is_moment else text)
        cast = exp.Cast(this=literal, to=exp.DataType.build(name, dialect="duckdb"))
        try:
            constant_value(exp.Is(this=cast, expression=exp.null()), context)
        except DataError as error:
            refusal = refusal or error
        else:
            return
    if refusal is not None:
        refusal.span = span
        raise refusal


def _is_plainly(text: str, type_names: DataType | None) -> bool:
    """Whether a text can be read as a type without the engine."""
    if type_names is None:
        return False
    if type_names.kind in (Kind.DOUBLE, Kind.FLOAT):
        return exact_number_text(text) is not None
    column = ColumnSchema(0, "", type_names, nullable=False)
    return compare(column, Op.EQ, text).predicate != ALWAYS
