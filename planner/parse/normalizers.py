"""Units, types and options of a parsed statement, normalized to the words of closed lists.

sqlglot keeps such words as texts of its tree, quoted ones and even string literals too, and prints
them as they are. Here each becomes one of a list, or the statement is refused with the position.
What is printed is checked with the same lists again (`node_allowlist`).
"""

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from pykudu_sql.planner.parse.lexer import check_binary
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of
from pykudu_sql.planner.vocabulary.catalog_name import check_catalog
from pykudu_sql.planner.vocabulary.data_types import check_type
from pykudu_sql.planner.vocabulary.interval_text import interval_text
from pykudu_sql.planner.vocabulary.time_units import check_part, interval_unit
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.errors import (
    DataError,
    InvalidValueError,
    NotSupportedError,
    ProgrammingError,
    SourceSpan,
    SyntaxError,
)

SpanOf = Callable[[str], SourceSpan | None]
Kinds = Sequence[type[exp.Expr]]
_PRINTER = DuckDB().generator()

# What has in its argument `unit` a unit of intervals, and what a part of a time.
OF_UNITS: Kinds = (
    exp.Interval, exp.DateAdd, exp.DateSub, exp.DatetimeAdd, exp.DatetimeSub, exp.TimeAdd,
    exp.TimeSub, exp.TimestampAdd, exp.TimestampSub, exp.TsOrDsAdd,
)  # fmt: skip
OF_PARTS: Kinds = (
    exp.DateDiff, exp.DatetimeDiff, exp.TimeDiff, exp.TimestampDiff, exp.TsOrDsDiff, exp.DateTrunc,
    exp.DatetimeTrunc, exp.TimestampTrunc, exp.TimeTrunc, exp.LastDay,
)  # fmt: skip
_PARTS = ("partition_by", "order", "spec")  # of a window
_MODIFIERS = {"order": "ORDER BY", "limit": "LIMIT", "offset": "OFFSET"}
# Functions that the parser has no node for, whose first argument is a part of a time if there are
# so many: date_sub() of two takes an interval from a time.
_TAKES_PART = {"date_part": 2, "datepart": 2, "date_sub": 3, "datesub": 3}


def _interval_unit(node: exp.Expr, span_of: SpanOf) -> None:
    unit = node.args.get("unit")
    if isinstance(unit, exp.Var) and isinstance(node, exp.Interval) and node.this is None:
        raise NotSupportedError(
            "the type INTERVAL of one unit is not supported",
            hint="write x::INTERVAL, and date_trunc() for times",
            span=span_of(unit.name),
        )
    if isinstance(unit, exp.IntervalSpan):
        raise NotSupportedError(
            "an interval from one unit to another is not supported",
            hint="write INTERVAL '1 day 2 hours'",
            span=span_of("TO"),
        )
    if isinstance(unit, exp.Var):
        unit.set("this", interval_unit(unit.name, span_of(unit.name)))
        count = node.this
        if isinstance(node, exp.Interval) and isinstance(count, exp.Literal) and "." in count.name:
            # The engine cuts the fraction of a number that stands apart from its unit.
            node.set("this", exp.Literal.string(f"{count.name} {unit.name.lower()}"))
            node.set("unit", None)
    elif unit is not None:
        raise _no_word("unit of time", span_of)


def _cast(node: exp.Expr, span_of: SpanOf) -> None:
    text = node.this
    is_text = isinstance(text, exp.Literal) and text.is_string
    if is_text and node.args["to"].this is exp.DType.INTERVAL:
        node.set("this", exp.Literal.string(interval_text(text.name, span_of(text.name))))


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


def _part(node: exp.Expr, span_of: SpanOf) -> None:
    key = "this" if isinstance(node, exp.Extract) else "unit"
    part = node.args.get(key)
    if isinstance(part, exp.Var) or (isinstance(part, exp.Literal) and part.is_string):
        check_part(part.name, span_of(part.name))
    elif part is not None and isinstance(node, exp.Extract):
        raise _no_word("part of a time", span_of)
    elif isinstance(node, exp.TimestampDiff) and not isinstance(part, exp.Column | None):
        # Its unit is printed as a text, which an expression is none of.
        raise InvalidValueError(
            "argument 3 of timestamp_diff() is no unit of time",
            hint="it must be a word, such as day or month",
            span=span_of("timestamp_diff"),
            sqlstate="22023",
        )


