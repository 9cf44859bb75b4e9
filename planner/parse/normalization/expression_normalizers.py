"""Operators, calls, types and literals that the engine would read otherwise than the parser."""

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from pykudu_sql.planner.parse.lexer import check_binary
from pykudu_sql.planner.parse.normalization.normalizer import Normalizers, SpanOf
from pykudu_sql.planner.parse.source_spans import first_span
from pykudu_sql.planner.vocabulary.data_types import check_type
from pykudu_sql.planner.vocabulary.time_units import check_part
from pykudu_sql.storage.errors import InvalidValueError, NotSupportedError, SyntaxError

_PRINTER = DuckDB().generator()

# Functions that the parser has no node for, whose first argument is a part of a time if there are
# so many: date_sub() of two takes an interval from a time.
_TAKES_PART = {"date_part": 2, "datepart": 2, "date_sub": 3, "datesub": 3}


def _escape(node: exp.Expr, span_of: SpanOf) -> None:
    """What ESCAPE names is one character, or none."""
    text = node.expression
    if isinstance(text, exp.Literal) and len(text.name) > 1:
        raise InvalidValueError(
            f"'{text.name:.60}' cannot escape the characters of a pattern: it is more than one",
            hint="write one, as in x LIKE '10!%' ESCAPE '!'",
            span=span_of(text.name),
            sqlstate="22019",
        )


def _argument_name(node: exp.Expr, _place: SpanOf) -> None:
    """`name => value`: the name as a quoted one."""
    if isinstance(node.this, exp.Var):
        node.set("this", exp.to_identifier(node.this.name, quoted=True))


def _function_name(node: exp.Expr, span_of: SpanOf) -> None:
    """`"upper"('x')` is `upper('x')`; which names there are is checked while binding."""
    if isinstance(node.this, exp.Identifier):
        node.set("this", node.this.name)
    if _TAKES_PART.get(str(node.this).lower()) == len(node.expressions):
        part = node.expressions[0]
        if isinstance(part, exp.Literal) and part.is_string:
            check_part(part.name, span_of(part.name))


def _cast_to_text(_node: exp.Expr, span_of: SpanOf) -> None:
    raise SyntaxError(
        "CAST takes a type behind AS", hint="write CAST(x AS INT)", span=span_of("CAST")
    )


def _binary(node: exp.Expr, span_of: SpanOf) -> None:
    check_binary(f"x'{node.name}'", span_of(node.name))


def _struct(node: exp.Expr, _place: SpanOf) -> None:
    """Values without a name are named as the engine would, before they are exchanged for others."""
    fields = []
    for i, value in enumerate(node.expressions):
        if isinstance(value, exp.PropertyEQ):
            fields.append(value)
            continue
        name = value.name if isinstance(value, exp.Column) else f"_{i}"
        fields.append(exp.PropertyEQ(this=exp.to_identifier(name, quoted=True), expression=value))
    node.set("expressions", fields)


def _map(node: exp.Expr, _place: SpanOf) -> None:
    """`MAP {..}` holds entries; the parser lets anything stand between its braces."""
    braces: exp.Expr = node.this
    while isinstance(braces, exp.Bracket):  # `MAP {k: v}[k]` is read as of `{k: v}[k]`
        braces = braces.this
    for entry in braces.expressions if isinstance(braces, exp.Struct) else ():
        if not isinstance(entry, exp.PropertyEQ):
            raise SyntaxError(
                "an entry of MAP {..} is a key, a colon and a value",
                hint="MAP {'a': 1, 'b': 2}",
                span=first_span(entry),
            )


def _list(node: exp.Expr, _place: SpanOf) -> None:
    """A list comprehension is a whole list; the parser lets elements stand beside it."""
    elements = node.expressions
    if len(elements) > 1 and any(isinstance(each, exp.Comprehension) for each in elements):
        raise SyntaxError(
            "a list comprehension has no other elements beside it",
            hint="list_concat([x FOR x IN l], [1]) joins two lists",
            span=first_span(node),
        )


def _prefix(node: exp.Expr, _place: SpanOf) -> None:
    """`~ -a`, `- ~a`: signs that the engine would read as one operator are kept apart."""
    signs = (exp.Neg, exp.BitwiseNot)
    if isinstance(node.this, signs) and exp.BitwiseNot in (type(node), type(node.this)):
        node.set("this", exp.Paren(this=node.this))


def _subscript(node: exp.Expr, _place: SpanOf) -> None:
    """Let a place in a list be the one that is written.

    sqlglot counts from 0 behind what it takes for a list, and prints by what stands there then:
    what is put in the place of a map or of a text would be read one place further.
    """
    assert isinstance(node, exp.Bracket)
    if "offset" not in node.args:
        node.set("expressions", _PRINTER.bracket_offset_expressions(node))
        node.set("offset", DuckDB.INDEX_OFFSET)


def _operator(_node: exp.Expr, span_of: SpanOf) -> None:
    raise NotSupportedError("OPERATOR(...) is not supported", span=span_of("OPERATOR"))


def _national(node: exp.Expr, _place: SpanOf) -> None:
    node.replace(exp.Literal.string(node.name))


def _type(node: exp.Expr, span_of: SpanOf) -> None:
    assert isinstance(node, exp.DataType)
    check_type(node, span_of)


EXPRESSION_NORMALIZERS: Normalizers = {
    exp.Anonymous: _function_name,
    exp.Array: _list,
    exp.BitwiseNot: _prefix,
    exp.Bracket: _subscript,
    exp.CastToStrType: _cast_to_text,
    exp.DataType: _type,
    exp.Escape: _escape,
    exp.HexString: _binary,
    exp.Kwarg: _argument_name,
    exp.National: _national,
    exp.Neg: _prefix,
    exp.Operator: _operator,
    exp.Struct: _struct,
    exp.ToMap: _map,
}
