"""Comparisons of row values, `(a, b) < (1, 2)`, as comparisons of their columns.

The engine compares rows as structs, in which NULL is a value. The standard, SQLite and PostgreSQL
compare column by column in three-valued logic, and what is written out so here means that to every
engine and can be pushed into scans: rows are equal if all columns are, differ if one does, and the
first columns that differ decide their order. A row is written `(a, b)` or `row(a, b)`, and may hold
rows. A query is a row too, and IN, ANY and ALL compare with all rows of one.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from sqlglot import exp

from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of
from pykudu_sql.storage.errors import NotSupportedError, ProgrammingError, StatementTooComplexError

ROW_WIDTH = "pykudu_row_width"  # in the meta of a query: the number of columns it has to have
MAX_ORDERED_COLUMNS = 32
MAX_LISTED_ROWS = 1000
_ROW = "__row"
_ALL_OF = (exp.EQ, exp.NullSafeEQ)
_ANY_OF = (exp.NEQ, exp.NullSafeNEQ)
_STRICT: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.LT,
    exp.LTE: exp.LT,
    exp.GT: exp.GT,
    exp.GTE: exp.GT,
}
_MIRRORED: Mapping[type[exp.Expr], type[exp.Expr]] = {
    **{kind: kind for kind in (*_ALL_OF, *_ANY_OF)},
    **{exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE},
}
_OPERATORS = tuple(_MIRRORED)
_CONDITIONS = (exp.Where, exp.Having, exp.Qualify, exp.Join, exp.If)
_Compared = Callable[[exp.Expr, exp.Expr], exp.Expr]


def compares_rows(node: exp.Expr) -> bool:
    """Whether a node compares a row value with something."""
    if isinstance(node, _OPERATORS):
        return _is_row(node.this) or _is_row(node.expression)
    if isinstance(node, exp.In | exp.Between | exp.Is | exp.Nullif):
        return _is_row(node.this)
    return isinstance(node, exp.Case) and node.this is not None and _is_row(node.this)


def written_out(node: exp.Expr) -> exp.Expr:
    """A node that compares rows, as one that compares columns; it is used up.

    `node`: see `compares_rows`. Returns the node itself where the other side is neither a row nor a
    query. Raises ProgrammingError: rows differ in their number of columns; NotSupportedError: `row
    IS NULL`, which would have to say of which columns; StatementTooComplexError: too many columns
    or rows.
    """
    rows = _Rows()
    match node:
        case exp.Is():
            raise NotSupportedError(
                "IS NULL of a row value is not supported",
                hint="test each column: a IS NULL AND b IS NULL",
                span=node_span(_first(node)),
            )
        case exp.Between():
            return exp.paren(rows.between(node), copy=False)
        case exp.Case():
            return rows.searched(node)
        case exp.In():
            return rows.listed(node)
        case exp.Nullif():
            equal = exp.EQ(this=node.this.copy(), expression=node.expression)
            same = exp.If(this=written_out(equal), true=exp.null())
            return exp.Case(ifs=[same], default=node.this)
    left, right, kind = node.this, node.expression, type(node)
    if not _is_row(left):
        left, right, kind = right, left, _MIRRORED[kind]
    return rows.compared(kind, left, right, node)


class _Rows:
    """Writes comparisons of one statement out."""

    def compared(
        self, kind: type[exp.Expr], row: exp.Expr, other: exp.Expr, node: exp.Expr
    ) -> exp.Expr:
        """A row compared with a row, a query of one row, or ANY or ALL rows of a query."""
        if _is_row(other):
            return exp.paren(self._columns(kind, row, other), copy=False)
        query = other.this if isinstance(other, exp.Any | exp.All) else other
        if not isinstance(query, exp.Query):
            return node
        compare = self._with_query(kind, row)
        if isinstance(other, exp.Any):
            return _any_of(compare, query, row, node)
        if isinstance(other, exp.All):
            return _all_of(compare, query, row)
        value = exp.Subquery(this=_select(compare(row, _row_of(row)), query, row))
        if kind not in (exp.NullSafeEQ, exp.NullSafeNEQ):
            return value
        # A query without rows is a row of NULLs.
        empty = exp.Tuple(expressions=[exp.Null() for _ in _elements(row)])
        return exp.Coalesce(this=value, expressions=[self._columns(kind, row.copy(), empty)])

    def listed(self, node: exp.In) -> exp.Expr:
        """`row IN (row, ...)` or `row IN (query)`."""
        row, query, items = node.this, node.args.get("query"), node.expressions
        if query is not None:
            return _any_of(self._with_query(exp.EQ, row), query, row, node)
        if not items or not all(_is_row(item) or isinstance(item, exp.Query) for item in items):
            return node
        if len(items) > MAX_LISTED_ROWS:
            raise StatementTooComplexError(
                f"IN has {len(items)} rows, more than the {MAX_LISTED_ROWS} allowed",
                hint="write IN (SELECT * FROM (VALUES ...))",
            )
        equal = [self.compared(exp.EQ, row.copy(), item, node) for item in items]
        return exp.paren(_joined(exp.Or, equal), copy=False)

    def between(self, node: exp.Between) -> exp.Expr:
        """`row BETWEEN low AND high`."""
        low, high = node.args["low"], node.args["high"]
        within = self._within(node, low, high)
        if node.args.get("symmetric"):
            return _joined(exp.Or, [within, self._within(node, high.copy(), low.copy())])
        return within

    def _within(self, node: exp.Between, low: exp.Expr, high: exp.Expr) -> exp.Expr:
        lower = self.compared(
            exp.GTE, node.this.copy(), low, exp.GTE(this=node.this, expression=low)
        )
        upper = self.compared(
            exp.LTE, node.this.copy(), high, exp.LTE(this=node.this.copy(), expression=high)
        )
        return _joined(exp.And, [lower, upper])

    def searched(self, node: exp.Case) -> exp.Expr:
        """`CASE row WHEN row THEN ...` with a condition in each branch."""
        row = node.this
        node.set("this", None)
        for branch in node.args["ifs"]:
            other = branch.this
            equal = exp.EQ(this=row.copy(), expression=other.copy())
            branch.set("this", self.compared(exp.EQ, row.copy(), other, equal))
        return node

    def _columns(self, kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> exp.Expr:
        """Two rows, or two columns, compared."""
        if not (_is_row(left) and _is_row(right)):
            return exp.paren(kind(this=left.copy(), expression=right.copy()), copy=False)
        pairs = self._pairs(left, right)
        if kind in _ALL_OF or kind in _ANY_OF:
            parts = [self._columns(kind, one, other) for one, other in pairs]
            return _joined(exp.And if kind in _ALL_OF else exp.Or, parts)
        return self._ordered(kind, pairs)

    def _ordered(
        self, kind: type[exp.Expr], pairs: Sequence[tuple[exp.Expr, exp.Expr]]
    ) -> exp.Expr:
        if len(pairs) > MAX_ORDERED_COLUMNS:
            raise StatementTooComplexError(
                f"rows of {len(pairs)} columns have no order, at most {MAX_ORDERED_COLUMNS} do"
            )
        strict = _STRICT[kind]
        result = self._columns(kind, *pairs[-1])
        for one, other in reversed(pairs[:-1]):
            tied = _joined(exp.And, [self._columns(exp.EQ, one, other), result])
            result = _joined(exp.Or, [self._columns(strict, one, other), tied])
        return result

    def _pairs(self, left: exp.Expr, right: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]]:
        lefts, rights = _elements(left), _elements(right)
        if len(lefts) != len(rights):
            raise ProgrammingError(
                f"a row of {len(lefts)} columns is compared with one of {len(rights)}",
                span=node_span(_first(left)),
                sqlstate="42601",
            )
        return list(zip(lefts, rights, strict=True))

    def _with_query(self, kind: type[exp.Expr], row: exp.Expr) -> _Compared:
        # In the query they would gather its rows instead.
        for call in nodes_of(row, exp.Window, exp.AggFunc):
            if isinstance(call, exp.Window) or call.find(exp.Column) is None:
                raise NotSupportedError(
                    "a window function or count(*) in a row cannot be compared with a query",
                    hint="compute it in a subquery in FROM",
                    span=node_span(_first(call)),
                )
        return lambda left, right: self._columns(kind, left, right)


def _any_of(compare: _Compared, query: exp.Expr, row: exp.Expr, node: exp.Expr) -> exp.Expr:
    """Whether a comparison holds for a row of a query: unknown if only for NULLs none does."""
    if _counts_as_false(node):
        return exp.Exists(this=_select(exp.Literal.number(1), query, row, compare))
    return _compare_all(compare, query, row, exp.Max, {2: exp.true(), 1: exp.Null()}, exp.false())


def _all_of(compare: _Compared, query: exp.Expr, row: exp.Expr) -> exp.Expr:
    """Whether a comparison holds for all rows of a query."""
    return _compare_all(compare, query, row, exp.Min, {0: exp.false(), 1: exp.Null()}, exp.true())


def _compare_all(
    compare: _Compared,
    query: exp.Expr,
    row: exp.Expr,
    gather: type[exp.AggFunc],
    verdicts: Mapping[int, exp.Expr],
    otherwise: exp.Expr,
) -> exp.Expr:
    """What the most or the least of comparisons means: 2 is true, 1 unknown, 0 false."""
    holds = compare(row, _row_of(row))
    number = exp.Case(
        ifs=[
            exp.If(this=holds, true=exp.Literal.number(2)),
            exp.If(
                this=exp.Is(this=exp.paren(holds.copy(), copy=False), expression=exp.Null()),
                true=exp.Literal.number(1),
            ),
        ],
        default=exp.Literal.number(0),
    )
    verdict = exp.Subquery(this=_select(gather(this=number), query, row))
    ifs = [exp.If(this=exp.Literal.number(n), true=value) for n, value in verdicts.items()]
    return exp.Case(this=verdict, ifs=ifs, default=otherwise)


def _select(
    item: exp.Expr, query: exp.Expr, row: exp.Expr, condition: _Compared | None = None
) -> exp.Select:
    """An item over the rows of a query, which are called as `_row_of` calls them."""
    inner = query.this if isinstance(query, exp.Subquery) and not query.alias else query
    names = [exp.to_identifier(_name(i)) for i in range(len(_elements(row)))]
    alias = exp.TableAlias(this=exp.to_identifier(_ROW), columns=names)
    source = exp.Subquery(this=inner, alias=alias)
    source.meta[ROW_WIDTH] = len(names)
    select = exp.Select(expressions=[item], from_=exp.From(this=source))
    if condition is not None:
        select.set("where", exp.Where(this=condition(row, _row_of(row))))
    return select


def _row_of(row: exp.Expr) -> exp.Tuple:
    """The columns of a query that stands against a row."""
    width = len(_elements(row))
    return exp.Tuple(expressions=[exp.column(_name(i), table=_ROW) for i in range(width)])


def _name(index: int) -> str:
    return f"__column_{index}"


def _counts_as_false(node: exp.Expr) -> bool:
    """Whether unknown means the same as false where a node stands: in a condition, un-negated."""
    parent = node.parent
    child = node
    while isinstance(parent, exp.Paren | exp.And | exp.Or):
        child, parent = parent, parent.parent
    return isinstance(parent, _CONDITIONS) and child.arg_key in ("this", "on")


def _joined(kind: type[exp.Connector], parts: Sequence[exp.Expr]) -> exp.Expr:
    joined = reduce(lambda left, right: kind(this=left, expression=right), parts)
    return exp.paren(joined, copy=False) if len(parts) > 1 else joined


def _is_row(node: exp.Expr | None) -> bool:
    node = _bare(node)
    if isinstance(node, exp.Anonymous):
        return node.name.lower() == "row" and bool(node.expressions)
    return isinstance(node, exp.Tuple) and bool(node.expressions)


def _elements(row: exp.Expr) -> list[exp.Expr]:
    bare = _bare(row)
    return [] if bare is None else list(bare.expressions)


def _bare(node: exp.Expr | None) -> exp.Expr | None:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _first(node: exp.Expr) -> exp.Expr:
    """The first node of an expression that has a place in the statement."""
    return next((each for each in all_nodes(node) if "start" in each.meta), node)