def _no_word(what: str, span_of: SpanOf) -> NotSupportedError:
    return NotSupportedError(
        f"a {what} must be a word", hint="such as day or month", span=span_of("(")
    )


def _bucket_origin(node: exp.Expr, _place: SpanOf) -> None:
    """The third argument of time_bucket() is a time; a literal one arrives as a unit."""
    origin = node.args.get("unit")
    if isinstance(origin, exp.Var):
        node.set("unit", exp.cast(exp.Literal.string(origin.name), exp.DType.TIMESTAMP))


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


def _limit(node: exp.Expr, span_of: SpanOf) -> None:
    """`LIMIT ALL` is no limit; what the engine does not offer would be printed without it."""
    options = node.args.get("limit_options")
    if options is not None and options.args.get("with_ties"):
        raise NotSupportedError(
            "WITH TIES is not supported",
            hint="write QUALIFY rank() OVER (ORDER BY ..) <= n",
            span=span_of("TIES"),
        )
    if options is not None and options.args.get("percent") and isinstance(node, exp.Fetch):
        raise NotSupportedError(
            "FETCH FIRST .. PERCENT is not supported",
            hint="write LIMIT 10 PERCENT",
            span=span_of("PERCENT"),
        )
    if options is not None and isinstance(node, exp.Limit):
        options.set("rows", None)  # a word that says nothing, and that the engine lacks
    count = node.expression
    if isinstance(count, exp.Var) and count.name.upper() == "ALL":
        node.pop()
    if isinstance(count, exp.Neg) and isinstance(count.this, exp.Literal):
        reason = f"LIMIT -{count.this.name} is negative"
        hint = "leave LIMIT out, or write LIMIT ALL, for all rows"
        raise DataError(reason, hint=hint, span=node_span(count), sqlstate="2201W")
    _check_no_columns(count, "LIMIT")


def _offset(node: exp.Expr, _place: SpanOf) -> None:
    count = node.expression
    if isinstance(count, exp.Neg) and isinstance(count.this, exp.Literal):
        reason = f"OFFSET -{count.this.name} is negative"
        raise DataError(reason, span=node_span(count), sqlstate="2201X")
    _check_no_columns(count, "OFFSET")


def _check_no_columns(count: exp.Expr | None, clause: str) -> None:
    """See that a number of rows does not depend on a row, other than those of a query in it."""
    if count is None:
        return
    for node in count.walk(prune=lambda node: isinstance(node, exp.Query)):
        if isinstance(node, exp.Column):
            raise ProgrammingError(
                f"{clause} takes a number and no column, such as {node.name}",
                span=node_span(node),
                sqlstate="42P10",
            )


def _select(node: exp.Expr, _place: SpanOf) -> None:
    """Write the windows that ORDER BY names into it: the engine knows them in the list alone."""
    order, windows = node.args.get("order"), node.args.get("windows")
    if order is None or not windows:
        return
    for call in nodes_of(order, exp.Window):
        if call.find_ancestor(exp.Select) is node:
            _write_window(call, {window.name.lower(): window for window in windows})


def _write_window(call: exp.Expr, windows: dict[str, exp.Expr]) -> None:
    """Put the parts of the window that a call names into it, and of the one that this names."""
    name = call.args.get("alias")
    window = windows.pop(name.name.lower(), None) if name is not None else None
    if window is None or any(call.args.get(key) and window.args.get(key) for key in _PARTS):
        return  # the engine says what is wrong
    written = window.copy()
    for key in (*_PARTS, "alias"):
        if key == "alias" or written.args.get(key):
            call.set(key, written.args.get(key))
    _write_window(call, windows)


def _with(node: exp.Expr, _place: SpanOf) -> None:
    names: set[str] = set()
    for query in node.expressions:
        if query.alias.lower() in names:
            raise ProgrammingError(
                f"two queries of WITH have the name '{query.alias}'",
                hint="give one of them another name",
                span=node_span(query.args["alias"]),
                sqlstate="42712",
            )
        names.add(query.alias.lower())
        if node.args.get("recursive"):
            _part_recursive(query)


