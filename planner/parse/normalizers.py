"""Units, types and options of a parsed statement, normalized to the words of closed lists.

sqlglot keeps such words as texts of its tree, quoted ones and even string literals too, and prints
them as they are. Here each becomes one of a list, or the statement is refused with the position.
What is printed is checked with the same lists again (`node_allowlist`).
"""

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.vocabulary.data_types import check_type
from pykudu_sql.planner.vocabulary.interval_text import interval_text
from pykudu_sql.planner.vocabulary.time_units import check_part, interval_unit
from pykudu_sql.storage.errors import (
    DataError,
    InvalidValueError,
    NotSupportedError,
    SourceSpan,
    SyntaxError,
)

Place = Callable[[str], SourceSpan | None]
Kinds = Sequence[type[exp.Expr]]

# What has in its argument `unit` a unit of intervals, and what a part of a time.
OF_UNITS: Kinds = (
    exp.Interval, exp.DateAdd, exp.DateSub, exp.DatetimeAdd, exp.DatetimeSub, exp.TimeAdd,
    exp.TimeSub, exp.TimestampAdd, exp.TimestampSub, exp.TsOrDsAdd,
)  # fmt: skip
OF_PARTS: Kinds = (
    exp.DateDiff, exp.DatetimeDiff, exp.TimeDiff, exp.TimestampDiff, exp.TsOrDsDiff, exp.DateTrunc,
    exp.DatetimeTrunc, exp.TimestampTrunc, exp.TimeTrunc, exp.LastDay,
)  # fmt: skip
# Functions that the parser has no node for, whose first argument is a part of a time if there are
# so many: date_sub() of two takes an interval from a time.
_TAKES_PART = {"date_part": 2, "datepart": 2, "date_sub": 3, "datesub": 3}


def _interval_unit(node: exp.Expr, place: Place) -> None:
    unit = node.args.get("unit")
    if isinstance(unit, exp.Var) and isinstance(node, exp.Interval) and node.this is None:
        raise NotSupportedError(
            "the type INTERVAL of one unit is not supported",
            hint="write x::INTERVAL, and date_trunc() for times",
            span=place(unit.name),
        )
    if isinstance(unit, exp.IntervalSpan):
        raise NotSupportedError(
            "an interval from one unit to another is not supported",
            hint="write INTERVAL '1 day 2 hours'",
            span=place("TO"),
        )
    if isinstance(unit, exp.Var):
        unit.set("this", interval_unit(unit.name, place(unit.name)))
        count = node.this
        if isinstance(node, exp.Interval) and isinstance(count, exp.Literal) and "." in count.name:
            # The engine cuts the fraction of a number that stands apart from its unit.
            node.set("this", exp.Literal.string(f"{count.name} {unit.name.lower()}"))
            node.set("unit", None)
    elif unit is not None:
        raise _no_word("unit of time", place)


def _cast(node: exp.Expr, place: Place) -> None:
    text = node.this
    is_text = isinstance(text, exp.Literal) and text.is_string
    if is_text and node.args["to"].this is exp.DType.INTERVAL:
        node.set("this", exp.Literal.string(interval_text(text.name, place(text.name))))


def _escape(node: exp.Expr, place: Place) -> None:
    """What ESCAPE names is one character, or none."""
    text = node.expression
    if isinstance(text, exp.Literal) and len(text.name) > 1:
        raise InvalidValueError(
            f"'{text.name:.60}' cannot escape the characters of a pattern: it is more than one",
            hint="write one, as in x LIKE '10!%' ESCAPE '!'",
            span=place(text.name),
            sqlstate="22019",
        )


def _part(node: exp.Expr, place: Place) -> None:
    key = "this" if isinstance(node, exp.Extract) else "unit"
    part = node.args.get(key)
    if isinstance(part, exp.Var) or (isinstance(part, exp.Literal) and part.is_string):
        check_part(part.name, place(part.name))
    elif part is not None and isinstance(node, exp.Extract):
        raise _no_word("part of a time", place)


def _no_word(what: str, place: Place) -> NotSupportedError:
    return NotSupportedError(
        f"a {what} must be a word", hint="such as day or month", span=place("(")
    )


def _bucket_origin(node: exp.Expr, _place: Place) -> None:
    """The third argument of time_bucket() is a time; a literal one arrives as a unit."""
    origin = node.args.get("unit")
    if isinstance(origin, exp.Var):
        node.set("unit", exp.cast(exp.Literal.string(origin.name), "timestamp"))


