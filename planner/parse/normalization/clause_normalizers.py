"""Clauses of a query: what the parser lets stand in them, and the engine reads otherwise or not.

LIMIT and OFFSET, VALUES, WITH, named windows, DISTINCT ON, EXISTS and the name of a table.
"""

from sqlglot import exp

from pykudu_sql.planner.parse.normalization.normalizer import Normalizers, SpanOf
from pykudu_sql.planner.parse.source_spans import first_span, node_span
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.vocabulary.catalog_name import check_catalog
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.errors import DataError, NotSupportedError, ProgrammingError, SyntaxError

_PARTS = ("partition_by", "order", "spec")  # of a window
_MODIFIERS = {"order": "ORDER BY", "limit": "LIMIT", "offset": "OFFSET"}


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
                span=first_span(row),
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


CLAUSE_NORMALIZERS: Normalizers = {
    exp.Distinct: _distinct,
    exp.Exists: _exists,
    exp.Fetch: _limit,
    exp.Limit: _limit,
    exp.Offset: _offset,
    exp.Select: _select,
    exp.Table: _table,
    exp.Values: _values,
    exp.With: _with,
}