def _part_recursive(cte: exp.Expr) -> None:
    """Put a set operation with ORDER BY or LIMIT that does not read itself into a subquery.

    The engine would take it for a recursive query, whose rows depend on their order then.
    """
    query, name = cte.this, cte.alias
    modifier = next((key for key in _MODIFIERS if query.args.get(key) is not None), None)
    if modifier is None or not isinstance(query, exp.SetOperation):
        return
    if any(table.name.lower() == name.lower() for table in nodes_of(query, exp.Table)):
        raise NotSupportedError(
            f"{_MODIFIERS[modifier]} of recursive query '{name}' is not supported",
            hint=f"write it behind the query that reads {name}, or bound {name} by a condition",
            span=node_span(cte.args["alias"]),
        )
    whole = exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier(name)))
    cte.set("this", exp.Select(expressions=[exp.Star()], from_=exp.From(this=whole)))


def _values(node: exp.Expr, span_of: SpanOf) -> None:
    """Rows of VALUES are of one length; INSERT compares them with its columns."""
    if isinstance(node.parent, exp.Insert):
        return
    lengths = [len(row.expressions) for row in node.expressions if isinstance(row, exp.Tuple)]
    if lengths[:1] == [0]:
        raise SyntaxError("a row of VALUES has no values", span=span_of("VALUES"))
    for row, length in zip(node.expressions, lengths, strict=False):
        if length != lengths[0]:
            raise SyntaxError(
                f"a row of VALUES has {noun_count(length, 'value')} "
                f"where the first has {lengths[0]}",
                span=_span_within(row),
            )


def _exists(node: exp.Expr, span_of: SpanOf) -> None:
    if not isinstance(node.this, exp.Query | exp.Values):
        raise SyntaxError(
            "EXISTS takes a subquery", hint="EXISTS (SELECT ..)", span=span_of("EXISTS")
        )


def _distinct(node: exp.Expr, span_of: SpanOf) -> None:
    on = node.args.get("on")
    if on is not None and not on.expressions and isinstance(on, exp.Tuple):
        raise SyntaxError(
            "DISTINCT ON () has no columns", hint="SELECT DISTINCT ON (a) ..", span=span_of("ON")
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
                span=_span_within(entry),
            )


def _list(node: exp.Expr, _place: SpanOf) -> None:
    """A list comprehension is a whole list; the parser lets elements stand beside it."""
    elements = node.expressions
    if len(elements) > 1 and any(isinstance(each, exp.Comprehension) for each in elements):
        raise SyntaxError(
            "a list comprehension has no other elements beside it",
            hint="list_concat([x FOR x IN l], [1]) joins two lists",
            span=_span_within(node),
        )


def _span_within(node: exp.Expr) -> SourceSpan | None:
    """The place of the first part of an expression that has one."""
    return next(filter(None, map(node_span, all_nodes(node))), None)


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


# Check and spell, in place, the words that a node holds beside its children. Each takes the node
# and finds with `span_of` the position of a word in the statement. They raise InvalidValueError for
# a unit that there is not, ProgrammingError for a type, NotSupportedError for what is not offered.
def _table(node: exp.Expr, span_of: SpanOf) -> None:
    if isinstance(node.this, exp.Placeholder):
        raise SyntaxError(
            "a parameter cannot be a table",
            hint="write the table's name into the statement: parameters are values",
            span=span_of("?"),
        )
    assert isinstance(node, exp.Table)
    if node.args.get("catalog") is None or isinstance(node.this, exp.Func):
        return
    names = [part.name for part in node.parts]
    if all(names):  # else a function stands behind them
        check_catalog(names, node_span(node))
    node.set("catalog", None)


NORMALIZERS: Mapping[type[exp.Expr], Callable[[exp.Expr, SpanOf], None]] = {
    exp.Anonymous: _function_name,
    exp.Array: _list,
    exp.BitwiseNot: _prefix,
    exp.Bracket: _subscript,
    exp.Cast: _cast,
    exp.CastToStrType: _cast_to_text,
    exp.DataType: _type,
    exp.DateBin: _bucket_origin,
    exp.Distinct: _distinct,
    exp.Escape: _escape,
    exp.Exists: _exists,
    exp.HexString: _binary,
    exp.Kwarg: _argument_name,
    exp.Fetch: _limit,
    exp.Limit: _limit,
    exp.Offset: _offset,
    exp.National: _national,
    exp.Neg: _prefix,
    exp.Operator: _operator,
    exp.Select: _select,
    exp.Struct: _struct,
    exp.Table: _table,
    exp.ToMap: _map,
    exp.Values: _values,
    exp.With: _with,
    **dict.fromkeys(OF_UNITS, _interval_unit),
    **dict.fromkeys((exp.Extract, *OF_PARTS), _part),
}