def _argument_name(node: exp.Expr, _place: Place) -> None:
    """`name => value`: the name as a quoted one."""
    if isinstance(node.this, exp.Var):
        node.set("this", exp.to_identifier(node.this.name, quoted=True))


def _function_name(node: exp.Expr, place: Place) -> None:
    """`"upper"('x')` is `upper('x')`; which names there are is checked while binding."""
    if isinstance(node.this, exp.Identifier):
        node.set("this", node.this.name)
    if _TAKES_PART.get(str(node.this).lower()) == len(node.expressions):
        part = node.expressions[0]
        if isinstance(part, exp.Literal) and part.is_string:
            check_part(part.name, place(part.name))


def _cast_to_text(_node: exp.Expr, place: Place) -> None:
    raise SyntaxError(
        "CAST takes a type behind AS", hint="write CAST(x AS INT)", span=place("CAST")
    )


def _limit(node: exp.Expr, place: Place) -> None:
    """`LIMIT ALL` is no limit; what the engine does not offer would be printed without it."""
    options = node.args.get("limit_options")
    if options is not None and options.args.get("with_ties"):
        raise NotSupportedError("WITH TIES is not supported", span=place("TIES"))
    if options is not None and options.args.get("percent") and isinstance(node, exp.Fetch):
        raise NotSupportedError(
            "FETCH FIRST .. PERCENT is not supported",
            hint="write LIMIT 10 PERCENT",
            span=place("PERCENT"),
        )
    if options is not None and isinstance(node, exp.Limit):
        options.set("rows", None)  # a word that says nothing, and that the engine lacks
    count = node.expression
    if isinstance(count, exp.Var) and count.name.upper() == "ALL":
        node.pop()
    if isinstance(count, exp.Neg) and isinstance(count.this, exp.Literal):
        reason = f"LIMIT -{count.this.name} is negative"
        raise DataError(reason, span=node_span(count.this), sqlstate="2201W")


def _offset(node: exp.Expr, _place: Place) -> None:
    count = node.expression
    if isinstance(count, exp.Neg) and isinstance(count.this, exp.Literal):
        reason = f"OFFSET -{count.this.name} is negative"
        raise DataError(reason, span=node_span(count.this), sqlstate="2201X")


def _prefix(node: exp.Expr, _place: Place) -> None:
    """`~ -a`, `- ~a`: signs that the engine would read as one operator are kept apart."""
    signs = (exp.Neg, exp.BitwiseNot)
    if isinstance(node.this, signs) and exp.BitwiseNot in (type(node), type(node.this)):
        node.set("this", exp.Paren(this=node.this))


def _operator(_node: exp.Expr, place: Place) -> None:
    raise NotSupportedError("OPERATOR(...) is not supported", span=place("OPERATOR"))


def _national(node: exp.Expr, _place: Place) -> None:
    node.replace(exp.Literal.string(node.name))


def _type(node: exp.Expr, place: Place) -> None:
    assert isinstance(node, exp.DataType)
    check_type(node, place)


# Check and spell, in place, the words that a node holds beside its children. Each takes the node
# and finds with `place` the position of a word in the statement. They raise InvalidValueError for
# a unit that there is not, ProgrammingError for a type, NotSupportedError for what is not offered.
def _table(node: exp.Expr, place: Place) -> None:
    if isinstance(node.this, exp.Placeholder):
        raise SyntaxError(
            "a parameter cannot be a table",
            hint="write the table's name into the statement: parameters are values",
            span=place("?"),
        )


NORMALIZERS: Mapping[type[exp.Expr], Callable[[exp.Expr, Place], None]] = {
    exp.Anonymous: _function_name,
    exp.BitwiseNot: _prefix,
    exp.Cast: _cast,
    exp.CastToStrType: _cast_to_text,
    exp.DataType: _type,
    exp.DateBin: _bucket_origin,
    exp.Escape: _escape,
    exp.Kwarg: _argument_name,
    exp.Fetch: _limit,
    exp.Limit: _limit,
    exp.Offset: _offset,
    exp.National: _national,
    exp.Neg: _prefix,
    exp.Operator: _operator,
    exp.Table: _table,
    **dict.fromkeys(OF_UNITS, _interval_unit),
    **dict.fromkeys((exp.Extract, *OF_PARTS), _part),
}
